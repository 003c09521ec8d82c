"""Measures how well `supported` tells right answers from wrong ones of the same kind.

python benchmarks/supported.py ROOT

The passages shown are the gold ones of each question, and three that share most words with it. Of the answers, half are
the gold ones, the others are wrong: the answer to another question of the same kind; of two things that are compared,
the other one; the opposite verdict. Apart from these, names, dates or numbers of the same kind that stand elsewhere in
what is shown, on which the rules have little hold.
"""

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from measuring import corpus, report

from langgraph_rag.evaluation.questions import Question, load_questions
from langgraph_rag.normal_forms import normalise, stands_in, words_of
from langgraph_rag.offline.question import analyse
from langgraph_rag.offline.support import support_of
from langgraph_rag.offline.words import LIKELY, name_likeness
from langgraph_rag.records import Record, Supported
from langgraph_rag.tools.ingest.spans import spot
from langgraph_rag.tools.ingest.text import RULES, text_pipeline

_VERDICTS: tuple[Supported, ...] = ("yes", "partly", "no")
_SETS = ("hotpotqa", "2wiki", "musique")
_GOALS = {"right": "yes 90 %", "wrong": "yes at most 10 %"}
_BESIDE = 3  # passages shown beside the gold ones
Case = tuple[str, str, str, list[Record]]
"""How an answer was made, the question, the answer, and what is shown."""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="folder with the folders hotpotqa, 2wiki and musique")
    parser.add_argument("--answers", type=int, default=200, help="how many answers to draw; the others are kept apart")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    cases = [case for name in _SETS for case in _cases(arguments.root / name, draw)]
    half = arguments.answers // 2
    right = [case for case in cases if case[0] == "gold"]
    wrong = [case for case in cases if case[0] in ("another answer", "the other one", "the opposite")]
    drawn = {"right": draw.sample(right, min(half, len(right))), "wrong": draw.sample(wrong, min(half, len(wrong)))}
    for kind in dict.fromkeys(case[0] for case in cases):
        drawn[f"all: {kind}"] = [case for case in cases if case[0] == kind]
    shares = {name: _shares(some) for name, some in drawn.items()}
    report(
        "supported",
        arguments.root,
        shares,
        [(name, _told(told), _GOALS.get(name, "")) for name, told in shares.items()],
    )


def _cases(folder: Path, draw: random.Random) -> Iterator[Case]:
    documents = {document["id"]: document for document in corpus(folder)}
    words = {id_: set(words_of(f"{d['title']} {d['text']}")) for id_, d in documents.items()}
    often = Counter(word for told in words.values() for word in told)
    asked = [question for question in load_questions(folder / "questions.jsonl") if question.get("answers")]
    alike = defaultdict(list)
    for question in asked:
        alike[_kind(question)].append(question)
    for question in asked:
        text, gold = question["question"], question.get("supporting_ids", [])
        said = set(words_of(text))
        near = sorted(documents, key=lambda id_: -sum(1 / often[word] for word in said & words[id_]))  # noqa: B023
        beside = [id_ for id_ in near[: _BESIDE + len(gold)] if id_ not in gold][:_BESIDE]
        shown = [_record(documents[id_]) for id_ in [*gold, *beside] if id_ in documents]
        for made, answers in _answers(question, alike[_kind(question)], shown).items():
            if answers:
                yield made, text, draw.choice(answers), shown


def _kind(question: Question) -> tuple[str, str]:
    """Return what is asked for, and what the answer looks like: a verdict, name, date, number or phrase."""
    return analyse(question["question"]).wants, _looks(question["answers"][0])


def _looks(answer: str) -> str:
    if normalise(answer) in ("yes", "no"):
        return "verdict"
    return next((span.kind for span in spot(answer) if 2 * len(span.text) >= len(answer)), "phrase")


def _answers(question: Question, alike: Sequence[Question], shown: Sequence[Record]) -> dict[str, list[str]]:
    """Return the possible answers to a question by how they are made: the gold one, and wrong ones."""
    gold, asked = question["answers"], analyse(question["question"])

    def differs(answer: str) -> bool:
        return not any(stands_in(answer, right) or stands_in(right, answer) for right in gold)

    made = {"gold": gold[:1]}
    if _looks(gold[0]) == "verdict":
        return made | {"the opposite": ["no" if normalise(gold[0]) == "yes" else "yes"]}
    if asked.wants == "which of two":
        others = [name for name in asked.pair if name_likeness(name, gold[0]) < LIKELY and differs(name)]
        return made | {"the other one": others if len(others) < len(asked.pair) else []}
    told = [span for record in shown for line in [record["title"], *record["sentences"]] for span in spot(line)]
    here = [
        span.text for span in told if span.kind == _looks(gold[0]) and not stands_in(span.text, question["question"])
    ]
    return made | {
        "another answer": [other["answers"][0] for other in alike if differs(other["answers"][0])],
        "stands elsewhere": sorted(filter(differs, here)),
    }


def _record(document: Mapping[str, str]) -> Record:
    sentences = text_pipeline(RULES).sentences(document["text"])
    return Record(
        id=document["id"], title=document["title"], text=document["text"], hash="", sentences=sentences, phrases=[]
    )


def _shares(cases: Sequence[Case]) -> dict[str, float]:
    """Return the percentage of cases that are supported, in part, and not."""
    found = Counter(support_of(question, answer, shown, 1)[0] for _, question, answer, shown in cases)
    return {"answers": len(cases), **{name: round(100 * found[name] / max(1, len(cases)), 1) for name in _VERDICTS}}


def _told(shares: Mapping[str, float]) -> str:
    return f"{shares['answers']:.0f}: " + ", ".join(f"{name} {shares[name]} %" for name in _VERDICTS)


if __name__ == "__main__":
    main()
