"""The methods and the knowledge base as LangChain tools, for `langchain.agents.create_agent` and other agents."""

import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Annotated, Any, Literal

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool, ToolException, create_schema_from_function
from langchain_core.tools.base import ArgsSchema
from langgraph.graph.state import CompiledStateGraph
from pydantic import BaseModel, Field

from langgraph_rag.arguments import expect
from langgraph_rag.characters import is_blank
from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.context import MAX_QUERY_CHARS, Context, as_context
from langgraph_rag.errors import EmptyKnowledgeBaseError, QuestionError
from langgraph_rag.filters import Where, read_filter
from langgraph_rag.machine import STEPS
from langgraph_rag.metering import Account, charged
from langgraph_rag.naming import expect_name
from langgraph_rag.nodes.approve_plan import REJECTED
from langgraph_rag.nodes.conclude import CAVEATS
from langgraph_rag.nodes.construct import nearest
from langgraph_rag.records import ScoredPassage, ids_of, origin_of, passage_of
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.retrieve.retriever import Retriever

_Call = Callable[..., Awaitable[tuple[str, Any]]]  # text for the model, and the same as data

_MOST = 20  # results of one call, which a model reads
_AROUND = 20  # passages whose facts are searched
_LONGEST = 4_000  # characters of a passage in a message; most have about a sixth of this
_LONGEST_SENTENCE = 1_000  # characters; code, or a table on one line, counts as a sentence
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_DESCRIPTION = (
    "Answer one question from the documents, also where the answer has to be put together from several of them. "
    "Returns the answer with the sentences it rests on."
)


# --- a method as a tool ----------------------------------------------------------------------------------------------
class Question(BaseModel):
    """The arguments of a method's tool."""

    question: str = Field(
        description="A complete question that can be understood on its own: names instead of pronouns."
    )


def as_tool(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    *,
    name: str = "answer_question",
    description: str = _DESCRIPTION,
    context: Context | dict[str, Any] | None = None,
    budget: Literal["question", "run"] = "question",
) -> BaseTool:
    """Return a method's compiled graph as a LangChain tool.

    The content of the tool, for the agent's model, is the answer with the supporting sentences; the artifact is the
    whole result. Stream the agent with `subgraphs=True` to receive the stream of the graph. The model is shown errors
    about the question (empty, too long) and an empty knowledge base; all other errors end the agent's run. If the graph
    stops for a person, an agent with a checkpointer stops as well, until it is resumed. The agent's recursion limit
    does not apply to the graph.

    Args:
        graph: a compiled graph of this package, without messages. It uses the agent's checkpointer, not its own.
        name: the name of the tool.
        description: when to use the tool, for the model; say what the documents are about.
        context: the settings of the tool's runs. If the settings of the agent's run are a `Context`, its limits apply
            as well, and without `context` all of its settings.
        budget: whether the limits of the agent's run hold for each "question", or for all questions of the "run"
            together, with all methods that run in it.

    Raises:
        TypeError: when `graph` is not a compiled graph, or `context` is neither a `Context` nor a dict.
        ValueError: when the graph takes no question or does not return a result, or a setting or the name is invalid.
        UnknownNameError: when `budget` is neither "question" nor "run".
    """
    expect_name("budget", budget, ("question", "run"))
    expect(CompiledStateGraph, graph, "a compiled graph", "create_cirag(llm, kb).compile() returns one")
    settings = as_context(context, graph.context_schema)
    taken = graph.get_input_jsonschema().get("properties", {})
    if "question" not in taken:
        raise ValueError(
            f"expected a graph that takes question, got one of {', '.join(taken)}: leave out with_messages"
        )
    returned = graph.get_output_jsonschema().get("properties", {})
    if missing := {"answer", "evidence", "usage"}.difference(returned):
        raise ValueError(f"expected a method's graph, got one that does not return {', '.join(sorted(missing))}")
    limits: RunnableConfig = {"recursion_limit": STEPS, **(graph.config or {})}  # the agent's is for its own steps
    bounded = graph.copy({"checkpointer": None}).with_config(limits)

    def paid() -> AbstractContextManager[None]:
        return charged(Account()) if budget == "question" else nullcontext()

    def answer(question: str) -> tuple[str, dict[str, Any]]:
        with _errors_shown(), paid():
            result = bounded.invoke({"question": question}, context=settings)
        return _with_sentences(result), result

    async def aanswer(question: str) -> tuple[str, dict[str, Any]]:
        with _errors_shown(), paid():
            result = await bounded.ainvoke({"question": question}, context=settings)
        return _with_sentences(result), result

    return _tool(answer, aanswer, name, Question, description)


def _tool(call: Callable[..., Any], acall: _Call, name: str, arguments: ArgsSchema, description: str) -> BaseTool:
    if not _NAME.fullmatch(name):  # servers refuse others, when the agent asks its model
        raise ValueError(f"expected a tool's name of 1 to 64 letters (a to z), digits, - and _, got {name!r}")
    return StructuredTool.from_function(
        call,
        acall,
        name=name,
        description=description,
        args_schema=arguments,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


@contextmanager
def _errors_shown() -> Iterator[None]:
    """Show the agent's model the errors that it can act on."""
    try:
        yield
    except (QuestionError, EmptyKnowledgeBaseError) as error:
        raise ToolException(str(error)) from error


def _with_sentences(result: dict[str, Any]) -> str:
    if not result or "__interrupt__" in result or not result["answer"]:  # incomplete at a breakpoint
        raise ValueError(
            "the graph stopped for a person, whom a tool that is called on its own cannot ask: call it in an agent of "
            "LangGraph's with a checkpointer, or make the graph without approve_plan and breakpoints"
        )
    if result["answer"] == REJECTED:
        return REJECTED
    limit = result["usage"]["stopped_by"]
    if is_refusal(result["answer"]):
        unread = f"No answer was found before the limit {limit} was reached: the documents may hold one."
        return unread if limit else "The documents do not answer this question."
    said = dict.fromkeys(f"{origin_of(e)}: {_beginning(e['sentence'], _LONGEST_SENTENCE)}" for e in result["evidence"])
    caveat = CAVEATS[result.get("supported", "yes")]
    unsure = [f"The limit {limit} ended the search before it was complete: the answer may be wrong."] if limit else []
    numbered = [f"[{n}] {line}" for n, line in enumerate(said, start=1)]
    others = [f"({_MOST} of {len(said)} sentences)"] if len(said) > _MOST else []
    return "\n".join([f"Answer: {result['answer']}", *filter(None, [caveat]), *unsure, *numbered[:_MOST], *others])


# --- the knowledge base as tools -------------------------------------------------------------------------------------
Query = Annotated[str, Field(description="What to look for, in words.")]
Name = Annotated[str, Field(description="The name of a person, place, work or other thing.")]
Names = Annotated[list[str], Field(min_length=1, description="Names of persons, places, works or other things.")]
Passages = Annotated[int, Field(ge=1, le=_MOST, description="How many passages at most.")]
Facts = Annotated[int, Field(ge=1, le=_MOST, description="How many facts at most.")]


def knowledge_base_tools(
    kb: Retriever, *, prefix: str = "", about: str = "", filter: Where | None = None
) -> list[BaseTool]:
    """Return the tools of a knowledge base: `search_passages`, `search_triples`, `neighbours`, `passages_near`.

    The content of each tool is text for the agent's model; the artifact is the same as plain data.

    Args:
        kb: the knowledge base to search.
        prefix: the beginning of the tools' names. If an agent has the tools of several knowledge bases, give each a
            prefix: of several tools with the same name, the agent calls the last.
        about: what the documents are about, for example "our contracts", for the descriptions.
        filter: conditions on metadata, title or source: the tools show nothing of other passages. A `filter` in the
            settings of the agent's run holds, too.

    Raises:
        FilterError: when the filter cannot be read.
        TypeError: when `kb` is not a knowledge base.
        ValueError: when a tool's name would have other characters than letters (a to z), digits, `-` and `_`.
    """
    expect(Retriever, kb, "a knowledge base", "KnowledgeBase.open(PATH) returns one")
    read_filter(filter or {})

    async def search_passages(query: Query, k: Passages = 5) -> tuple[str, list[Any]]:
        return await _shown(kb, await kb.arank(query, k, filter=filter), filter)

    async def search_triples(query: Query, k: Facts = 10) -> tuple[str, list[Any]]:
        found = await kb.arank(query, _AROUND, filter=filter)
        triples = await kb.atriples(ids_of(found))
        best = await nearest(kb, query, triples, k) if triples else []
        return _lines([entry["triple"] for entry in best]), best

    async def neighbours(entity: Name, k: Facts = 10) -> tuple[str, list[Any]]:
        facts = [fact["triple"] for fact in await kb.afacts_about(entity, filter=filter)]
        if not facts:
            await kb.acheck_filled()
        others = f"\n({k} of {len(facts)} facts)" if len(facts) > k else ""
        return _lines(facts[:k]) + others, facts[:k]

    async def passages_near(entities: Names, k: Passages = 5) -> tuple[str, list[Any]]:
        return await _shown(kb, await kb.anear_entities(entities, k, filter=filter), filter)

    documents = f" The documents are about {about}." if about else ""
    tools: list[tuple[_Call, str]] = [
        (search_passages, "Find the passages of the documents that fit a query best."),
        (search_triples, "Find single facts (head | relation | tail) that fit a query best."),
        (neighbours, "List the facts that name an entity."),
        (passages_near, "Find the passages most closely linked, by facts, to some entities together."),
    ]
    return [_search(call, prefix + call.__name__, text + documents) for call, text in tools]


def _search(call: _Call, name: str, description: str) -> BaseTool:
    async def awaited(**values: Any) -> tuple[str, list[Any]]:
        for argument, value in values.items():
            for text in _texts_in(value):
                if is_blank(text) or len(text) > MAX_QUERY_CHARS:
                    got = f"{text!r:.80} ({len(text):,} characters)"
                    raise ToolException(
                        f"{argument}: expected words, at most {MAX_QUERY_CHARS:,} characters, got {got}"
                    )
        with _errors_shown():
            return await call(**values)

    def at_once(**values: Any) -> tuple[str, list[Any]]:
        return run_in_background(awaited(**values))

    arguments = create_schema_from_function(call.__name__, call)
    return _tool(at_once, awaited, name, arguments, description)


def _texts_in(value: object) -> list[str]:
    return [value] if isinstance(value, str) else value if isinstance(value, list) else []


async def _shown(kb: Retriever, found: list[ScoredPassage], filter: Where | None) -> tuple[str, list[Any]]:
    records = await kb.apassages(ids_of(found), filter=filter)
    text = "\n\n".join(f"{record['title']} ({record['id']})\n{_beginning(record['text'])}" for record in records)
    return text or "Nothing was found.", [passage_of(record) for record in records]


def _beginning(text: str, longest: int = _LONGEST) -> str:
    """Return the beginning of a text; documents with ids of their own may be whole books."""
    more = len(text) - longest
    return text if more <= 0 else f"{text[:longest]} ... ({more:,} more characters)"


def _lines(facts: list[list[str]]) -> str:
    return "\n".join(" | ".join(fact) for fact in facts) or "Nothing was found."
