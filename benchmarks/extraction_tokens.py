"""Counts the tokens that a model takes for the facts of a passage: its share of the prompt, itself, and the reply.

python benchmarks/extraction_tokens.py CORPUS.jsonl [FACTS.jsonl]

FACTS.jsonl has what a model found in the passages, as lines with `passage_id` and `triples`; without it, the replies
are scripted. Tokens are estimated at four characters each.
"""

import json
import sys
from pathlib import Path
from typing import Any

from scripted import reply

from langgraph_rag.metering import estimated_tokens, tokens_in
from langgraph_rag.nodes.extract_triples import batches
from langgraph_rag.prompts.cirag import EXTRACT_FACTS, SentencesOf
from langgraph_rag.tools.ingest.text import RULES, text_pipeline


def main(corpus: Path, facts: Path | None = None) -> None:
    """Print the tokens of a passage, on average."""
    found = {line["passage_id"]: line["triples"] for line in _lines(facts)} if facts else {}
    passages = [line for line in _lines(corpus) if not facts or line["id"] in found]
    shown = [SentencesOf(title=p["title"], sentences=text_pipeline(RULES).sentences(p["text"])) for p in passages]
    sent = written = calls = 0
    left = iter(passages)
    for batch in batches(shown):
        messages = EXTRACT_FACTS.render(passages=batch)
        ids = [next(left)["id"] for _ in batch]
        replies = [{"passage": n, "facts": _numbered(found.get(id_, []))} for n, id_ in enumerate(ids, start=1)]
        scripted = reply(EXTRACT_FACTS.name, messages[1].text)
        text = json.dumps({"passages": replies}, ensure_ascii=False) if facts else scripted
        calls, sent, written = calls + 1, sent + estimated_tokens(messages), written + tokens_in(text)
    number = len(passages)
    print(
        f"{corpus}: {number:,} passages in {calls:,} calls; a passage takes {(sent + written) / number:.0f} tokens, "
        f"{sent / number:.0f} sent and {written / number:.0f} written"
    )


def _numbered(triples: list[list[str]]) -> list[list[str]]:
    return [["1", *triple] for triple in triples]


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
