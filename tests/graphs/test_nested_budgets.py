"""One budget for a question: however the docs nest a method, its calls never exceed what the outermost run may make."""

import asyncio
from collections.abc import Callable
from operator import add
from typing import Annotated, Any, cast

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from typing_extensions import TypedDict

from langgraph_rag import Context, as_tool, create_par_rag, with_messages
from langgraph_rag.errors import BudgetReachedError, UnknownNameError
from langgraph_rag.metering import Account, Meter, charged, running
from langgraph_rag.methods import METHODS, create
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.records import no_usage
from langgraph_rag.tools.knowledge_base import KnowledgeBase

QUESTION = "Who died later, Ilse Tarrant or Tobin Grell?"
ASKED = {"question": QUESTION}
MOST = 4
BUDGET = Context(max_model_calls=MOST)


class CountingModel(OfflineModel):
    """Counts the calls that really are made."""

    made: list[int] = []

    def _generate(self, messages: list[BaseMessage], *rest: Any, **options: Any) -> ChatResult:
        self.made.append(1)
        return super()._generate(messages, *rest, **options)


class Asked(TypedDict):
    question: str


class State(Asked):
    answers: Annotated[list[str], add]


class Shared(Asked):
    answer: str


class Agent(FakeMessagesListChatModel):
    """Sends its messages, whatever it is asked."""

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self


def agent(*tools: Any, turns: list[list[str]]) -> Any:
    """Return an agent that calls the named tools, turn by turn."""
    calls = [
        [{"name": name, "args": ASKED, "id": f"{turn}.{n}"} for n, name in enumerate(names)]
        for turn, names in enumerate(turns)
    ]
    replies: list[BaseMessage] = [*(AIMessage("", tool_calls=each) for each in calls), AIMessage("Done.")]
    return create_agent(Agent(responses=replies), list(tools), context_schema=Context)


def around(*nodes: Any, parallel: bool = False, state: Any = State) -> Any:
    """Return somebody's graph with nodes one after the other, or side by side."""
    graph = StateGraph(state, context_schema=Context)
    names = [f"node{number}" for number in range(len(nodes))]
    for name, node in zip(names, nodes, strict=True):
        graph.add_node(name, node)
    for before, after in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(START if parallel and after != END else before, after)
    return graph.compile()


def asks(graph: Any, times: int = 1, **options: Any) -> Callable[..., Any]:
    """Return a node that asks one question after the other, as in the README."""

    def look_up(state: State) -> dict[str, Any]:
        return {"answers": [graph.invoke(ASKED, **options)["answer"] for _ in range(times)]}

    return look_up


def asks_at_once(graph: Any, times: int = 1, **options: Any) -> Callable[..., Any]:
    async def look_up(state: State) -> dict[str, Any]:
        found = await asyncio.gather(*(graph.ainvoke(ASKED, **options) for _ in range(times)))
        return {"answers": [each["answer"] for each in found]}

    return look_up


# --- all nestings ----------------------------------------------------------------------------------------------------
async def alone(builder: Any) -> None:
    await builder.compile().ainvoke(ASKED, context=BUDGET)


async def on_a_thread(builder: Any) -> None:
    graph, thread = builder.compile(checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
    await graph.ainvoke(ASKED, thread, context=BUDGET, interrupt_before=["conclude"])
    await graph.ainvoke(None, thread, context=BUDGET)


async def in_messages(builder: Any) -> None:
    graph = with_messages(builder, OfflineModel()).compile()
    await graph.ainvoke({"messages": [HumanMessage(QUESTION)]}, context=BUDGET)


async def as_a_subgraph(builder: Any) -> None:
    await around(builder.compile(), state=Shared).ainvoke(ASKED, context=BUDGET)


async def as_two_subgraphs(builder: Any) -> None:
    await around(builder.compile(), builder.compile(), state=Shared).ainvoke(ASKED, context={"max_model_calls": MOST})


async def in_a_node(builder: Any) -> None:
    await around(asks(builder.compile(), 3)).ainvoke(ASKED, context=BUDGET)


async def in_a_synchronous_run(builder: Any) -> None:
    graph = around(asks(builder.compile(), 2))
    await asyncio.to_thread(graph.invoke, ASKED, context=BUDGET)


async def in_a_node_with_settings(builder: Any) -> None:
    await around(asks(builder.compile(), 2, context=Context(max_steps=3))).ainvoke(ASKED, context=BUDGET)


async def in_a_node_with_a_larger_budget(builder: Any) -> None:
    node = asks_at_once(builder.compile(), 2, context={"max_model_calls": 99})
    await around(node).ainvoke(ASKED, context=BUDGET)


async def in_nodes_side_by_side(builder: Any) -> None:
    nodes = [asks_at_once(builder.compile()), asks(builder.compile())]
    await around(*nodes, parallel=True).ainvoke(ASKED, context=BUDGET)


async def in_a_graph_in_a_graph(builder: Any) -> None:
    inner = around(asks_at_once(builder.compile(), 2))
    await around(inner, inner).ainvoke(ASKED, context=BUDGET)


async def in_a_stream(builder: Any) -> None:
    graph = around(asks(builder.compile(), 2))
    async for _ in graph.astream(ASKED, context=BUDGET, stream_mode=["custom", "messages"], subgraphs=True):
        pass


async def as_the_tool_of_an_agents_run(builder: Any) -> None:
    tool = as_tool(builder.compile(), budget="run")
    asking = agent(tool, turns=[["answer_question"], ["answer_question"] * 2])
    await asking.ainvoke({"messages": [HumanMessage("?")]}, context=BUDGET)


async def as_several_tools_with_settings(builder: Any) -> None:
    tools = [as_tool(builder.compile(), name=name, budget="run", context={"max_steps": 3}) for name in ("a", "b")]
    asking = agent(*tools, turns=[["a", "b"]])
    await asyncio.to_thread(asking.invoke, {"messages": [HumanMessage("?")]}, context=BUDGET)


async def as_the_tool_of_an_agent_that_asks_once(builder: Any) -> None:
    asking = agent(as_tool(builder.compile(), context={"max_model_calls": 99}), turns=[["answer_question"]])
    await asking.ainvoke({"messages": [HumanMessage("?")]}, context=BUDGET)


NESTINGS = [
    alone, on_a_thread, in_messages, as_a_subgraph, as_two_subgraphs, in_a_node, in_a_synchronous_run,
    in_a_node_with_settings, in_a_node_with_a_larger_budget, in_nodes_side_by_side, in_a_graph_in_a_graph, in_a_stream,
    as_the_tool_of_an_agents_run, as_several_tools_with_settings, as_the_tool_of_an_agent_that_asks_once,
]  # fmt: skip


WALKED = [  # one method in all nestings, and each of the others in the one that is shared by most runs
    *(("dualrag", nested) for nested in NESTINGS),
    *((method, in_a_graph_in_a_graph) for method in sorted(METHODS) if method != "dualrag"),
]


@pytest.mark.parametrize(("method", "nested"), WALKED, ids=lambda each: getattr(each, "__name__", each))
async def test_no_nesting_makes_more_calls_than_the_outermost_run_may(
    method: str, nested: Any, sample_kb: KnowledgeBase
) -> None:
    model = CountingModel(made=[])

    await nested(create(method, model, sample_kb))

    assert 1 <= len(model.made) <= MOST


# --- which runs share ------------------------------------------------------------------------------------------------
@pytest.fixture
def counting() -> CountingModel:
    return CountingModel(made=[])


async def test_side_by_side_each_method_still_answers(counting: CountingModel, sample_kb: KnowledgeBase) -> None:
    node = asks_at_once(create("dualrag", counting, sample_kb).compile(), MOST)

    found = await around(node).ainvoke(ASKED, context=BUDGET)

    assert len(counting.made) == MOST
    assert "unknown" not in found["answers"]


async def test_questions_of_an_agent_have_a_budget_each_by_default(
    counting: CountingModel, sample_kb: KnowledgeBase
) -> None:
    tool = as_tool(create("native_rag", counting, sample_kb).compile())
    turns = [["answer_question"], ["answer_question"] * 2]

    await agent(tool, turns=turns).ainvoke({"messages": [HumanMessage("?")]}, context=Context(max_model_calls=1))

    assert len(counting.made) == 3


async def test_runs_do_not_share_a_budget_because_they_share_the_settings(
    counting: CountingModel, sample_kb: KnowledgeBase
) -> None:
    graph = create("native_rag", counting, sample_kb).compile()
    parent = around(asks_at_once(graph))
    once = Context(max_model_calls=1)

    await parent.abatch([ASKED] * 3, context=once)
    await graph.abatch([ASKED] * 3, context=once)

    assert len(counting.made) == 6


async def test_a_budget_that_a_node_gives_holds_for_its_question_alone(
    counting: CountingModel, sample_kb: KnowledgeBase
) -> None:
    node = asks(create("native_rag", counting, sample_kb).compile(), 3, context=Context(max_model_calls=1))

    await around(node).ainvoke(ASKED)

    assert len(counting.made) == 3


@pytest.mark.parametrize("limits", [Context(max_tokens=2_500), Context(deadline_s=1e-6)])
async def test_tokens_and_time_are_shared_too(
    limits: Context, counting: CountingModel, sample_kb: KnowledgeBase
) -> None:
    graph = create("native_rag", counting, sample_kb).compile()
    stopped: list[str] = []

    async def look_up(state: State) -> dict[str, Any]:
        found = [await graph.ainvoke(ASKED, context=Context(top_k=10)) for _ in range(3)]
        stopped.extend(each["usage"]["stopped_by"] for each in found)
        return {"answers": []}

    await around(look_up).ainvoke(ASKED, context=limits)

    assert stopped[-1] == ("max_tokens" if limits.max_tokens else "deadline_s")


async def test_a_plan_that_waited_for_a_person_goes_on_within_the_agents_budget(
    counting: CountingModel, sample_kb: KnowledgeBase
) -> None:
    tool = as_tool(create_par_rag(counting, sample_kb, approve_plan=True).compile(), budget="run")
    calls = [{"name": "answer_question", "args": ASKED, "id": "1"}]
    model = Agent(responses=[AIMessage("", tool_calls=calls), AIMessage("Done.")])
    asking: Any = create_agent(model, [tool], context_schema=Context, checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}

    await asking.ainvoke({"messages": [HumanMessage("?")]}, thread, context=BUDGET)
    await asking.ainvoke(Command(resume=True), thread, context=BUDGET)

    assert len(counting.made) <= MOST


def test_whose_budget_it_is_has_two_names(sample_kb: KnowledgeBase) -> None:
    with pytest.raises(UnknownNameError, match="budget.*'day'.*question, run"):
        as_tool(create("native_rag", OfflineModel(), sample_kb).compile(), budget=cast(Any, "day"))


# --- accounts --------------------------------------------------------------------------------------------------------
def test_a_call_is_charged_to_its_run_and_to_all_around_it() -> None:
    outer = Account(limits=Context(max_model_calls=2))
    inner = Account(outer)
    with charged(inner), Meter(no_usage()).call(Context(), 10, concluding=False) as call:
        call.cost = {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}

    assert [(account.calls, account.tokens, account.pending) for account in inner.payers] == [(1, 9, 0)] * 2
    with charged(inner), pytest.raises(BudgetReachedError), Meter(no_usage()).call(Context(), 1, concluding=False):
        pass


def test_a_call_for_each_answer_is_kept() -> None:
    outer = Account(limits=Context(max_model_calls=3))
    first, second = Account(outer), Account(outer)
    with running(first), running(second):
        outer.check(outer.limits, 1, concluding=False)
        outer.calls = 1
        with pytest.raises(BudgetReachedError):
            outer.check(outer.limits, 1, concluding=False)
        outer.check(outer.limits, 1, concluding=True)
    assert outer.runs == 0


def test_what_a_resumed_run_had_spent_counts_once() -> None:
    inner = Account(outer := Account())
    spent = no_usage() | {"calls": 2, "input_tokens": 30}
    for _ in range(2):
        with charged(inner), Meter(cast(Any, spent)).call(Context(), 5, concluding=False) as call:
            call.waiting = True

    assert [(account.calls, account.tokens) for account in (inner, outer)] == [(2, 30)] * 2
