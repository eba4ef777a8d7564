"""Trials of the checker: behaviours of the mirror, with and without faults, rendered as traces and judged.

==============  =====================================================================================
`programs`      random small programs and bounds
`rendering`     a behaviour of the mirror as the lines that a recorder would have written
`visible`       which deviations can be read off the lines alone, without any model
`running`       many of them, and what came of it
==============  =====================================================================================
"""
