"""Take a question in: check that it can be asked and start afresh, also on a thread that has answered one before."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from typing_extensions import TypedDict

from langgraph_rag.arguments import expect
from langgraph_rag.characters import is_text
from langgraph_rag.context import context
from langgraph_rag.errors import QuestionError
from langgraph_rag.nodes.node import emit
from langgraph_rag.records import no_usage
from langgraph_rag.tools.knowledge_base import KnowledgeBase

_EMPTY = (str, int, float, bool, list, dict)
_hints = cache(get_type_hints)


class QuestionInput(TypedDict):
    """The input of every graph: `graph.invoke({"question": "..."})`."""

    question: str


def beginnings(state: type) -> dict[str, Any]:
    """Return a state that knows nothing yet, so that nothing of an earlier question is left on a thread.

    Texts, numbers, lists and dicts begin empty, a `Literal` as the last of its values, anything else as None.
    """
    return {name: _beginning(hint) for name, hint in _hints(state).items()} | {"usage": no_usage()}


def _beginning(hint: Any) -> Any:
    kind = get_origin(hint) or hint
    if kind is Literal:
        return get_args(hint)[-1]
    return kind() if kind in _EMPTY else None


def checked_question(question: object) -> str:
    """Return a question in one line, with one space between its words.

    Raises:
        QuestionError: when it is no text, empty, or longer than the context allows.
    """
    if not isinstance(question, str) or not question.strip():
        raise QuestionError(f"expected a question as a non-empty string, got {question!r:.200}")
    if not is_text(question):
        raise QuestionError(f"expected a question as text, got half a surrogate pair in {ascii(question)[:80]}")
    longest = context().max_question_chars
    if len(question) > longest:
        raise QuestionError(f"expected a question of at most {longest} characters, got {len(question)}")
    return " ".join(question.split())


@dataclass(frozen=True)
class ReceiveQuestion:
    """Check the question and have the state begin anew.

    Raises:
        TypeError: when what it has for a knowledge base is not one.
    """

    kb: KnowledgeBase
    state: type

    def __post_init__(self) -> None:
        expect(KnowledgeBase, self.kb, "a knowledge base", "KnowledgeBase.open(PATH) returns one")

    async def __call__(self, state: QuestionInput) -> dict[str, Any]:
        """Return the beginnings with the question in one line, as the first query, too, if the state has one.

        Raises:
            QuestionError: when the question is missing or cannot be asked.
            EmptyKnowledgeBaseError: when the knowledge base holds nothing: before a model is asked in vain.
        """
        if state.get("question") is None:
            raise QuestionError("expected a question, {'question': '...'}, got nothing by that name")
        question = checked_question(state["question"])
        await self.kb.acheck_filled()
        emit("receive_question", question=question)
        begun = beginnings(self.state)
        return {**begun, "question": question, **({"query": question} if "query" in begun else {})}
