"""Plan, act and review: split a question from the inside out, answer with citations, check the answer."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph_rag.offline.compare import questions_about
from langgraph_rag.offline.paths import Fact
from langgraph_rag.offline.question import analyse
from langgraph_rag.offline.reason import conclude, integrate
from langgraph_rag.offline.words import name_words
from langgraph_rag.tools.rule_triples import extract_triples
from langgraph_rag.tools.spans import Span, spot
from langgraph_rag.tools.text import text_pipeline

_UNKNOWN = "unknown"
_REASON = " — "  # stands between an answer and the facts it rests on
_MOST_CITED = 3
_DESCRIBES = r"(?:of|who|that|which|whose|by|where|in|on|at|from|for|with)"
_DESCRIPTION = re.compile(rf"\bthe(?: [a-z][\w-]*){{1,4}}? {_DESCRIBES}\b")
_OWNED = re.compile(r"['’]s?(?: (?!(?:on|in|was|is|did|at|to|from|by|of|and|for|with|born|died?)\b)[a-z][\w-]*){1,3}")
_GOES_ON = re.compile(r"(?:,| (?:in|of|on|at|from|for|and|by)){1,2} (?:the )?(?:[a-z]+ )?")
_RELATIVE = re.compile(r"\b(?:who|that|which|whose|where)$")
_GOVERNED = re.compile(r"\b(?:of|by|to|from|with) $")  # a relative clause after these goes on to the end
_ASKED_WHOLE = re.compile(r"^\W*(?:(?:who|what|which|where|when) (?:is|was|are|were) )?", re.IGNORECASE)
_WHO = re.compile(r"\b(?:who|\w+(?:er|or|ress|ist|ect|father|mother|wife|husband|brother|sister|son|child|spouse))\b")
Source = Mapping[str, str]


def plan(text: str) -> list[tuple[str, str]]:
    """Return the steps that a question needs: (action, question), what it names first."""
    question = analyse(text)
    if question.compares:
        asked = [step for name in question.pair or () for step in questions_about(question, name)]
        return [*(("retrieve", step) for step in asked), ("answer", text)]
    inner = [f"{'Who' if _WHO.search(phrase) else 'What'} is {phrase}?" for phrase in descriptions(text)]
    return [("retrieve", step) for step in [*inner, text]]


def descriptions(text: str) -> list[str]:
    """Return what stands for a thing without being its name ("the architect of the Tolmar Bridge"), innermost first."""
    names = [span for span in spot(text) if span.kind == "name"]
    ends: dict[int, int] = {}
    for number, name in enumerate(names):
        if owned := _OWNED.match(text, name.start + len(name.text)):
            ends[name.start] = owned.end()
        end, before = _end(text, name, names[number + 1 :]), names[number - 1].end if number else 0
        for match in reversed(list(_DESCRIPTION.finditer(text, before, name.start))):
            if _RELATIVE.search(match[0]) and _GOVERNED.search(text[: match.start()]):
                end = len(text)
            ends[match.start()] = end
    longest = len(_ASKED_WHOLE.sub("", text).strip(" ?")) - 2
    phrases = (text[start:end].strip(" ?") for start, end in sorted(ends.items(), reverse=True))
    return [phrase for phrase in phrases if len(phrase) < longest]


def _end(text: str, name: Span, following: Sequence[Span]) -> int:
    """Return where a description ends that leads to a name: after further names that only tell more of it."""
    end = name.end
    for other in following:
        if not _GOES_ON.fullmatch(text[end : other.start]):
            break
        end = other.end
    return end


def act(question: str, sources: Sequence[Source]) -> str:
    """Answer a question from sources with their numbers, or say what comes closest."""
    read = _read(sources)
    facts = [fact for fact, _ in read]
    conclusion = conclude(question, facts, brief=True)
    if conclusion.answer:
        return f"{conclusion.answer}{_REASON}{_told(conclusion.facts, read)}"
    closest = integrate(question, facts, [], [question]).facts[:_MOST_CITED]
    return f"{_UNKNOWN}; {_told(closest, read)}" if closest else _UNKNOWN


def review(question: str, answer: str, sources: Sequence[Source]) -> dict[str, Any]:
    """Let an answer pass; answer what was not answered from better sources, or ask what would lead on."""
    if not answer.startswith(_UNKNOWN):
        return {"status": "PASS", "answer": None, "question": None}
    better = act(question, sources)
    if not better.startswith(_UNKNOWN):
        return {"status": "REVISED", "answer": better, "question": None}
    following = integrate(question, [fact for fact, _ in _read(sources)], [], [question]).question
    return {"status": "UNCONFIDENT" if following else "PASS", "answer": None, "question": following or None}


def refine(question: str, found: Sequence[tuple[str, str]], following: str) -> str:
    """Put what was found in the place of the description that was asked about.

    Args:
        question: the original question.
        found: what was asked before, with its answer.
        following: the question to refine.
    """
    for asked, answer in found:
        name, phrase = short(asked, answer), _ASKED_WHOLE.sub("", asked).strip(" ?")
        if name and phrase:
            following = name.join(re.split(re.escape(phrase), following, flags=re.IGNORECASE))
    return following


def short(asked: str, answer: str) -> str:
    """Return the answer alone, without what it rests on: a name in it that was not in the question."""
    if _REASON in answer:
        return answer.split(_REASON)[0]
    known = name_words(asked)
    return next((span.text for span in spot(answer) if not name_words(span.text) <= known), "")


def finish(question: str, trajectories: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Answer a question from what the steps rest on, else with what the last step found; return the thought too."""
    sources = {(s["title"], s["text"]): s for trajectory in trajectories for s in trajectory["sources"]}
    conclusion = conclude(question, [fact for fact, _ in _read(list(sources.values()))])
    if conclusion.answer:
        return conclusion.thought, conclusion.answer
    last = next((t for t in reversed(trajectories) if not t["answer"].startswith(_UNKNOWN)), None)
    if last is None or analyse(question).compares:
        return conclusion.thought, ""
    return f"The last step found: {last['answer']}.", short(last["question"], last["answer"])


def _read(sources: Sequence[Source]) -> list[tuple[Fact, int]]:
    """Return the facts of sources, each with the number of its source."""
    sentences = text_pipeline().sentences
    return [
        (fact, number)
        for number, source in enumerate(sources, start=1)
        for fact in extract_triples(source["title"], sentences(source["text"]))
    ]


def _told(facts: Sequence[Fact], read: Sequence[tuple[Fact, int]]) -> str:
    number = {tuple(fact): number for fact, number in reversed(read)}
    return "; ".join(f"{' '.join(fact)} [{number[tuple(fact)]}]" for fact in facts)
