"""``python -m resume_contract``."""

from resume_contract.start import main

if __name__ == "__main__":
    main()
