"""The first step of every method: checks the question and resets the state, as a thread may hold an earlier one."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from typing_extensions import TypedDict

from langgraph_rag.arguments import expect
from langgraph_rag.characters import is_blank, is_text
from langgraph_rag.context import context
from langgraph_rag.errors import QuestionError
from langgraph_rag.nodes.node import emit
from langgraph_rag.records import no_usage
from langgraph_rag.tools.retrieve.retriever import Retriever

_EMPTY = (str, int, float, bool, list, dict)
_hints = cache(get_type_hints)


class QuestionInput(TypedDict):
    """The input of every graph: `graph.invoke({"question": "..."})`."""

    question: str


def initial_state(state: type) -> dict[str, Any]:
    """Return the initial state, which removes everything of an earlier question on the thread.

    Texts, numbers, lists and dicts are empty, a `Literal` has the last of its values, any other field is None.
    """
    return {name: _initial_value(hint) for name, hint in _hints(state).items()} | {"usage": no_usage()}


def _initial_value(hint: Any) -> Any:
    kind = get_origin(hint) or hint
    if kind is Literal:
        return get_args(hint)[-1]
    return kind() if kind in _EMPTY else None


def checked_question(question: object) -> str:
    """Return a question in one line, with one space between its words.

    Raises:
        QuestionError: when it is not text, empty, or too long for the settings.
    """
    if isinstance(question, str) and not is_text(question):
        raise QuestionError(f"expected a question as text, got half a surrogate pair in {ascii(question)[:80]}")
    if not isinstance(question, str) or is_blank(question):
        raise QuestionError(f"expected a question as a non-empty string, got {question!r:.200}")
    longest = context().max_question_chars
    if len(question) > longest:
        raise QuestionError(f"expected a question of at most {longest} characters, got {len(question)}")
    return " ".join(question.split())


@dataclass(frozen=True)
class ReceiveQuestion:
    """Check the question and reset the state."""

    kb: Retriever
    state: type

    def __post_init__(self) -> None:
        expect(Retriever, self.kb, "a knowledge base", "KnowledgeBase.open(PATH) returns one")

    async def __call__(self, state: QuestionInput) -> dict[str, Any]:
        """Return the initial state with the question in one line, also as the first query if the state has one."""
        if state.get("question") is None:
            raise QuestionError("expected a question, {'question': '...'}, got nothing by that name")
        question = checked_question(state["question"])
        await self.kb.acheck_filled()
        emit("receive_question", question=question)
        initial = initial_state(self.state)
        return {**initial, "question": question, **({"query": question} if "query" in initial else {})}
