#!/usr/bin/env bash
# bm25s 0.3.16 reads no word in a version number, and then returns passages that have nothing to do with it.
#
# Its tokenizer keeps words of two characters or more (the default `token_pattern` of `bm25s.tokenize`, r"(?u)\b\w\w+\b", as in
# scikit-learn's vectorizers). `4.5.0` is three words of one character, so neither a passage nor a query has it, and the C of
# "Vitamin C" is lost as well. `retrieve` does not tell: it always returns k passages, here with a score of 0, the last
# ones of the index first. Whoever joins its ranks with those of another search gives such passages full weight. A pattern
# such as r"(?u)\b\w[\w.]*\b" keeps versions whole; scores of 0 have to be left out by the caller.
#
# Seen on 30 November 2026, with Python 3.11 and NumPy 2.4.6:
#   words of '4.5.0': []
#   found: 'Settings lie in a file.' with 0.0
#   words of 'Vitamin C': ['vitamin']
#   with another pattern: ['4.5.0'], found: 'Release 4.5.0 fixes the parser.'
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check bm25s==0.3.16 numpy==2.4.6

"$folder/venv/bin/python" - <<'PYTHON'
import sys

import bm25s

PASSAGES = [
    "Release 4.5.0 fixes the parser.",
    "Release 5.4.0 adds colours.",
    "Vitamin C is found in oranges.",
    "Settings lie in a file.",
]


def words(text, **options):
    return bm25s.tokenize(text, return_ids=False, show_progress=False, **options)[0]


def first(query, **options):
    index = bm25s.BM25()
    index.index(bm25s.tokenize(PASSAGES, show_progress=False, **options), show_progress=False)
    places, scores = index.retrieve(
        bm25s.tokenize(query, show_progress=False, **options), k=1, show_progress=False
    )
    return PASSAGES[places[0, 0]], float(scores[0, 0])


none, (found, score) = words("4.5.0"), first("4.5.0")
print(f"words of '4.5.0': {none}")
print(f"found: {found!r} with {score}")
print(f"words of 'Vitamin C': {words('Vitamin C')}")
whole = {"token_pattern": r"(?u)\b\w[\w.]*\b"}
print(f"with another pattern: {words('4.5.0', **whole)}, found: {first('4.5.0', **whole)[0]!r}")
if none or score or found == PASSAGES[0] or words("Vitamin C") != ["vitamin"]:
    sys.exit("this has changed")
PYTHON
