"""The lists of what is checked, read from YAML into typed records."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from resume_contract.errors import ResumeContractError

__all__ = ["read_list"]

T = TypeVar("T")


def read_list(path: Path, document: type[T], error: type[ResumeContractError], option: str) -> T:
    """The document that a YAML file holds.

    Args:
        path: the file.
        document: the type of its content.
        error: what is raised.
        option: the option that names another file.

    Raises:
        ResumeContractError: `error`: it cannot be read, or is no such document.
    """
    try:
        if path.exists() and not path.is_file():
            raise error(f"{path}: it is no file: give one with {option}")
        return msgspec.yaml.decode(path.read_bytes(), type=document)
    except OSError as reason:
        raise error(
            f"{path}: cannot be read ({reason.strerror}): run from a checkout or give {option}"
        ) from None
    except msgspec.MsgspecError as reason:
        raise error(f"{path}: {' '.join(str(reason).split())}: mend it there") from None
