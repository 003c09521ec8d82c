"""Decides where progress bars are shown."""

import sys


def hidden(progress: bool = True) -> bool:
    """Return whether a progress bar is not shown: not wanted, or no standard error, as in a service on Windows."""
    return not progress or sys.stderr is None
