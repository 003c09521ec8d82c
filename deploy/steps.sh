#!/bin/sh
# The steps of the container file, which also run without a container engine:
#   sh deploy/steps.sh install [TORCH_INDEX] [EXTRAS]   into the Python environment that is active
#   sh deploy/steps.sh check                            the default embedder is there, and answers without a network
#   sh deploy/steps.sh index SOURCE                     into the folder LANGGRAPH_RAG_KB
#   sh deploy/steps.sh serve                            /ask and /health on port 8090 (PORT)
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$here
[ -f "$root/pyproject.toml" ] || root=$(dirname -- "$here")
: "${LANGGRAPH_RAG_KB:=kb}"
export LANGGRAPH_RAG_KB

case "${1:-}" in
install)
    [ -z "${2:-}" ] || python -c 'import torch' 2>/dev/null || pip install --no-cache-dir torch --index-url "$2"
    pip install --no-cache-dir "$root[${3:-minilm,openai}]" 'fastapi>=0.115' 'uvicorn>=0.30'
    ;;
check)
    python - <<'PYTHON'
import socket
from tempfile import TemporaryDirectory

from langgraph_rag import KnowledgeBase


def refuse(*_: object, **__: object) -> None:
    raise OSError("the default embedder needs no network")


socket.socket.connect = refuse
with TemporaryDirectory() as folder, KnowledgeBase.open(folder) as kb:
    kb.add([{"title": "Sarl Viaduct", "text": "It was designed by Matthis Orvane."}], progress=False)
    found = kb.search("Who designed the viaduct?", 1)
assert found[0]["title"] == "Sarl Viaduct", found
print("checked: the default embedder answers")
PYTHON
    ;;
index)
    shift
    exec langgraph-rag index "$@" --kb "$LANGGRAPH_RAG_KB"
    ;;
serve)
    exec python -m uvicorn --app-dir "$here" app:app --host "${HOST:-0.0.0.0}" --port "${PORT:-8090}"
    ;;
*)
    sed -n '2,7s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
