"""Reason over facts: what to keep, what to ask next, what to answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from langgraph_rag.matching import normalise
from langgraph_rag.offline.compare import compare, judge, look_up
from langgraph_rag.offline.paths import Fact, Path, find_paths, is_date, is_name
from langgraph_rag.offline.question import Question, analyse
from langgraph_rag.offline.reading import Pages, read
from langgraph_rag.offline.words import is_relation, name_words, number_of, same_name, stems
from langgraph_rag.tools.spans import DATE, NUMBER, spot

_SAME = 0.7
_PATHS_KEPT = 3
_SURE = 0.75
_COPULA = {"is", "was", "are", "were"}
_COVERED = 0.3


@dataclass(frozen=True)
class Decision:
    """What one round of integration comes to; no question means the search ends."""

    thought: str
    facts: list[Fact]
    question: str


@dataclass(frozen=True)
class Conclusion:
    """An answer with its reason and the facts it rests on; no answer where the facts do not give one."""

    thought: str
    answer: str
    facts: tuple[Fact, ...] = ()


def integrate(text: str, candidates: Sequence[Fact], kept: Sequence[Fact], asked: Sequence[str]) -> Decision:
    """Keep the candidates on the best paths from the question's names; ask on where the best path ends.

    Args:
        text: the question.
        candidates: facts found in this step, best first.
        kept: facts kept in earlier steps.
        asked: queries so far, this step's included.
    """
    question = analyse(text)
    known = [*kept, *candidates]
    if question.compares:
        sides = [look_up(question, name, known) for name in question.pair or ()]
        useful = [fact for side in sides for fact in side.facts]
        missing = [side.missing for side in sides if side.missing]
        following = next((q for q in missing if normalise(q) not in map(normalise, asked)), "")
    else:
        question = with_mentions(question, text, known)
        paths = find_paths(question.names, question.words, known)
        if len(asked) > 1:
            paths = [path for path in paths if path.start]
        useful = [fact for path in paths[:_PATHS_KEPT] for fact in path.facts]
        useful += _identities(asked[1:], candidates)
        following = "" if _answered(question, paths, known) else _next_question(question, paths, asked)
    facts = [fact for fact in candidates if fact in useful]
    return Decision(_thought(facts, following), facts, following)


def _identities(asked: Sequence[str], candidates: Sequence[Fact]) -> list[Fact]:
    """Return a fact about the very thing the last query asked about, so that its passage counts as found."""
    names = [span.text for query in asked[-1:] for span in spot(query) if span.kind == "name"]
    return [fact for fact in candidates if any(same_name(name, fact[0]) == 1.0 for name in names)][:1]


def conclude(
    text: str, facts: Sequence[Fact], pages: Pages | None = None, *, least: float = 0.0, brief: bool = False
) -> Conclusion:
    """Answer a question from facts, or from the sentences they come from, or say that they do not answer it.

    A brief question asks for one thing: facts that answer to all its words are enough, however common these are.
    """
    conclusion = _conclude(text, facts, brief=brief)
    if pages is None:
        return conclusion
    question = analyse(text)
    if question.compares:
        answer, lines = (conclusion.answer, ()) if conclusion.answer else judge(question, pages)
    else:
        reading = read(text, pages, conclusion.answer, least=least)
        answer, lines = (reading.answer, reading.lines) if reading else ("", ())
    if not answer:
        return Conclusion("What was read does not answer the question.", "")
    if answer == conclusion.answer:
        return conclusion
    told = " ".join(line.text for line in lines)
    return Conclusion(f"{told} So the answer is {answer}.", answer)


def _conclude(text: str, facts: Sequence[Fact], *, brief: bool) -> Conclusion:
    question = analyse(text)
    if question.compares:
        sides = [look_up(question, name, facts) for name in question.pair or ()]
        if answer := compare(question, sides):
            told = "; ".join(" ".join(fact) for side in sides for fact in side.facts)
            used = tuple(fact for side in sides for fact in side.facts)
            return Conclusion(f"{told}. So the answer is {answer}.", answer, used)
        return Conclusion("These facts do not allow the comparison.", "")
    question = with_mentions(question, text, facts)
    paths = find_paths(question.names, question.words, facts)
    best = _best_answer(question, paths, facts, brief=brief)
    if best is None:
        return Conclusion("These facts do not answer the question.", "")
    answer, path = best
    told = "; ".join(" ".join(fact) for fact in path.facts)
    return Conclusion(f"{told}. So the answer is {answer}.", answer, path.facts)


def with_mentions(question: Question, text: str, facts: Sequence[Fact]) -> Question:
    """Add to the names of a question what the facts know by a name that stands in it, however it is capitalised."""
    asked = f" {normalise(text)} "
    ends = {normalise(end): end for fact in facts for end in (fact[0], fact[2])}
    found = [end for form, end in ends.items() if len(form) > 3 and f" {form} " in asked and is_name(end)]
    found = [
        name for name in found if not any(name != other and normalise(name) in normalise(other) for other in found)
    ]
    inside = name_words(" ".join(found))
    names = (*found, *(name for name in question.names if not name_words(name) <= inside))
    return question.with_names(names)


def _best_answer(
    question: Question, paths: Sequence[Path], facts: Sequence[Fact], *, brief: bool = False
) -> tuple[str, Path] | None:
    scored = [
        (path.score + _kind_bonus(question, answer, path, facts), answer, path)
        for path in paths
        if path.earned
        and (answer := _as_answer(question, _answer_end(question, path)))
        and not any(same_name(answer, name) >= _SAME for name in question.names)
    ]
    if not scored:
        return None
    score, answer, path = max(scored, key=lambda item: item[0])
    sure = score >= _SURE or (brief and path.covered.issuperset(question.words))
    return (answer, path) if sure and _covers(question, path) else None


def _covers(question: Question, path: Path) -> bool:
    """Tell whether a path answers to enough of the question: to every relation in it and to a third of all words."""
    open_words = set(question.words) - path.covered
    return not any(map(is_relation, open_words)) and len(path.covered) >= _COVERED * len(question.words)


def _answer_end(question: Question, path: Path) -> str:
    """Return where a path ends; one that ends by saying that a thing is of the kind asked for ends at the thing."""
    head, relation, tail = path.facts[-1]
    return head if relation in _COPULA and tail == path.end and question.kinds.intersection(stems(tail)) else path.end


def _answered(question: Question, paths: Sequence[Path], facts: Sequence[Fact]) -> bool:
    best = _best_answer(question, paths, facts)
    return best is not None and len(best[1].covered) >= 0.9 * len(question.words)


def _next_question(question: Question, paths: Sequence[Path], asked: Sequence[str]) -> str:
    """Ask for the words still open about the end of the best path not asked about yet, then about the names."""
    seen = name_words(" ".join(asked[1:]))
    for path in paths:
        for name, covered in _stations(path):
            if is_name(name) and not name_words(name) <= seen and not _named(question, name):
                return ask_about(question, name, covered)
    reached = name_words(" ".join(" ".join(fact) for path in paths for fact in path.facts))
    for name in question.names:
        if not name_words(name) <= seen | reached:
            return ask_about(question, name, frozenset())
    return ""


def _stations(path: Path) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield what a path comes through after its first useful fact, nearest first, with the words answered to so far."""
    covered: set[str] = set()
    near = path.start
    for fact in path.facts:
        covered |= path.covered.intersection(stems(" ".join(fact)))
        near = fact[0] if same_name(near, fact[2]) > same_name(near, fact[0]) else fact[2]
        if covered or fact is path.facts[-1]:
            yield near, frozenset(covered)


def _named(question: Question, name: str) -> bool:
    return any(same_name(name, other) >= _SAME for other in question.names)


def ask_about(question: Question, name: str, covered: frozenset[str]) -> str:
    """Ask about a name with the words of a question that are not covered yet."""
    open_words = [s for word, s in zip(question.words, question.spelled, strict=True) if word not in covered]
    return f"What about {name}: {', '.join(open_words or question.spelled)}?"


def _thought(facts: Sequence[Fact], following: str) -> str:
    told = "; ".join(" ".join(fact) for fact in facts)
    known = f"These facts help: {told}." if facts else "None of the facts helps."
    return f"{known} More is needed." if following else f"{known} Nothing more is needed or to be found."


def _as_answer(question: Question, text: str) -> str:
    """Return a text as an answer of the kind asked for, or nothing where it is of another kind."""
    if question.wants in {"date", "year"}:
        found = DATE.search(text)
        return found[0] if found else ""
    if question.wants == "number":
        number = NUMBER.search(text)
        return number[0] if number and number_of(number[0]) is not None and not is_date(text) else ""
    if question.wants in {"person", "place"}:
        return text if is_name(text) else ""
    return "" if is_date(text) else text


def _kind_bonus(question: Question, answer: str, path: Path, facts: Sequence[Fact]) -> float:
    """Weigh whether an answer is the kind of thing asked for: what is said to be one, is called one, or counts them."""
    if question.wants == "person":
        return 0.2 if len(answer.split()) > 1 else 0.0
    if not question.kinds:
        return 0.0
    if question.wants == "number":
        return 0.5 if question.kinds.intersection(stems(path.end)) else -0.2
    if any(
        same_name(answer, fact[0]) >= 0.9 and question.kinds.intersection(stems(fact[2]))
        for fact in facts
        if fact[1] in _COPULA
    ):
        return 0.6
    named = question.kinds.intersection([*stems(answer), *stems(path.facts[-1][1])])
    return 0.3 if named else 0.0 if is_name(answer) or question.wants in {"date", "year"} else -0.4
