"""Traces of millions of events: checked in one pass, in bounded memory."""
