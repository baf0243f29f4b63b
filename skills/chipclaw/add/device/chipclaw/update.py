"""Files that come as a set: all of them get their names, or none. It imports nothing that a set may replace."""

import os

# What is here so far, a part a line.
NOTED = "/update.noted"
# A set that is whole: it gets its names, whatever comes between.
DUE = "/update.due"
# The end of a part's name: a dot, twelve letters of the digest, and .push
ENDING = 18


def note(at, part):
    """Note the part of the file number `at`; number 0 begins a set anew. Return how many are noted."""
    if at and at != _count():
        raise ValueError("file %d of the set is missing" % _count())
    with open(NOTED, "a" if at else "w") as file:
        file.write(part + "\n")
    return at + 1


def swap(count):
    """Give a set its names."""
    if count < 1 or _count() != count:
        raise ValueError("%d of %d files of the set are here" % (_count(), count))
    os.rename(NOTED, DUE)
    finish()
    return count


def finish():
    """Go on with a set that was due when the power went. A part that is gone has its name."""
    for part in _lines(DUE):
        try:
            os.stat(part)
        except OSError:
            continue
        path = part[:-ENDING]
        try:
            os.rename(part, path)
        except OSError:  # FAT does not rename over a file that is there.
            os.remove(path)
            os.rename(part, path)
    try:
        os.remove(DUE)
    except OSError:
        pass  # There was no set.


def _count():
    return len(_lines(NOTED))


def _lines(path):
    try:
        with open(path) as file:
            return file.read().split("\n")[:-1]
    except OSError:
        return []
