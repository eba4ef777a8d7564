"""The commands of ``resume-contract``, one module each."""
