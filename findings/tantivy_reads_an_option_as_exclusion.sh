#!/usr/bin/env bash
# tantivy 0.27.0 leaves out the passages that have the option which a question names.
#
# `Index.parse_query` reads a small language (docs.rs/tantivy, `query::QueryParser`): a hyphen before a word excludes it, a
# word before a colon is a field, `^3` is a weight. In a question as people type it, "-run" therefore removes the very passages
# that tell of it, silently; `10^3` searches for 10; "settings: file" and "--dry-run" are errors. A hyphen inside a word does
# no harm. `parse_query_lenient` raises nothing and excludes all the same. For what users type, build the query from terms
# (`Query.term_query`, `Query.boolean_query`).
#
# Seen on 30 November 2026, with Python 3.11:
#   'what does -run do':     []
#   lenient:                 []
#   'what does run do':      ['The option -run starts it.']
#   'settings: file':        ValueError: Field does not exist: 'settings'
#   'how much is 10^3':      a query with '10' and boost=3
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check tantivy==0.27.0

"$folder/venv/bin/python" - <<'PYTHON'
import sys

import tantivy

builder = tantivy.SchemaBuilder()
builder.add_text_field("text", stored=True)
index = tantivy.Index(builder.build())
writer = index.writer()
writer.add_document(tantivy.Document(text=["The option -run starts it."]))
writer.add_document(tantivy.Document(text=["Settings lie in a file."]))
writer.commit()
index.reload()
searcher = index.searcher()


def found(query):
    return [searcher.doc(place)["text"][0] for _, place in searcher.search(query, 2).hits]


named = found(index.parse_query("what does -run do", ["text"]))
lenient = found(index.parse_query_lenient("what does -run do", ["text"])[0])
plain = found(index.parse_query("what does run do", ["text"]))
print(f"'what does -run do':     {named}")
print(f"lenient:                 {lenient}")
print(f"'what does run do':      {plain}")
try:
    index.parse_query("settings: file", ["text"])
    print("'settings: file':        read")
except ValueError as error:
    print(f"'settings: file':        ValueError: {error}")
power = str(index.parse_query("how much is 10^3", ["text"]))
print(f"'how much is 10^3':      a query with '10' and {'boost=3' if 'boost=3' in power else power}")
if named or lenient or plain != ["The option -run starts it."] or "boost=3" not in power:
    sys.exit("this has changed")
PYTHON
