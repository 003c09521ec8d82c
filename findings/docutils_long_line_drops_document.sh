#!/usr/bin/env bash
# docutils 0.23: one line of more than 10,000 characters leaves nothing of a reStructuredText document.
#
# A line may be long for good reasons: an embedded picture, a certificate, a table written by a program. One would expect
# docutils to skip that line, or to raise an error. It parses nothing at all: all paragraphs before and after the line are
# gone, the document holds a single message, and publish_doctree returns as usual. Front ends that turn messages off, as
# many do (report_level=5), then write an empty page with status 0. The limit is the setting `line_length_limit`.
# Source: docs/user/config.txt, "line_length_limit" (says that longer lines are an error, not what becomes of the others);
# docutils/parsers/rst/__init__.py, Parser.parse leaves before the state machine runs.
#
# Seen on 30 November 2026:
#   limit 10000: 0 of 3 paragraphs, page with neither: True, raised nothing
#   limit 20000: 3 of 3 paragraphs
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet docutils==0.23
cat > "$folder/long_line.py" <<'PYTHON'
from docutils import nodes
from docutils.core import publish_doctree, publish_string

LONG = " ".join(["5f3c9a17"] * 1500)
TEXT = f"Certificates\n============\n\nThey are renewed in March.\n\n{LONG}\n\nAsk the second floor for a copy.\n"
QUIET = {"report_level": 5}


def paragraphs(**settings: int) -> list[str]:
    document = publish_doctree(TEXT, settings_overrides=QUIET | settings)
    return [one.astext() for one in document.findall(nodes.paragraph) if not isinstance(one.parent, nodes.system_message)]


default, wider = paragraphs(), paragraphs(line_length_limit=20_000)
page = publish_string(TEXT, writer="html5", settings_overrides=QUIET | {"embed_stylesheet": False}).decode()
empty = "March" not in page and "second floor" not in page
print(f"limit 10000: {len(default)} of 3 paragraphs, page with neither: {empty}, raised nothing")
print(f"limit 20000: {len(wider)} of 3 paragraphs")
if default or not empty or len(wider) != 3:
    raise SystemExit(f"expected that a long line drops all paragraphs, and none with a higher limit; got {default}, {wider}")
PYTHON
"$folder/venv/bin/python" "$folder/long_line.py"
