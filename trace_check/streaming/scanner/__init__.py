"""The scanner: from the bytes of lines to a path through the tree of behaviours, one node a thread.

Plain functions over numpy arrays, compiled by `compiling.py`.  A line is taken in three stages: it is cut into fields;
its names are looked up and it is folded to a *letter*; what it changes is written down.  The first two can be
repeated, so that the scanner may stop in the middle of a line to have a table enlarged.

It knows the regular form of the format only: what is irregular, and whatever looks like an error, is left to the
reader, which has the last word.  Hashes say where to look; what is found is compared in full.  The one exception errs
on the safe side: of an operation that has ended only the hash is kept, and an equal hash counts as the same name,
which the reader then judges.

Words used here:

name        what the trace calls an actor, a branch, an answer, ...; within a thread it is replaced by its number of
            first appearance (`LOCAL` and up), which is all that a verdict can depend on.
letter      a line with names replaced, as integers; each different one has a number.
node        what a thread has shown so far: the node before and a letter.

The modules, each of which imports only from those above it:

============  =========================================================================================
`layout`      numbers, and the tables that the scanner remembers
`names`       a hash table of names
`behaviours`  hash tables of letters and nodes
`cutting`     a line of JSON to fields
`tokens`      a field to a token
`inside`      the lists and objects inside a line to tokens
`heads`       what every line says: its kind and bracket, its thread, actor and branch
`contents`    what a line of each kind says besides
`operations`  operations that are open, and what their end has to agree with
`taking`      one line, checked and taken
`loop`        the lines of a block
============  =========================================================================================
"""
