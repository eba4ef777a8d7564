"""Traces of millions of events: checked in one pass, in bounded memory.

`check_any` checks a trace of any size, `check_files` several; `docs/scale.md` says how.  The modules, each with one job:

============  =========================================================================================
`many`        which way a trace is checked, and several at a time
`blocks`      a file to blocks of whole lines
`lines`       what is not in plain form, in plain form
`vocabulary`  the words of the format, numbered
`scanner`     bytes to nodes of the tree of behaviours, every rule of the format checked (a package)
`tables`      what the scanner remembers
`compiling`   the scanner, compiled
`scanning`    a whole file through the scanner, and a second time to say where something is
`forms`       a node to a trace of one thread with made-up names
`checking`    forms judged, and put together to the verdict on the file
`generate`    logs of many threads, for measurements
============  =========================================================================================
"""

from __future__ import annotations

from trace_check.streaming.many import check_any, check_files

__all__ = ["check_any", "check_files"]
