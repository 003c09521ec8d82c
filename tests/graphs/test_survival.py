"""A run that was killed goes on where it was, on the same thread, and asks nothing twice that a finished node knows."""

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from fakes import ArithmeticEmbeddings, ScriptedModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import EmptyInputError
from langgraph.types import Command, interrupt
from processes import start
from pydantic import Field
from savers import async_saver_at, saver_at, schema_in

from langgraph_rag import Context, KnowledgeBase, create_par_rag
from langgraph_rag.errors import ResumeError
from langgraph_rag.methods import METHODS, create
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.prompts.prompt import METADATA_KEY

THREAD: Any = {"configurable": {"thread_id": "1"}}
QUESTIONS = (
    "In which country was the director of The Salt Road born?",
    "Who is older, Orla Vint or Casper Holm?",
    "What do herons wait for?",
    "What is the colour of the moon?",
    "Who directed The Salt Road?",
)
LIMITS = {
    "Who directed The Salt Road?": Context(max_model_calls=1),
    "scripted": Context(top_k=4, effort="high"),  # some documents are left to look up
}
PLAN = [
    {"question": "Who directed The Salt Road?"},
    {"question": "Which of #1?", "action": "answer"},
    {"question": "Where was #2 born?"},
    {"question": "Who is Nobody?"},
    {"question": "Where was #4 born?"},
]
NOT_AGAIN = {"adaptive": {"retrieve", "read_passages", "find_support"}}  # of DualRAG, for which nothing is known
SCRIPTS: dict[str, dict[str, Any]] = {  # for nodes that the offline model does not come to on these documents
    "adaptive": {
        "answer_or_look_up": lambda values: {
            "thought": "I go on.",
            "sentences": [1],
            "missing": ["Norland capital" if values["looked_up"] else "Skellby lighthouse"],
            "answer": "unanswerable",
        },
        "reason_and_look_up": lambda values: {
            "thought": "I go on.",
            "entities": [] if values["thoughts"] else [{"entity": "The Salt Road", "queries": ["The Salt Road"]}],
        },
        "take_notes": {"notes": [{"entity": "The Salt Road", "summary": "Orla Vint directed The Salt Road."}]},
        "answer_from_outline": {"thought": "", "answer": "Pellworth"},
    },
    "dualrag": {
        "reason_and_look_up": lambda values: {
            "thought": "I go on.",
            "entities": [] if values["outline"] else [{"entity": "The Salt Road", "queries": ["The Salt Road"]}],
        },
        "take_notes": {"notes": [{"entity": "The Salt Road", "summary": "Orla Vint directed The Salt Road."}]},
        "answer_from_outline": {"thought": "", "answer": "Pellworth"},
        "answer_from_passages": {"thought": "", "answer": "Pellworth"},
    },
    "par_rag": {
        "plan": {"steps": PLAN},
        "act": lambda values: {"answer": "unknown" if "Nobody" in values["question"] else "Orla Vint [1]"},
        "plan_anew": {"steps": [{"question": "Where was Casper Holm born?"}]},
        "review": {"status": "PASS"},
        "refine": {"question": "Where was Orla Vint born?"},
        "answer_from_trajectories": {"thought": "", "answer": "Pellworth"},
    },
    "cirag": {
        "integrate": {"thought": "", "facts": [["Orla Vint", "directed", "The Salt Road"]], "question": None},
        "answer_from_triples": {"thought": "", "answer": "unanswerable"},
        "answer_from_sentences": {"thought": "", "answer": "unanswerable"},
        "answer_from_passages": {"thought": "", "answer": "Pellworth"},
    },
}


class KilledError(Exception):
    """Stands for the end of the process."""


_inside: ContextVar[list[str] | None] = ContextVar("inside the node that is killed", default=None)


def asked_in(messages: list[BaseMessage]) -> str:
    (asked,) = [m.response_metadata[METADATA_KEY] for m in messages if METADATA_KEY in m.response_metadata]
    return json.dumps(asked, sort_keys=True)


class RememberingModel(OfflineModel):
    """Remembers what it was asked, and what of it by the node that is to be killed."""

    asked: list[str] = Field(default_factory=list)

    def _generate(self, messages: list[BaseMessage], *rest: Any, **options: Any) -> ChatResult:
        remember(self.asked, messages)
        return super()._generate(messages, *rest, **options)


class RememberingScript(ScriptedModel):
    """The same for a scripted model."""

    asked: list[str] = Field(default_factory=list)

    def _generate(self, messages: list[BaseMessage], *rest: Any, **options: Any) -> ChatResult:
        remember(self.asked, messages)
        return super()._generate(messages, *rest, **options)


def remember(asked: list[str], messages: list[BaseMessage]) -> None:
    asked.append(asked_in(messages))
    if (inside := _inside.get()) is not None:
        inside.append(asked[-1])


def model(name: str, question: str) -> Any:
    """Return the offline model, or for the last of all questions the script of a method."""
    if question == "scripted":
        return RememberingScript.of(lambda prompt, values: json.dumps(_scripted(SCRIPTS[name][prompt], values)))
    return RememberingModel()


def _scripted(reply: Any, values: Any) -> Any:
    return reply(values) if callable(reply) else reply


def killed_at(builder: Any, node: str, when: str, inside: list[str]) -> None:
    """Have a node die before it runs, or when it has done everything but return."""
    step = builder.nodes[node].runnable.step

    async def dying(state: Any) -> Any:
        if when == "after":
            token = _inside.set(inside)
            await step(state)
            _inside.reset(token)
        raise KilledError(node)

    builder.nodes[node].runnable.step = dying


def told(result: dict[str, Any]) -> dict[str, Any]:
    costs = {"calls", "input_tokens", "output_tokens"}
    return {**result, "usage": {name: result["usage"][name] for name in costs}}


@contextmanager
def compiled(builder: Any, place: str) -> Iterator[Any]:
    with saver_at(place) as saver:
        yield builder.compile(checkpointer=saver)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path, database: str) -> Iterator[str]:
    """Name where the checkpoints are kept."""
    if request.param == "sqlite":
        yield str(tmp_path / "checkpoints.sqlite")
    else:
        with schema_in(database) as place:
            yield place


@pytest.mark.parametrize(
    ("name", "when", "place"),
    [
        ("dualrag", "before", "sqlite"),
        ("dualrag", "after", "postgres"),
        *((name, "after", "sqlite") for name in sorted(METHODS) if name != "dualrag"),
    ],
    indirect=["place"],
)
def test_killed_at_any_node_it_goes_on_and_asks_nothing_twice(
    name: str, when: str, kb: KnowledgeBase, place: str
) -> None:
    questions = [*QUESTIONS, *(["scripted"] if name in SCRIPTS else [])]
    ways: dict[str, str] = {}
    for question in questions:
        graph = METHODS[name].create(model(name, question), kb).compile()
        for update in graph.stream({"question": question}, context=LIMITS.get(question)):
            ways |= {node: question for node in update if node not in ways}
    assert set(ways) == set(METHODS[name].create(OfflineModel(), kb).nodes) - NOT_AGAIN.get(name, set())
    undisturbed = {}
    for question in {*ways.values()}:
        steady = model(name, question)
        graph = METHODS[name].create(steady, kb).compile()
        undisturbed[question] = graph.invoke({"question": question}, context=LIMITS.get(question)), steady.asked

    for node, question in ways.items():
        thread: Any = {"configurable": {"thread_id": node}}
        limits, (expected, asked) = LIMITS.get(question), undisturbed[question]
        killed, resumed = model(name, question), model(name, question)
        inside: list[str] = []
        dying = METHODS[name].create(killed, kb)
        killed_at(dying, node, when, inside)
        with compiled(dying, place) as graph, pytest.raises(KilledError):
            graph.invoke({"question": question}, thread, context=limits, durability="sync")

        with compiled(METHODS[name].create(resumed, kb), place) as graph:
            result = graph.invoke(None, thread, context=limits, durability="sync")

        assert told(result) == told(expected), node
        assert Counter(killed.asked + resumed.asked) == Counter(asked + inside), node


# --- killed for good -------------------------------------------------------------------------------------------------
class SuicidalModel(OfflineModel):
    """Writes down what it is asked, and kills its process at one of its calls."""

    log: Path
    at: int

    def _generate(self, messages: list[BaseMessage], *rest: Any, **options: Any) -> ChatResult:
        with self.log.open("a", encoding="utf-8") as log:
            log.write(asked_in(messages) + "\n")
        if len(self.log.read_text(encoding="utf-8").splitlines()) == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        return super()._generate(messages, *rest, **options)


def ask_and_die(folder: Path, place: str, name: str, at: int) -> None:
    """Is run in a process of its own."""
    dying = SuicidalModel(log=folder / "log", at=at)
    with (
        KnowledgeBase.open(folder / "kb", ArithmeticEmbeddings()) as kb,
        compiled(METHODS[name].create(dying, kb), place) as graph,
    ):
        graph.invoke({"question": QUESTIONS[0]}, THREAD, durability="sync")


@pytest.mark.parametrize(
    ("name", "place"), [("adaptive", "sqlite"), ("par_rag", "sqlite"), ("dualrag", "postgres")], indirect=["place"]
)
def test_a_process_killed_for_good_is_followed_by_one_that_goes_on(
    name: str, place: str, tmp_path: Path, documents: list[dict[str, str]]
) -> None:
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings()) as kb:
        kb.add(documents, progress=False)
        steady = RememberingModel()
        expected = METHODS[name].create(steady, kb).compile().invoke({"question": QUESTIONS[0]})
    at = min(2, len(steady.asked))

    killed = start(ask_and_die, tmp_path, place, name, at)
    killed.join()
    resumed = RememberingModel()
    with (
        KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings()) as kb,
        compiled(METHODS[name].create(resumed, kb), place) as graph,
    ):
        result = graph.invoke(None, THREAD, durability="sync")

    log = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert killed.exitcode == -signal.SIGKILL
    assert len(log) == at
    assert told(result) == told(expected)
    assert Counter(log[:-1] + resumed.asked) == Counter(steady.asked)


# --- what changed meanwhile -------------------------------------------------------------------------------------------
def kept(prompt: str, values: Any) -> str:
    """Keep what says who the producer was, be it a triple, a sentence or a document."""
    shown = values["facts" if prompt == "integrate" else "candidates"]
    pieces = [piece["title"] if isinstance(piece, dict) else piece for piece in shown if "Casper Holm" in str(piece)]
    return json.dumps({"thought": "", "facts": pieces, "question": None, "chain": pieces[:1], "conclusion": ""})


@pytest.mark.parametrize("name", ["cirag", "kirag", "kirag/sentences", "kirag/documents"])
@pytest.mark.parametrize("before", ["", "The Salt Road is a film. The weather was bad. Nobody liked it. "])
def test_of_a_document_updated_meanwhile_only_what_it_says_now_is_cited(
    name: str, before: str, empty_kb: KnowledgeBase
) -> None:
    producer, film = "It was produced by Casper Holm.", {"id": "salt-road", "title": "The Salt Road"}
    empty_kb.add([{**film, "text": f"The Salt Road is a 1968 drama film. {producer}"}], progress=False)
    graph = create(name, ScriptedModel.of(kept), empty_kb).compile(checkpointer=InMemorySaver())
    graph.invoke({"question": "Who produced The Salt Road?"}, THREAD, interrupt_before=["accumulate"])
    assert graph.get_state(THREAD).values["core"]

    empty_kb.update([{**film, "text": f"{before}{producer}"}], progress=False)
    graph.invoke(None, THREAD, interrupt_after=["accumulate"])

    cited = [entry["sentence"] for entry in graph.get_state(THREAD).values["evidence"]]
    nearest = f"{before}{producer}".partition(". ")[0].removesuffix(".") + "."
    assert cited == [nearest if name == "kirag/documents" else producer]


# --- plans and forks -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("given", "questions"),
    [
        (True, [*(step["question"] for step in PLAN[:-1]), "Where was Casper Holm born?"]),  # planned anew
        (["Where was Orla Vint born?"], ["Where was Orla Vint born?"]),
        (
            [{"question": "Who is Vint?", "action": "retrieve"}, "Where was she born?"],
            ["Who is Vint?", "Where was she born?"],
        ),
    ],
)
def test_a_plan_waits_for_approval_over_the_end_of_the_process(
    given: Any, questions: list[str], kb: KnowledgeBase, place: str
) -> None:
    first, second = (model("par_rag", "scripted") for _ in range(2))
    with compiled(create_par_rag(first, kb, approve_plan=True), place) as graph:
        stopped = graph.invoke({"question": QUESTIONS[0]}, THREAD, durability="sync")
        assert len(stopped["__interrupt__"][0].value["plan"]) == len(PLAN)

    with compiled(create_par_rag(second, kb, approve_plan=True), place) as graph:
        result = graph.invoke(Command(resume=given), THREAD, durability="sync")

    assert [step["question"] for step in result["plan"]] == questions
    assert first.prompts() == ["plan"]
    assert "plan" not in second.prompts()


@pytest.mark.parametrize(
    ("name", "place"), [*((name, "sqlite") for name in sorted(METHODS)), ("dualrag", "postgres")], indirect=["place"]
)
def test_a_run_can_be_forked_from_each_of_its_steps(name: str, kb: KnowledgeBase, place: str) -> None:
    llm = RememberingModel()
    with compiled(METHODS[name].create(llm, kb), place) as graph:
        expected = graph.invoke({"question": QUESTIONS[0]}, THREAD, durability="sync")
        earlier = [state for state in graph.get_state_history(THREAD) if state.next and state.next != ("__start__",)]
        first, last = earlier[-1], earlier[0]
        assert last.next == ("conclude",)

        llm.asked.clear()
        replayed = graph.invoke(None, last.config, durability="sync")
        assert told(replayed) == told(expected)
        assert llm.asked == []

        fork = graph.update_state(last.config, {"answer": "as a person has it"})
        assert graph.invoke(None, fork)["answer"] == "as a person has it"
        assert told(graph.invoke(None, first.config)) == told(expected)


def test_after_a_plan_that_cannot_be_read_the_run_waits_for_a_better_one(kb: KnowledgeBase, place: str) -> None:
    with compiled(create_par_rag(model("par_rag", "scripted"), kb, approve_plan=True), place) as graph:
        graph.invoke({"question": QUESTIONS[0]}, THREAD)
        again = graph.invoke(Command(resume=[1]), THREAD)["__interrupt__"][0].value
        result = graph.invoke(Command(resume=["Where was Orla Vint born?"]), THREAD)

    assert again["problem"].endswith("got 1")
    assert [step["question"] for step in result["plan"]] == ["Where was Orla Vint born?"]


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_what_postgres_cannot_keep_in_a_text_is_left_out(name: str, kb: KnowledgeBase, place: str) -> None:
    def script(prompt: str, values: Any) -> str:
        reply = json.dumps(_scripted(SCRIPTS[name][prompt], values))
        return reply.replace("Orla", "Orla\\u0000").replace("Pell", "Pell\\u0000")

    llm = RememberingScript.of(script)
    with compiled(METHODS[name].create(llm, kb), place) as graph:
        assert graph.invoke({"question": QUESTIONS[0]}, THREAD, context=LIMITS["scripted"])["answer"] == "Pellworth"


async def test_the_asynchronous_saver_serves_as_well(kb: KnowledgeBase, place: str) -> None:
    dying = METHODS["cirag"].create(RememberingModel(), kb)
    killed_at(dying, "integrate", "before", [])
    async with async_saver_at(place) as saver:
        with pytest.raises(KilledError):
            await dying.compile(checkpointer=saver).ainvoke({"question": QUESTIONS[0]}, THREAD)
        resumed = METHODS["cirag"].create(RememberingModel(), kb).compile(checkpointer=saver)
        result = await resumed.ainvoke(None, THREAD)

    steady = METHODS["cirag"].create(RememberingModel(), kb).compile()
    assert told(result) == told(steady.invoke({"question": QUESTIONS[0]}))


@pytest.mark.parametrize(
    ("builder", "says"),
    [
        (lambda kb: create("dualrag", OfflineModel(), kb), "expected a run of DualRAG to resume, got one of KiRAG"),
        (
            lambda kb: create("kirag", OfflineModel(), kb, retriever="none"),
            "expected a run of KiRAG that stopped at one of its steps, got one without an answer",
        ),
    ],
)
async def test_a_graph_that_cannot_go_on_with_a_run_says_so(kb: KnowledgeBase, builder: Any, says: str) -> None:
    saver = InMemorySaver()
    begun: Any = create("kirag", OfflineModel(), kb).compile(saver, interrupt_before=["decompose_knowledge"])
    begun.invoke({"question": QUESTIONS[0]}, THREAD)
    other = builder(kb).compile(saver)

    ways: tuple[Any, ...] = (None, Command(resume="yes"))
    for resume in ways:
        with pytest.raises(ResumeError, match=says):
            other.invoke(resume, THREAD)
        with pytest.raises(ResumeError, match=says):
            await other.ainvoke(resume, THREAD)

    own = create("kirag", OfflineModel(), kb).compile(saver)
    assert (await own.ainvoke(None, THREAD))["answer"] == other.invoke({"question": QUESTIONS[0]}, THREAD)["answer"]


class AskingFirst(OfflineModel):
    """Asks a person before it answers."""

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        interrupt("May I?")
        return super()._generate(*args, **kwargs)


async def test_a_model_may_ask_a_person_before_it_answers(sample_kb: KnowledgeBase) -> None:
    graph = create("native_rag", AskingFirst(), sample_kb).compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}

    waiting = await graph.ainvoke({"question": "Who directed Nine Tides?"}, thread)
    found = await graph.ainvoke(Command(resume="yes"), thread)

    assert [asked.value for asked in waiting["__interrupt__"]] == ["May I?"]
    assert found["answer"] == "Ilse Tarrant"


async def test_of_a_run_that_has_ended_the_result_is_returned_again(kb: KnowledgeBase) -> None:
    graph = create("kirag", OfflineModel(), kb).compile(InMemorySaver())
    ended = graph.invoke({"question": QUESTIONS[0]}, THREAD)

    assert graph.invoke(None, THREAD) == ended
    assert await graph.ainvoke(None, THREAD) == ended


def test_a_thread_without_a_run_has_nothing_to_resume(kb: KnowledgeBase) -> None:
    with pytest.raises(EmptyInputError):
        create("kirag", OfflineModel(), kb).compile(InMemorySaver()).invoke(None, THREAD)


def test_a_run_whose_checkpoints_name_no_graph_is_resumed(kb: KnowledgeBase) -> None:
    saver = InMemorySaver()
    begun: Any = create("kirag", OfflineModel(), kb).compile(saver, interrupt_before=["decompose_knowledge"])
    begun.config["metadata"].clear()
    begun.invoke({"question": QUESTIONS[0]}, THREAD)

    assert create("kirag", OfflineModel(), kb).compile(saver).invoke(None, THREAD)["answer"]


def test_an_answered_plan_gets_another_reply_once_its_state_has_run_again(kb: KnowledgeBase) -> None:
    graph = create_par_rag(OfflineModel(), kb, approve_plan=True).compile(InMemorySaver())
    graph.invoke({"question": QUESTIONS[0]}, THREAD)
    graph.invoke(Command(resume=True), THREAD)
    waiting = next(state for state in graph.get_state_history(THREAD) if state.next == ("approve_plan",))

    assert graph.invoke(None, waiting.config)["__interrupt__"]
    assert graph.invoke(Command(resume=["Who directed it?"]), THREAD)["plan"][0]["question"] == "Who directed it?"
