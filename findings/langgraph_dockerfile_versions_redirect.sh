#!/usr/bin/env bash
# langgraph-cli 0.4.40 writes the versions of dependencies where a shell reads them as redirections.
#
# Entries of "dependencies" in langgraph.json that are no local folders go unquoted into the line `RUN ... uv pip install ...`
# of the Dockerfile that `langgraph dockerfile` writes (and `langgraph build` uses; langgraph_cli/config.py,
# `python_config_to_docker`: " ".join(pypi_deps)). Docker gives such a line to `sh -c`. So "demo>=1.0", as requirements are
# usually written, installs any version of demo, and the output goes into a file "=1.0"; "demo>=1.0,<2" fails, as there is no
# file "2" to read. "demo~=1.0" and "demo==1.0" have no such signs.
#
# Seen on 1 December 2026, with Python 3.11:
#   RUN PYTHONDONTWRITEBYTECODE=1 uv pip install --system --no-cache-dir -c /api/constraints.txt demo>=1.0,<2
#   what a shell makes of it: sh: 1: cannot open 2: No such file
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check langgraph-cli==0.4.40
cd "$folder"
echo '{"dependencies": ["demo>=1.0,<2"], "graphs": {"demo": "demo.graph:graph"}}' >langgraph.json
LANGGRAPH_CLI_NO_ANALYTICS=1 venv/bin/langgraph dockerfile Dockerfile -c langgraph.json >/dev/null

line=$(grep 'demo' Dockerfile | grep '^RUN' | head -n 1)
echo "$line"
mkdir shell && cd shell
if told=$(sh -c "echo ${line##*install }" 2>&1); then
    echo "this has changed: a shell reads '$told'"
    exit 1
fi
echo "what a shell makes of it: $told"
case "$line" in *"demo>=1.0,<2"*) ;; *) echo "this has changed"; exit 1 ;; esac
