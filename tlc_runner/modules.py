"""Modules inside further jars, such as CommunityModules.jar."""

from __future__ import annotations

import zipfile
from pathlib import Path

from .errors import SpecError

__all__ = ["unpack_modules"]


def unpack_modules(jar: Path, folder: Path) -> Path:
    """Copies the modules at the top of a jar into a new ``folder``: older TLCs look only in folders.

    Raises
    ------
    SpecError
        If the jar cannot be read.
    """
    folder.mkdir(exist_ok=True)
    try:
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith(".tla") and "/" not in name:
                    (folder / name).write_bytes(archive.read(name))
    except (zipfile.BadZipFile, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SpecError(f"{jar}: not a jar that can be read ({reason}): give another in extra_jars") from None
    return folder
