#!/bin/sh
# Builds the image, and in it, as its user, indexes the sample corpus, serves it, and asks a question over HTTP:
#   sh deploy/try_image.sh ENGINE [OPTIONS]     ENGINE is docker, podman or buildah, OPTIONS are those of its build
# Nothing is left but the image, langgraph-rag.
set -eu
[ $# -gt 0 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 2; }
cd -- "$(dirname -- "$0")/.."
engine=$1
shift
folder=$(mktemp -d)
mkdir -m 777 "$folder/kb"
port=${PORT:-8091}
container=
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; [ -z "$container" ] || buildah rm "$container" >/dev/null
    rm -rf "$folder"' EXIT

# `inside COMMAND` runs it in a container; what it needs of this machine is the port, the sample and a folder
places="-v $PWD/langgraph_rag/sample:/documents:ro -v $folder/kb:/data"
names="-e LANGGRAPH_RAG_KB=/data/kb -e LANGGRAPH_RAG_MODEL=offline -e PORT=$port"
if [ "$engine" = buildah ]; then
    buildah build --format docker -f deploy/Dockerfile -t langgraph-rag "$@" .
    container=$(buildah from --pull-never localhost/langgraph-rag)
    # shellcheck disable=SC2086
    inside() { buildah run --user rag $places $names "$container" -- "$@"; }
else
    "$engine" build -f deploy/Dockerfile -t langgraph-rag "$@" .
    # shellcheck disable=SC2086
    inside() { "$engine" run --rm --init --network host $places $names langgraph-rag "$@"; }
fi

inside sh /app/steps.sh index /documents/corpus.jsonl
inside sh /app/steps.sh serve &
server=$!
for _ in $(seq 60); do
    ! curl -fs "http://127.0.0.1:$port/health" >/dev/null || break
    sleep 2
done
asked='{"question": "In which town was the engineer who designed the Sarl Viaduct born?"}'
answer=$(curl -fs -H 'Content-Type: application/json' -d "$asked" "http://127.0.0.1:$port/ask")
case "$answer" in
*'"answer":"Anstrey"'*) echo "tried: the image indexes and answers" ;;
*) echo "expected the answer Anstrey, got: $answer" >&2; exit 1 ;;
esac
