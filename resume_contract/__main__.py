"""``python -m resume_contract``."""

from resume_contract.cli import main

if __name__ == "__main__":
    main()
