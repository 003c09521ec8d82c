"""A question's budget of calls, tokens and seconds: whatever it is, every method ends in time with an honest answer."""

import asyncio
import itertools
import json
import os
import time
from collections.abc import Iterator
from dataclasses import fields
from itertools import count
from typing import Any, cast

import pytest
from fakes import ScriptedModel, asked_for
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatResult
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_rag import create_cirag
from langgraph_rag.context import Context
from langgraph_rag.errors import BudgetReachedError, ModelCallError
from langgraph_rag.llm import _gate, ask
from langgraph_rag.metering import Meter, metered
from langgraph_rag.methods import METHODS, create
from langgraph_rag.nodes.conclude import planned, thought_last
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.prompts.answering import ANSWER_FROM_TRIPLES
from langgraph_rag.prompts.cirag import EXTRACT_FACTS, INTEGRATE
from langgraph_rag.records import TraceStep, Usage, add_usage, no_usage
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.knowledge_base import KnowledgeBase

LATER = {"question": "Who died later, Ilse Tarrant or Tobin Grell?"}


class SlowModel(OfflineModel):
    """Thinks for a while before each reply."""

    seconds: float = 60.0

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        await asyncio.sleep(self.seconds)
        return self._generate(messages)


@pytest.fixture(params=sorted(METHODS))
def method(request: pytest.FixtureRequest) -> Any:
    return METHODS[request.param].create


class SlowReader(ScriptedModel):
    """Reads passages for a long time."""

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        if asked_for(messages)["prompt"] == "extract_facts":
            await asyncio.sleep(60)
        return self._generate(messages)


async def test_nobody_waits_beyond_the_deadline_for_what_another_question_reads(kb: KnowledgeBase) -> None:
    graph: Any = create_cirag(SlowReader.of(lambda *_: '{"answer": "Kell"}'), kb, triples="online").compile()
    patient = asyncio.create_task(graph.ainvoke({"question": "Where is Pellworth?"}))
    await asyncio.sleep(0.5)

    async with asyncio.timeout(30):
        result = await graph.ainvoke({"question": "Where is the town of Pellworth?"}, context=Context(deadline_s=2))
    patient.cancel()
    await asyncio.gather(patient, return_exceptions=True)

    assert result["usage"]["stopped_by"] == "deadline_s"
    assert result["answer"] == "Kell"


# --- in every graph --------------------------------------------------------------------------------------------------
async def test_no_method_makes_more_calls_than_it_may(method: Any, sample_kb: KnowledgeBase) -> None:
    graph = method(OfflineModel(), sample_kb).compile()
    whole = (await graph.ainvoke(LATER))["usage"]["calls"]

    for most in (1, 3):
        found = await graph.ainvoke(LATER, context={"max_model_calls": most})

        assert found["answer"]
        assert 1 <= found["usage"]["calls"] <= most
        if whole != most:  # DualRAG's last thought may be its answer, for which the last call is kept
            assert found["usage"]["stopped_by"] == ("max_model_calls" if whole > most else "")


@pytest.mark.parametrize(
    ("name", "most"),
    [
        *itertools.product(["dualrag", "dualrag/published"], [1, 2, 3]),
        *itertools.product(["dualrag/without-outline"], [1, 2]),
        *itertools.product(["par_rag"], [1, 2, 3, 4]),
    ],
)
async def test_the_passages_are_read_where_the_budget_ends_before_enough_was_found(
    name: str, most: int, sample_kb: KnowledgeBase
) -> None:
    graph = create(name, OfflineModel(), sample_kb).compile()

    context = {"max_model_calls": most, "read_k": 10}

    streamed: list[Any] = [
        told async for told in graph.astream(LATER, context=context, stream_mode=["updates", "values"])
    ]
    nodes = [next(iter(update)) for mode, update in streamed if mode == "updates"]
    found = streamed[-1][1]

    assert ("read_passages" in nodes) == {"answer", "answer_from_trajectories"}.isdisjoint(nodes)
    assert found["usage"]["calls"] == most
    assert found["answer"] != "unanswerable"


@pytest.mark.parametrize(
    ("name", "searches", "calls"), [("par_rag", "retrieve", 3), ("mgranrag", "extract_evidence", 2)]
)
async def test_once_the_budget_is_spent_nothing_more_is_searched_for(
    name: str, searches: str, calls: int, sample_kb: KnowledgeBase
) -> None:
    graph = create(name, OfflineModel(), sample_kb).compile()
    context = {"max_model_calls": calls, "max_steps": 3}

    nodes = [next(iter(update)) async for update in graph.astream(LATER, context=context)]

    assert nodes.count(searches) == 1


async def test_a_budget_that_is_large_enough_changes_nothing(method: Any, sample_kb: KnowledgeBase) -> None:
    graph = method(OfflineModel(), sample_kb).compile()
    large = {"max_model_calls": 1000, "max_tokens": 10_000_000, "deadline_s": 3600.0}

    free, limited = await graph.ainvoke(LATER), await graph.ainvoke(LATER, context=large)

    assert limited["usage"]["stopped_by"] == ""
    assert limited["usage"]["calls"] == free["usage"]["calls"]
    assert limited["answer"] == free["answer"]


def test_tokens_end_the_search_for_synchronous_callers_too(method: Any, sample_kb: KnowledgeBase) -> None:
    found = method(OfflineModel(), sample_kb).compile().invoke(LATER, context={"max_tokens": 100})

    assert found["usage"]["stopped_by"] == "max_tokens"
    assert found["usage"]["calls"] == 0
    assert is_refusal(found["answer"])


async def test_what_a_budget_leaves_unread_is_logged_in_one_line(
    sample_kb: KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    graph = METHODS["cirag"].create(OfflineModel(), sample_kb, triples="online").compile()

    found = await graph.ainvoke(LATER, context={"max_model_calls": 2})

    assert found["usage"]["stopped_by"] == "max_model_calls"
    assert [line for line in caplog.messages if "without triples" in line] == [
        "passages are left without triples for now: the budget, max_model_calls=2, leaves no room for "
        "another model call"
    ]


class SilentModel(OfflineModel):
    """Does not say how many tokens it read and wrote."""

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        result = super()._generate(*args, **kwargs)
        for generation in result.generations:
            cast(AIMessage, generation.message).usage_metadata = None
        return result


async def test_a_model_that_counts_no_tokens_is_held_to_them_too(method: Any, sample_kb: KnowledgeBase) -> None:
    graph = method(SilentModel(), sample_kb).compile()
    whole = (await graph.ainvoke(LATER))["usage"]
    most = whole["estimated_tokens"] // 2

    usage = (await graph.ainvoke(LATER, context={"max_tokens": most}))["usage"]

    assert (usage["input_tokens"], usage["output_tokens"], usage["stopped_by"]) == (0, 0, "max_tokens")
    assert usage["estimated_tokens"] <= most + 75  # the last reply may exceed it, and one passage is always shown


async def test_the_answer_is_sought_in_fewer_passages_where_tokens_leave_no_room_for_all(
    sample_kb: KnowledgeBase,
) -> None:
    graph = METHODS["native_rag"].create(SilentModel(), sample_kb).compile()
    whole = (await graph.ainvoke(LATER))["usage"]["estimated_tokens"]

    found = await graph.ainvoke(LATER, context={"max_tokens": whole * 3 // 4})

    usage = found["usage"]
    assert (usage["calls"], usage["stopped_by"]) == (1, "max_tokens")
    assert usage["left_out"] > 0
    assert usage["estimated_tokens"] <= whole * 3 // 4


async def test_a_model_that_hangs_is_given_up_at_the_deadline(method: Any, sample_kb: KnowledgeBase) -> None:
    graph = method(SlowModel(), sample_kb).compile()
    await method(OfflineModel(), sample_kb).compile().ainvoke(LATER)  # loads what would take its part of the time

    found = await graph.ainvoke(LATER, context={"deadline_s": 1.0})

    assert found["usage"]["stopped_by"] == "deadline_s"
    assert found["usage"]["estimated_tokens"] > 0
    assert is_refusal(found["answer"])
    assert found["evidence"] == []


class OutOfTime(OfflineModel):
    """Is given up at the deadline over the answer to the question, and only then."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        if asked_for(messages)["prompt"].startswith("answer_from_"):
            raise BudgetReachedError("deadline_s", 3.0)
        return super()._generate(messages, *args, **kwargs)


DIED_LATER = {"question": "Who died later, Ilse Tarrant or Tobin Grell?"}


@pytest.mark.parametrize("name", ["dualrag/published", "ircot", "kirag", "par_rag"])
async def test_without_time_for_the_answer_it_is_what_was_concluded_before(name: str, sample_kb: KnowledgeBase) -> None:
    graph: Any = create(name, OutOfTime(), sample_kb).compile()

    chunks = [chunk async for chunk in graph.astream(DIED_LATER, stream_mode=["messages", "values"])]

    found = chunks[-1][1]
    assert found["usage"]["stopped_by"] == "deadline_s"
    assert found["answer"] == (found["trajectories"][-1]["answer"] if name == "par_rag" else "Ilse Tarrant")
    assert [chunk[0].text for mode, chunk in chunks if mode == "messages"] == [found["answer"]]


PASSING = {
    "integrate": '{"thought": "So the answer is Kell.", "facts": [["Orla Vint", "directed", "The Salt Road"]]}',
    "reason": '{"thought": "So the answer is Kell.", "needs_retrieval": true}',
    "identify_entities": '{"entities": [{"entity": "The Salt Road", "queries": ["The Salt Road"]}]}',
    "summarize": '{"summary": ""}',
}


@pytest.mark.parametrize(
    ("name", "asked", "said"),
    [
        ("cirag", "", "Kell"),
        ("cirag", "answer_from_triples", "unknown"),
        ("cirag", "answer_from_triples", "unanswerable"),
        ("cirag", "answer_from_passages", "The passages do not say so."),
        ("dualrag/published", "", "Kell"),
    ],
)
async def test_a_refusal_stands_and_only_an_answer_that_nobody_was_asked_for_comes_from_a_thought(
    name: str, asked: str, said: str, kb: KnowledgeBase
) -> None:
    answer = json.dumps({"thought": "", "answer": said})
    script = PASSING | ({asked: answer} if asked else {})
    model = ScriptedModel.of(lambda prompt, values: script.get(prompt, BudgetReachedError("deadline_s", 3.0)))
    graph: Any = create(name, model, kb).compile()

    found = await graph.ainvoke({"question": "Where was the director of The Salt Road born?"})

    assert (found["answer"], found["usage"]["stopped_by"]) == (said, "deadline_s")
    assert found.get("granularity", "none") == "none"


async def test_an_answer_says_that_the_tokens_did_not_suffice_for_the_first_call(
    method: Any, sample_kb: KnowledgeBase
) -> None:
    found = await method(OfflineModel(), sample_kb).compile().ainvoke(LATER, context={"max_tokens": 1})

    assert found["answer"] == "This question cannot be answered: max_tokens=1 was reached before the model was asked."
    assert is_refusal(found["answer"]) and (found["usage"]["calls"], found["usage"]["stopped_by"]) == (0, "max_tokens")


async def test_an_answer_says_that_the_time_was_over_before_the_first_call(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed = kb.embeddings.embed_query

    def slowly(text: str) -> list[float]:
        time.sleep(0.1)
        return embed(text)

    monkeypatch.setattr(kb.embeddings, "embed_query", slowly)
    graph: Any = create("native_rag", OfflineModel(), kb).compile()

    found = await graph.ainvoke({"question": "Who directed The Salt Road?"}, context={"deadline_s": 0.05})

    assert found["answer"].startswith("This question cannot be answered: deadline_s=0.05 was reached before")


class _Slow(OfflineModel):
    """Replies after the time of the question."""

    async def _agenerate(self, *_: Any, **__: Any) -> Any:
        await asyncio.sleep(30)


async def test_an_answer_says_that_the_time_was_over_before_the_first_reply(method: Any, kb: KnowledgeBase) -> None:
    kb.warm_up()
    graph = method(_Slow(), kb).compile()

    found = await graph.ainvoke({"question": "Who directed The Salt Road?"}, context={"deadline_s": 1.0})

    told = "This question cannot be answered: deadline_s=1.0 was reached before the model replied."
    assert found["answer"] == told
    assert found["usage"]["calls"] and found["usage"]["stopped_by"] == "deadline_s"


def step(thought: str) -> TraceStep:
    return TraceStep(step=1, query="", thought=thought, core_triples=[], next_question="")


@pytest.mark.parametrize(
    ("thoughts", "answer"),
    [
        (["Ada Moss was born in Bergen.", "So the answer is: Norway."], "Norway"),
        (["So the answer is St. Louis.", ""], "St. Louis"),  # the last thought was not asked for any more
        (["So the answer is Norway.", "Where she was born is missing."], ""),
        (["The answer is not Oslo. So the answer is Bergen"], "Bergen"),
        (["She was born in Bergen, so the answer is Norway."], "Norway"),
        (["So the answer is Missing."], "Missing"),  # a film
        (["So the answer is: unknown."], ""),
        (["So the answer is not known yet."], ""),
        (["The answer is still missing."], ""),
        (["Who produced it: the answer is still missing."], ""),
        (["Nothing is known yet; I have to look up what the answer is."], ""),
        (["Whether the answer is Bergen has to be looked up."], ""),
        ([], ""),
    ],
)
def test_the_last_thought_counts(thoughts: list[str], answer: str) -> None:
    assert thought_last(cast(Any, {"trace": [step(thought) for thought in thoughts]})) == answer


@pytest.mark.parametrize(
    ("found", "answer"),
    [
        ([(0, "Ada Moss was the architect.")], ""),
        ([(0, "Ada Moss."), (1, "She was born in Norway.")], "She was born in Norway."),
        ([(1, "She was born in Norway."), (1, "unknown")], "She was born in Norway."),
        ([(1, "unknown")], ""),
        ([(1, "Where she was born is unknown.")], ""),
    ],
)
def test_only_the_last_step_of_a_plan_answers_the_question(found: list[tuple[int, str]], answer: str) -> None:
    trajectories = [{"place": place, "answer": given} for place, given in found]

    assert planned(cast(Any, {"plan": [{}, {}], "trajectories": trajectories})) == answer


async def test_a_resumed_run_counts_what_was_spent_before(method: Any, sample_kb: KnowledgeBase) -> None:
    class StopsOnce(OfflineModel):
        left: list[int] = [1]

        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
            if not self.left:
                raise OSError("the line is dead")
            self.left.pop()
            return super()._generate(messages, *args, **kwargs)

    broken, limits = StopsOnce(), {"max_model_calls": 2}
    graph = method(broken, sample_kb).compile(checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    whole = await method(OfflineModel(), sample_kb).compile().ainvoke(LATER, context=limits)
    try:
        found = await graph.ainvoke(LATER, thread, context=limits)
    except ModelCallError:
        broken.left[:] = range(99)
        found = await graph.ainvoke(None, thread, context=limits)

    assert found["answer"] == whole["answer"]
    assert found["usage"]["calls"] == whole["usage"]["calls"] <= 2


# --- the budget itself -----------------------------------------------------------------------------------------------
LIMITS = Context(max_model_calls=3, max_tokens=1000, deadline_s=100.0)


async def test_a_call_that_was_still_waiting_for_its_turn_costs_nothing(
    sample_kb: KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    graph = create("native_rag", SlowModel(), sample_kb).compile()
    await sample_kb.arank("anything")  # loads what would take its part of the time
    other = asyncio.create_task(graph.ainvoke(LATER, context={"max_concurrency": 1}))
    while not _gate(os.getpid())._inside:
        await asyncio.sleep(0.01)

    usage = (await graph.ainvoke(LATER, context={"deadline_s": 1.0, "max_concurrency": 1}))["usage"]
    other.cancel()

    assert (usage["calls"], usage["estimated_tokens"], usage["stopped_by"]) == (0, 0, "deadline_s")
    assert "deadline_s=1.0: max_concurrency=1 others were under way" in caplog.text


async def test_a_call_for_which_no_time_was_left_blames_nobody(
    sample_kb: KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    graph = create("native_rag", SlowModel(), sample_kb).compile()

    usage = (await graph.ainvoke(LATER, context={"deadline_s": 0.001}))["usage"]

    assert usage["stopped_by"] == "deadline_s"
    assert "others were under way" not in caplog.text


def test_one_call_is_kept_for_the_answer() -> None:
    meter = Meter(no_usage() | {"calls": 1})
    with meter.call(LIMITS, 10, concluding=False):
        pass
    with pytest.raises(BudgetReachedError, match="max_model_calls=3"), meter.call(LIMITS, 10, concluding=False):
        pass
    with meter.call(LIMITS, 10, concluding=True):
        pass
    with pytest.raises(BudgetReachedError, match="max_model_calls=3"), meter.call(LIMITS, 10, concluding=True):
        pass


def test_tokens_of_calls_under_way_count_until_their_cost_is_known() -> None:
    meter = Meter(no_usage())
    with meter.call(LIMITS, 700, concluding=False) as call:
        with pytest.raises(BudgetReachedError, match="max_tokens=1000"), meter.call(LIMITS, 100, concluding=False):
            pass
        call.cost = {"input_tokens": 400, "output_tokens": 50, "total_tokens": 450}
    with meter.call(LIMITS, 200, concluding=False):
        pass
    assert (meter.usage["calls"], meter.usage["input_tokens"], meter.usage["output_tokens"]) == (2, 400, 50)


@pytest.mark.parametrize(("concluding", "room"), [(False, 750), (True, 1000)])
def test_the_last_token_may_be_spent(concluding: bool, room: int) -> None:
    with (
        pytest.raises(BudgetReachedError, match="max_tokens=1000"),
        Meter(no_usage()).call(LIMITS, room + 1, concluding=concluding),
    ):
        pass
    with Meter(no_usage()).call(LIMITS, room, concluding=concluding) as call:
        assert call.estimated_tokens == room


@pytest.mark.parametrize("cost", [{"input_tokens": 4}, {"input_tokens": 4, "output_tokens": None}])
def test_tokens_written_count_as_none_where_a_model_does_not_tell_them(cost: Any) -> None:
    meter = Meter(no_usage())
    with meter.call(LIMITS, 700, concluding=False) as call:
        call.cost = cost

    assert (meter.usage["input_tokens"], meter.usage["output_tokens"], meter.usage["estimated_tokens"]) == (4, 0, 0)


def test_a_call_that_fails_costs_what_its_prompt_is_estimated_at() -> None:
    meter = Meter(no_usage())
    with pytest.raises(OSError), meter.call(LIMITS, 700, concluding=False):
        raise OSError("the line is dead")
    assert meter.usage["estimated_tokens"] == 700


def test_a_quarter_of_the_time_is_kept_for_the_answer() -> None:
    meter = Meter(no_usage() | {"seconds": 80.0})

    with meter.call(LIMITS, 1, concluding=True) as call:
        assert call.seconds_left == pytest.approx(20.0, abs=5.0)
    with pytest.raises(BudgetReachedError, match="deadline_s=100.0"), meter.call(LIMITS, 1, concluding=False):
        pass


@pytest.mark.parametrize(("longest", "left"), [(10.0, 35.0), (30.0, 15.0)])
def test_more_is_kept_for_the_answer_where_calls_take_long(longest: float, left: float) -> None:
    meter = Meter(no_usage() | {"seconds": 40.0, "longest_call": longest})

    with meter.call(LIMITS, 1, concluding=False) as call:
        assert call.seconds_left == pytest.approx(left, abs=5.0)
    with meter.call(LIMITS, 1, concluding=True) as call:
        assert call.seconds_left == pytest.approx(60.0, abs=5.0)


def test_the_longest_call_is_known_and_a_failed_one_does_not_count() -> None:
    meter = Meter(no_usage())
    with meter.call(LIMITS, 1, concluding=False):
        time.sleep(0.02)
    longest = meter.usage["longest_call"]
    with pytest.raises(OSError), meter.call(LIMITS, 1, concluding=False):
        time.sleep(2 * longest)
        raise OSError("the line is dead")

    assert meter.usage["longest_call"] == longest >= 0.02
    longer = Usage(**no_usage() | {"longest_call": 60.0, "ended_at": 1.0})
    assert add_usage(add_usage(no_usage(), longer), Usage(**meter.usage | {"ended_at": 2.0}))["longest_call"] == 60.0


async def test_slow_calls_leave_time_for_the_answer(sample_kb: KnowledgeBase) -> None:
    method = "par_rag/published"  # with the most calls
    await create(method, OfflineModel(), sample_kb).compile().ainvoke(LATER)  # loads what would take time

    graph = create(method, SlowModel(seconds=1.0), sample_kb).compile()
    found = await graph.ainvoke(LATER, context={"deadline_s": 4.0})

    assert found["usage"]["stopped_by"] == "deadline_s"
    assert found["usage"]["longest_call"] >= 1.0
    assert found["answer"] != "unknown"


async def test_a_prompt_without_a_reply_for_that_case_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_rag.llm.context", lambda: Context(max_model_calls=1))

    with metered() as usage, pytest.raises(BudgetReachedError):
        await ask(ScriptedModel.of([]), EXTRACT_FACTS, passages=[])
    assert usage["stopped_by"] == "max_model_calls"


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_model_calls": 0},
        {"max_tokens": 1.5},
        {"top_k": True},
        {"max_concurrency": None},
        {"deadline_s": 0},
        {"deadline_s": "5"},
        {"deadline_s": True},
        {"search": "psychic"},
        {"search": None},
    ],
)
def test_a_setting_that_cannot_be_is_refused(wrong: dict[str, Any], kb: KnowledgeBase) -> None:
    refused = f"{next(iter(wrong))} must be .*, got {next(iter(wrong.values()))!r}"
    with pytest.raises(ValueError, match=refused):
        Context(**wrong)
    with pytest.raises(ValueError, match=refused):
        METHODS["native_rag"].create(ScriptedModel.of([]), kb).compile().invoke({"question": "Who?"}, context=wrong)


def test_none_is_taken_where_it_is_the_default() -> None:
    left_open: dict[str, Any] = {field.name: None for field in fields(Context) if field.default is None}
    assert Context(**left_open) == Context()


# --- time ------------------------------------------------------------------------------------------------------------
def ran(*spans: tuple[float, float]) -> Iterator[Usage]:
    for begin, end in spans:
        yield Usage(**no_usage() | {"seconds": end - begin, "ended_at": end})


@pytest.mark.parametrize(
    ("spans", "seconds"),
    [
        ([(10, 12), (12, 15)], 5),
        ([(10, 12), (100, 103)], 5),  # a pause costs nothing
        ([(10, 12), (10, 15), (10, 11)], 5),  # side by side
        ([(10, 12), (11, 15)], 5),
    ],
)
def test_time_is_counted_once_where_nodes_run_side_by_side(spans: list[tuple[float, float]], seconds: float) -> None:
    total = no_usage()
    for usage in ran(*spans):
        total = add_usage(total, usage)

    assert total["seconds"] == seconds


def test_a_usage_that_is_empty_counts_nothing() -> None:
    (spent,) = ran((10, 12))

    assert add_usage({}, {}) == no_usage()  # type: ignore[typeddict-item] # a Pydantic state may begin with it
    assert add_usage({}, spent)["seconds"] == 2  # type: ignore[typeddict-item]


def test_time_is_counted_while_the_wall_clock_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    hours = count(time.time(), -3600.0)
    monkeypatch.setattr("langgraph_rag.metering.time.time", lambda: next(hours))
    total = no_usage()
    for _ in range(3):
        with metered(total) as usage:
            time.sleep(0.01)
        total = add_usage(total, usage)

    assert total["seconds"] >= 0.03


async def test_parallel_nodes_cost_the_time_of_the_longest(sample_kb: KnowledgeBase) -> None:
    graph = METHODS["dualrag"].create(SlowModel(seconds=0.05), sample_kb).compile()
    started = time.time()

    usage = (await graph.ainvoke(LATER))["usage"]

    assert usage["seconds"] <= time.time() - started
    assert json.loads(json.dumps(usage)) == usage


MANY_FACTS = [["Orla Vint", "directed", f"film {number}"] for number in range(1000)]


async def test_where_tokens_leave_no_room_for_a_search_nothing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_rag.llm.context", lambda: Context(max_tokens=10_000))
    model = ScriptedModel.of(['{"thought": "", "facts": [], "question": null}'] * 2)

    with metered() as usage:
        await ask(model, INTEGRATE, question="a", query="a", history=[], facts=MANY_FACTS, is_last=False)

    assert (usage["calls"], usage["left_out"], usage["stopped_by"]) == (0, 0, "max_tokens")


async def test_where_no_call_is_left_for_an_answer_nothing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_rag.llm.context", lambda: Context(max_model_calls=1))

    with metered(Usage(**no_usage() | {"calls": 1})) as usage:
        await ask(ScriptedModel.of([]), ANSWER_FROM_TRIPLES, question="a", triples=MANY_FACTS)

    assert (usage["calls"], usage["left_out"], usage["stopped_by"]) == (0, 0, "max_model_calls")


def test_a_question_may_be_as_long_as_the_settings_say(kb: KnowledgeBase) -> None:
    question = "Who directed The Salt Road?"
    graph = create("native_rag", OfflineModel(), kb).compile()

    assert graph.invoke({"question": question}, context=Context(max_question_chars=len(question)))["answer"]
