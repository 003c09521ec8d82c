"""Reason over an outline of what was found: what is missing, what to search for, what to write down, what to answer."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from langgraph_rag.offline.chain import CONCLUSION, next_sentence
from langgraph_rag.offline.compare import look_up
from langgraph_rag.offline.evidence import Sentence, read_sentences
from langgraph_rag.offline.paths import Fact, find_paths
from langgraph_rag.offline.question import analyse
from langgraph_rag.offline.reason import Conclusion, conclude, integrate, with_mentions
from langgraph_rag.offline.words import same_name
from langgraph_rag.tools.spans import spot
from langgraph_rag.tools.text import text_pipeline

_MISSING = " To be found out: "
_SEVERAL = " | "
_BREADTH = 3  # things looked up side by side
_PATHS_KEPT = 3
_LONGEST_TITLE = 100

Values = Mapping[str, Any]


def reason(values: Values) -> tuple[str, bool]:
    """Return the next thought, and whether something is still to be found out."""
    question, facts = values["question"], _read(values["outline"])
    asked = [question, *(one for thought in values["thoughts"] for one in _missing(thought))]
    missing: list[str] = []
    while len(missing) < _BREADTH:
        following = integrate(question, facts, [], [*asked, *missing]).question
        if not following:
            break
        missing.append(following)
    if not missing and not values["thoughts"]:
        missing = [question]
    if missing:
        return f"Something is missing.{_MISSING}{_SEVERAL.join(missing)}", True
    return conclude(question, facts).thought, False


def think_on(values: Values) -> tuple[str, bool]:
    """Return the next fact towards the answer, and whether the reasoning goes on; nobody looks for what is missing."""
    question, thoughts = values["question"], values["thoughts"]
    thought = next_sentence(question, thoughts, _read(values["outline"]))
    if not thought.startswith(CONCLUSION):
        return thought, True
    return (thought, False) if thoughts else (question, True)


def identify(values: Values) -> list[dict[str, Any]]:
    """Return the things the last thought asks about, each with what to search for."""
    entities: dict[str, list[str]] = {}
    for wanted in _missing(values["thoughts"][-1]):
        names = [span.text for span in spot(wanted) if span.kind == "name"]
        if names:
            name = next((known for known in values["names"] if same_name(known, names[0]) == 1.0), names[0])
            entities.setdefault(name, [] if values["outline"] else [values["question"]]).extend([wanted, name])
    return [{"entity": name, "queries": list(dict.fromkeys(queries))} for name, queries in entities.items()]


def summarise(values: Values) -> str:
    """Return the sentences of documents that state what lies on the paths from the entity and the question's names."""
    read = [
        sentence for document in values["documents"] for sentence in _sentences(document["title"], document["text"])
    ]
    useful = _useful(values["question"], values["entity"], [fact for sentence in read for fact in sentence.facts])
    told: dict[str, list[str]] = {}
    for sentence in read:
        if any(fact in useful for fact in sentence.facts):
            told.setdefault(sentence.title, []).append(sentence.text)
    return "\n".join(f"{title}: {' '.join(texts)}" for title, texts in told.items())


def answer(values: Values) -> Conclusion:
    """Answer a question from an outline."""
    return conclude(values["question"], _read(values["outline"]))


def _useful(text: str, entity: str, facts: Sequence[Fact]) -> list[Fact]:
    question = analyse(text)
    itself = [fact for fact in facts if same_name(entity, fact[0]) == 1.0][:1]
    if question.compares:
        names = dict.fromkeys([*(question.pair or ()), entity])
        return itself + [fact for name in names for fact in look_up(question, name, facts).facts]
    question = with_mentions(question, text, facts)
    paths = find_paths((entity, *question.names), question.words, facts)
    return itself + [fact for path in [path for path in paths if path.start][:_PATHS_KEPT] for fact in path.facts]


def _read(outline: Sequence[Mapping[str, Any]]) -> list[Fact]:
    """Read the facts off an outline whose lines are "Title: sentences"."""
    facts: dict[tuple[str, ...], Fact] = {}
    for entry in outline:
        for line in (line for fragment in entry["fragments"] for line in fragment.splitlines()):
            title, colon, text = line.partition(": ")
            if not colon or len(title) > _LONGEST_TITLE:
                title, text = entry["entity"], line
            found = [fact for sentence in _sentences(title, text) for fact in sentence.facts]
            facts |= {tuple(fact): fact for fact in found}
    return list(facts.values())


@lru_cache(maxsize=4_096)  # the same documents come up for several entities and steps
def _sentences(title: str, text: str) -> list[Sentence]:
    return read_sentences(title, text_pipeline().sentences(text))


def _missing(thought: str) -> list[str]:
    """Return what a thought of this model asks for; all of it where the thought is somebody else's."""
    _, marker, asked = thought.partition(_MISSING)
    return asked.split(_SEVERAL) if marker else [thought]
