"""Draws facts for judges, reads their judgements back, and counts the facts a passage and the gold facts that are held.

python benchmarks/facts.py sample PATH... --out FACTS.jsonl [--extractor NAME] [--pipeline NAME] [--seed N] [--each N]
python benchmarks/facts.py judged JUDGED.jsonl...
python benchmarks/facts.py count DATA... [--extractor NAME] [--pipeline NAME]

PATH is a folder with a knowledge base, a folder with corpus.jsonl, or such a file; DATA is one of the latter two. An
extractor is `rules`, or `MODULE:CLASS`. A judge adds to each line of FACTS.jsonl a field `judgement`: `wrong` (the
passage does not state it), `cut off`, `without content`, or `fine`.
"""

import argparse
import asyncio
import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from langgraph_rag.normal_forms import normalise, stands_in
from langgraph_rag.records import Fact, Record
from langgraph_rag.tools.facts.extraction import RuleExtractor, TripleExtractor, valid_readings
from langgraph_rag.tools.facts.names import topic_of, with_whole_names
from langgraph_rag.tools.facts.stated import stated
from langgraph_rag.tools.ingest.text import RULES, text_pipeline
from langgraph_rag.tools.knowledge_base import KnowledgeBase

_JUDGEMENTS = ("wrong", "cut off", "without content", "fine")
_MANY = 1.96  # standard deviations on each side of a 95 % interval


def main() -> None:
    """Draw, read back, or count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    sample, judged, count = (commands.add_parser(name) for name in ("sample", "judged", "count"))
    for command in (sample, count):
        command.add_argument("paths", type=Path, nargs="+", metavar="PATH")
        command.add_argument("--extractor", default=RULES, help="rules, or MODULE:CLASS")
        command.add_argument("--pipeline", default=RULES, help="spaCy pipeline that finds the sentences")
    sample.add_argument("--out", type=Path, required=True)
    sample.add_argument("--seed", type=int, default=1)
    sample.add_argument("--each", type=int, default=100, help="facts of each path")
    judged.add_argument("files", type=Path, nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    if arguments.command == "sample":
        chance = random.Random(arguments.seed)
        rows = [row for path in arguments.paths for row in _drawn(path, arguments, chance)]
        arguments.out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    elif arguments.command == "judged":
        for file in arguments.files:
            print("\n".join(judgements(_lines(file))))
    else:
        for path in arguments.paths:
            print("\n".join(_counted(path, arguments)))


def _drawn(path: Path, arguments: argparse.Namespace, chance: random.Random) -> list[dict[str, Any]]:
    """Draw facts of one path, each fact of each passage with the same chance."""
    facts = [(record, fact) for record, found in _read(path, arguments) for fact in found]
    drawn = chance.sample(facts, min(arguments.each, len(facts)))
    return [
        {
            "set": path.parent.name if path.is_file() else path.name,
            "fact": fact["triple"],
            "title": record["title"],
            "sentence": " ".join(record["sentences"][place] for place in fact["sentences"]),
            "passage": record["text"],
        }
        for record, fact in drawn
    ]


def judgements(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield, for each set and for all, the share of each judgement with its 95 % interval.

    Raises:
        SystemExit: when a line has no judgement, or an unknown one.
    """
    sets: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if (given := row.get("judgement")) not in _JUDGEMENTS:
            raise SystemExit(f"expected a judgement, one of {', '.join(_JUDGEMENTS)}; got {given!r} for {row['fact']}")
        for name in (row["set"], "all"):
            sets[name][given] += 1
    for name, counts in sets.items():
        total = counts.total()
        shares = (f"{kind} {100 * counts[kind] / total:.1f} {_interval(counts[kind], total)}" for kind in _JUDGEMENTS)
        yield f"{name} ({total} facts), % [95 %]: {'; '.join(shares)}"


def _interval(found: int, total: int) -> str:
    """Return Wilson's interval of a share, in percent."""
    share, spread = found / total, _MANY**2 / total
    middle = share + spread / 2
    half = _MANY * math.sqrt(share * (1 - share) / total + spread / (4 * total))
    low, high = ((middle - half) / (1 + spread), (middle + half) / (1 + spread))
    return f"[{100 * max(low, 0):.1f}, {100 * high:.1f}]"


def _counted(path: Path, arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the number of facts a passage, and which gold facts the passages that state them hold."""
    read = {record["id"]: (record, facts) for record, facts in _read(path, arguments)}
    total = sum(len(facts) for _, facts in read.values())
    empty = sum(not facts for _, facts in read.values())
    yield f"{path}: {total / len(read):.1f} facts a passage, {100 * empty / len(read):.1f} % of passages without"
    held: defaultdict[str, Counter[str]] = defaultdict(Counter)
    questions = path / "questions.jsonl"
    for question in _lines(questions) if path.is_dir() and questions.exists() else ():
        for gold in question.get("gold_triples", ()):
            stating = [read[id_] for id_ in question["supporting_ids"] if id_ in read and _states(read[id_][0], gold)]
            if stating:
                found = holds(gold, [fact["triple"] for _, facts in stating for fact in facts])
                for name in (gold[1], "all"):
                    held[name].update([found, "stated"])
    for name, counts in sorted(held.items(), key=lambda row: -row[1]["stated"]):
        number, exact, within = counts["stated"], counts["exact"], counts["within"]
        yield (
            f"  {name}: {number} stated, {100 * exact / number:.1f} % held with both ends exact, "
            f"{100 * (exact + within) / number:.1f} % with ends that contain them"
        )


def _states(record: Record, gold: Sequence[str]) -> bool:
    """Return whether a passage is about the head of a gold fact and names its tail."""
    return normalise(topic_of(record["title"])) == normalise(topic_of(gold[0])) and stands_in(gold[2], record["text"])


def holds(gold: Sequence[str], triples: Sequence[Sequence[str]]) -> str:
    """Return how facts hold a gold fact: "exact" with both ends, "within" with ends that contain them, or "".

    The ends may be in either order, as in `X, directed, Y`; a head may have the qualifier of a title.
    """
    best = ""
    for head, _, tail in triples:
        for one, other in ((head, tail), (tail, head)):
            if {normalise(gold[0]), normalise(topic_of(gold[0]))} & {normalise(one), normalise(topic_of(one))}:
                if normalise(gold[2]) == normalise(other):
                    return "exact"
                best = "within" if stands_in(gold[2], other) else best
    return best


def _read(path: Path, arguments: argparse.Namespace) -> Iterator[tuple[Record, list[Fact]]]:
    """Yield each passage with the facts that would be stored now: those that an extractor reads and it states."""
    records = list(_records(path, arguments.pipeline))
    extractor, found = _extractor(arguments.extractor), dict[str, list[Fact]]()

    async def extract() -> None:
        async for readings in extractor.extract(records):
            found.update(valid_readings(extractor.version, readings, [record["id"] for record in records]))

    asyncio.run(extract())
    facts = ((record, stated(found.get(record["id"], []), record)) for record in records)
    return ((record, with_whole_names(stating, record)) for record, stating in facts)


def _extractor(name: str) -> TripleExtractor:
    if name == RULES:
        return RuleExtractor()
    module, _, kind = name.partition(":")
    extractor: TripleExtractor = getattr(import_module(module), kind)()
    return extractor


def _records(path: Path, pipeline: str) -> Iterator[Record]:
    """Yield the passages of a knowledge base or a corpus, with the sentences that a pipeline finds now."""
    corpus = path / "corpus.jsonl" if path.is_dir() else path
    if corpus.exists():
        passages = _lines(corpus)
    else:
        with KnowledgeBase.open(path) as kb:
            passages = [{**record} for record in kb.passages(kb.ids())]
    analyses = text_pipeline(pipeline).analyse([passage["text"] for passage in passages])
    for passage, analysis in zip(passages, analyses, strict=True):
        yield Record(
            id=passage["id"],
            title=passage["title"],
            text=passage["text"],
            hash="",
            sentences=analysis["sentences"],
            phrases=analysis["phrases"],
        )


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


if __name__ == "__main__":
    main()
