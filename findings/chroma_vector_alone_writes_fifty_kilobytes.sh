#!/usr/bin/env bash
# chromadb 1.5.9 writes some 50 kilobytes for one vector of 1.5 kilobytes that is upserted alone, fifteen times as much as for
# one in a batch of 64.
#
# An upsert goes into a queue in SQLite and from there into the tables of records and of full text, in transactions of their
# own, and SQLite writes whole pages of each table and index that a transaction touches, to its journal and to the file. What
# is written for a call is therefore nearly the same for one vector as for several. The documentation of `Collection.upsert`
# (https://docs.trychroma.com/docs/collections/update-data) has lists as arguments and does not say that calls with one
# id cost so much; an agent that stores each note as it comes pays the whole price. Collect what is to be added.
#
# Seen on 1 December 2026, with Python 3.11 on Linux, whose /proc/self/io counts the bytes that a process hands over:
#   a vector has 1,536 bytes
#   upserted alone:      52,593 bytes written, in 66 writes
#   in a batch of 64:     3,416 bytes written for each, in 3 writes
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check chromadb==1.5.9

cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import random
import sys

import chromadb

DIMENSIONS = 384
TIMES = 8


def written():
    """Return bytes and calls that this process handed over for writing."""
    with open("/proc/self/io") as counts:
        told = dict(line.split(": ") for line in counts.read().splitlines())
    return int(told["wchar"]), int(told["syscw"])


def upserted(notes, name, many):
    """Return what is written for each vector, when so many are upserted at once."""
    before = written()
    for time in range(TIMES):
        vectors = [[random.random() for _ in range(DIMENSIONS)] for _ in range(many)]
        notes.upsert(ids=[f"{name}-{time}-{place}" for place in range(many)], embeddings=vectors)
    return [(after - earlier) / TIMES / many for earlier, after in zip(before, written())]


random.seed(1)
notes = chromadb.PersistentClient("notes").create_collection("notes", embedding_function=None)
upserted(notes, "first", 1)
alone, batch = upserted(notes, "alone", 1), upserted(notes, "batch", 64)
print(f"a vector has {DIMENSIONS * 4:,} bytes")
print(f"upserted alone:   {alone[0]:9,.0f} bytes written, in {alone[1]:.0f} writes")
print(f"in a batch of 64: {batch[0]:9,.0f} bytes written for each, in {batch[1]:.0f} writes")
if alone[0] < 5 * batch[0]:
    sys.exit("this has changed")
PYTHON
