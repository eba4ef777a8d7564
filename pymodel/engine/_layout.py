"""How the ids of a state's components are packed into 64-bit words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymodel.engine._kernels import Layout
from pymodel.errors import LimitError

__all__ = ["pack_fields"]

WORD = 64
MOST = 32


def pack_fields(needed: Sequence[int], growing: Sequence[bool]) -> tuple[Layout, int]:
    """Place a field of at least `needed[p]` bits for every component p in as few words as first-fit finds.

    No field straddles two words. The bits left over go to the fields, those that are `growing` first,
    so that the next repacking is far.

    Returns:
        The layout and the number of words.

    Raises:
        LimitError: a component has more than 2**32 contents.
    """
    if max(needed) > MOST:
        raise LimitError(
            f"a component has more than 2**{MOST} different contents: split it into smaller components"
        )
    words: list[list[int]] = []
    for p in sorted(range(len(needed)), key=lambda p: (-needed[p], p)):
        for members in words:
            if sum(needed[m] for m in members) + needed[p] <= WORD:
                members.append(p)
                break
        else:
            words.append([p])
    bits = list(needed)
    for members in words:
        spare = WORD - sum(bits[m] for m in members)
        while spare > 0:
            candidates = [m for m in members if bits[m] < MOST]
            if not candidates:
                break
            wants = [m for m in candidates if growing[m] and bits[m] < needed[m] + 3] or candidates
            poorest = min(wants, key=lambda m: (bits[m] - needed[m], m))
            bits[poorest] += 1
            spare -= 1
    word = np.zeros(len(needed), np.int64)
    shift = np.zeros(len(needed), np.uint64)
    for w, members in enumerate(words):
        at = 0
        for m in sorted(members):
            word[m] = w
            shift[m] = at
            at += bits[m]
    mask = np.array([(1 << b) - 1 for b in bits], np.uint64)
    return Layout(word, shift, mask), len(words)
