"""Extraction of triples: what is kept of a model's replies, which sentences support it, and failures."""

import asyncio
import json
import logging
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import ArithmeticEmbeddings, ScriptedModel
from langchain_core.runnables import RunnableLambda

from langgraph_rag.errors import BudgetReachedError, KnowledgeBaseError, ModelCallError
from langgraph_rag.nodes.extract_triples import ModelExtractor
from langgraph_rag.prompts import cirag as prompts
from langgraph_rag.records import Fact, Record
from langgraph_rag.tools.facts.extraction import (
    PlaceholderExtractor,
    Reading,
    RuleExtractor,
    TripleExtractor,
    valid_facts,
)
from langgraph_rag.tools.knowledge_base import KnowledgeBase


def record(id_: str, *sentences: str, title: str = "Halden Mill") -> Record:
    return Record(id=id_, title=title, text=" ".join(sentences), hash="", sentences=list(sentences), phrases=[])


# --- what is kept ----------------------------------------------------------------------------------------------------
def test_facts_of_three_non_empty_parts_are_kept_once_and_trimmed() -> None:
    given = [
        [" Mill ", "in", "Kell"],
        ["Mill", "in", "Kell"],
        ["Mill", "in"],
        ["a", "b", "c", "d"],
        ["Mill", " ", "Kell"],
        [],
    ]

    assert valid_facts([Fact(triple=triple, sentences=[4]) for triple in given]) == [
        Fact(triple=["Mill", "in", "Kell"], sentences=[4])
    ]


def test_a_fact_of_more_than_sixty_words_is_not_kept() -> None:
    longest = Fact(triple=["Mill", "in", " ".join(["word"] * 58)], sentences=[])

    assert valid_facts([longest, Fact(triple=["Mill", "in", " ".join(["word"] * 59)], sentences=[])]) == [longest]


# --- by rules --------------------------------------------------------------------------------------------------------
MILL = record(
    "mill",
    "The mill stands in Kell.",
    "It was built by Ada Renk in 1911.",
    "Ada Renk sold it in 1920.",
    "The buyer was Casper Holm.",
)


async def test_the_rules_read_each_passage_once() -> None:
    readings = [reading async for batch in RuleExtractor().extract([MILL, record("none")]) for reading in batch]

    assert [id_ for id_, _ in readings] == ["mill", "none"]
    assert ["Halden Mill", "stands in", "Kell"] in readings[0][1]
    assert readings[1][1] == []


# --- with a model ----------------------------------------------------------------------------------------------------
Documents = list[dict[str, str]]


def titles(values: Mapping[str, Any]) -> list[str]:
    return [passage["title"] for passage in values["passages"]]


def last_word(text: str) -> str:
    return text.split()[-1].strip(".")


class Reader:
    """Finds one thing about each title; leaves some out of its replies, and fails on them alone, for a while."""

    def __init__(self, *trouble: str) -> None:
        self.trouble = set(trouble)

    def __call__(self, prompt: str, values: Mapping[str, Any]) -> str:
        read = [
            {"passage": number, "facts": [["1", passage["title"], "ends with", last_word(passage["sentences"][-1])]]}
            for number, passage in enumerate(values["passages"], start=1)
            if passage["title"] not in self.trouble
        ]
        return json.dumps({"passages": read}) if read else "I would rather not."


ENDS = Fact(triple=["Halden Mill", "ends with", "Holm"], sentences=[0])


async def test_a_runnable_outside_a_graph_can_read_with_a_model() -> None:
    """LangChain gives it a configuration, and LangGraph nothing to go with that."""

    async def read(passage: Record) -> list[Reading]:
        extractor = ModelExtractor(ScriptedModel.of(Reader()))
        return [reading async for batch in extractor.extract([passage]) for reading in batch]

    assert await RunnableLambda(read).ainvoke(MILL) == [("mill", [ENDS])]


def test_add_reads_every_passage_with_the_model_and_again_only_what_is_new(
    tmp_path: Path, documents: Documents
) -> None:
    model = ScriptedModel.of(Reader())
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=ModelExtractor(model)) as kb:
        kb.add(documents[:6], progress=False)
        assert len(model.received) == 1

        kb.add(documents, progress=False)

        assert len(model.received) == 2
        assert kb.triples(["heron"])[0]["triple"] == ["Grey heron", "ends with", "fish"]


def test_a_passage_the_model_fails_on_is_counted_told_of_and_read_again_by_the_next_add(
    tmp_path: Path, documents: Documents, caplog: pytest.LogCaptureFixture
) -> None:
    reader = Reader("Skellby", "Pellworth")
    model = ScriptedModel.of(reader)
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=ModelExtractor(model)) as kb:
        with caplog.at_level(logging.WARNING):
            assert kb.add(documents, progress=False)["failed"] == 2
        assert kb.info()["passages_to_extract"] == 2
        assert caplog.text.count("a passage is left without triples for now: prompt 'extract_facts': scripted") == 2

        reader.trouble, model.received[:], unread = set(), [], kb.fingerprint()
        assert kb.add(documents, progress=False)["failed"] == 0

        assert kb.fingerprint() != unread
        assert len(model.received) == 1
        assert kb.triples(["skellby"])[0]["triple"] == ["Skellby", "ends with", "1802"]


class RefusedBadRequestError(Exception):
    status_code = 400


@pytest.mark.parametrize(
    "refusal", [RefusedBadRequestError("content_filter"), ValueError("This model's maximum context length is 4096")]
)
def test_a_passage_that_the_model_does_not_take_is_counted_and_passed_over(
    tmp_path: Path, documents: Documents, refusal: Exception
) -> None:
    read = Reader()
    model = ScriptedModel.of(lambda prompt, values: refusal if "Skellby" in titles(values) else read(prompt, values))
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=ModelExtractor(model)) as kb:
        assert kb.add(documents, progress=False)["failed"] == 1
        assert kb.info()["passages_to_extract"] == 1


def test_passages_without_facts_are_counted_told_of_and_not_read_again(
    tmp_path: Path, documents: Documents, caplog: pytest.LogCaptureFixture
) -> None:
    def nothing(prompt: str, values: Mapping[str, Any]) -> str:
        return json.dumps({"passages": [{"passage": 1 + n, "facts": []} for n in range(len(values["passages"]))]})

    model = ScriptedModel.of(nothing)
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=ModelExtractor(model)) as kb:
        assert kb.add(documents, progress=False)["without_triples"] == 8
        assert [message.split(" (")[0] for message in caplog.messages] == ["8 passages"]
        assert kb.add(documents, progress=False)["without_triples"] == 8
        assert kb.info()["passages_without_triples"] == 8
    assert len(model.received) == 1


def test_when_the_model_is_out_of_reach_add_fails_and_goes_on_where_it_was(
    tmp_path: Path, documents: Documents
) -> None:
    read, reachable, asked = Reader(), True, list[str]()

    def script(prompt: str, values: Mapping[str, Any]) -> str | Exception:
        asked.extend(titles(values))
        return read(prompt, values) if reachable else OSError("no route to host")

    model = ScriptedModel.of(script)
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=ModelExtractor(model)) as kb:
        kb.add(documents[:4], progress=False)
        reachable = False
        with pytest.raises(ModelCallError, match="scripted could not be asked: OSError: no route to host"):
            kb.add(documents, progress=False)
        assert (kb.info()["passages"], kb.info()["passages_to_extract"]) == (8, 4)

        reachable, asked[:] = True, []
        assert kb.add(documents, progress=False)["failed"] == 0
        assert set(asked) == {document["title"] for document in documents[4:]}
        assert kb.info()["passages_to_extract"] == 0


class Interrupted:
    """Reads one passage and no more."""

    version = "interrupted"

    async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
        yield [(passages[0]["id"], [["Orla Vint", "born in", "Pellworth"]])]
        raise ModelCallError("no route to host")


def test_an_extractor_that_was_interrupted_the_first_time_is_still_the_one_to_read_the_rest(
    tmp_path: Path, documents: Documents
) -> None:
    with (
        KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=Interrupted()) as kb,
        pytest.raises(ModelCallError),
    ):
        kb.add(documents, progress=False)

    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings()) as kb:
        assert (kb.extractor.version, kb.info()["passages_to_extract"]) == ("interrupted", 7)
        assert len(kb.triples(kb.ids())) == 1
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=RuleExtractor()) as kb:
        kb.add([], progress=False)
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings()) as kb:
        assert kb.extractor.version == RuleExtractor.version


# --- versions --------------------------------------------------------------------------------------------------------
def test_the_version_names_the_model_and_changes_with_it() -> None:
    one, other = (ModelExtractor(ScriptedModel.of([], model_name=name)).version for name in ("small", "large"))

    assert one.startswith("small-")
    assert one.split("-")[1] == other.split("-")[1]
    assert one != other


def test_the_version_changes_with_each_part_of_the_prompt() -> None:
    model, prompt = ScriptedModel.of([]), prompts.EXTRACT_FACTS
    extractors = [
        ModelExtractor(model),
        ModelExtractor(model, replace(prompt, instructions=f"{prompt.instructions} Please.")),
        ModelExtractor(model, replace(prompt, request=f"Read this. {prompt.request}")),
    ]

    assert len({extractor.version for extractor in extractors}) == 3


def test_another_version_reads_all_passages_anew_and_sees_only_its_own_triples(
    tmp_path: Path, documents: Documents
) -> None:
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings()) as kb:
        kb.add(documents, progress=False)
        by_rules = kb.triples(["skellby"])
    model = ScriptedModel.of(Reader())
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=ModelExtractor(model)) as kb:
        assert kb.info()["passages_to_extract"] == 8
        assert kb.add(documents, progress=False)["added"] == 0
        assert [entry["triple"] for entry in kb.triples(["skellby"])] == [["Skellby", "ends with", "1802"]]
        assert kb.graph.neighbours("Orla Vint") == [["Orla Vint", "ends with", "Pellworth"]]
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=RuleExtractor()) as kb:
        assert kb.triples(["skellby"]) == by_rules
        kb.delete(["skellby"])
        assert kb.triples(["skellby"]) == []


async def test_the_first_question_that_meets_unread_passages_tells_of_them_once(
    tmp_path: Path, documents: Documents, caplog: pytest.LogCaptureFixture
) -> None:
    extractor = ModelExtractor(ScriptedModel.of(Reader()))
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings()) as kb:
        kb.add(documents, progress=False)
        caplog.clear()
        await kb.atriples(["skellby"], extractor)  # as the online variant of CIRAG asks for
        assert caplog.messages == []
        kb.extractor = extractor
        await asyncio.gather(kb.atriples(["vint"]), kb.atriples(["heron"]))
        await kb.atriples([document["id"] for document in documents])

    [told] = caplog.messages
    assert re.match(rf"[67] passages not read by {extractor.version} yet", told)  # one may be read before they are told
    assert "`kb.add([])`" in told


@pytest.mark.parametrize("walk", ["search", "near entities"])
@pytest.mark.parametrize(
    ("extractor", "what_happens"),
    [(RuleExtractor(), "wait until"), (PlaceholderExtractor("llm"), "do without")],
    ids=["that will", "that is not at hand"],
)
async def test_the_first_walk_over_facts_tells_of_passages_without_them_that_an_extractor_is_to_read(
    kb: KnowledgeBase,
    caplog: pytest.LogCaptureFixture,
    extractor: TripleExtractor,
    what_happens: str,
    walk: str,
) -> None:
    with kb._records._db.change():
        kb._records._db.execute("UPDATE extractions SET extractor = 'rules-0'")  # as by earlier rules
    kb.extractor = extractor
    caplog.clear()

    await kb.arank("Orla Vint", by="hybrid")
    assert caplog.messages == []
    for _ in range(2):
        await (kb.arank("Orla Vint", by="graph") if walk == "search" else kb.anear_entities(["Orla Vint"]))

    [told] = caplog.messages
    assert told.startswith(f"8 passages not read by {extractor.version} yet") and what_happens in told


async def test_a_walk_over_all_facts_tells_nothing(kb: KnowledgeBase, caplog: pytest.LogCaptureFixture) -> None:
    caplog.clear()

    await kb.arank("Orla Vint", by="graph")

    assert caplog.messages == []


def test_an_extractor_named_like_the_rules_is_not_taken_for_them(tmp_path: Path, documents: Documents) -> None:
    own = Extractor([])
    own.version = "rules-for-law-1"
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=own) as kb:
        kb.add(documents, progress=False)

    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings()) as kb:
        assert kb.extractor.version == "rules-for-law-1"


async def test_two_callers_at_once_have_a_passage_read_once(tmp_path: Path, documents: Documents) -> None:
    model = ScriptedModel.of(Reader())
    extractor = ModelExtractor(model)
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings()) as kb:
        kb.add(documents, progress=False)
        ids = [document["id"] for document in documents]
        one, other = await asyncio.gather(kb.atriples(ids, extractor), kb.atriples(ids, extractor))

    assert one == other != []
    assert len(model.received) == 1


class PatientExtractor:
    """Reads one passage at a time, each when it is told to go on."""

    version = "patient"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.goes_on, self.error = asyncio.Event(), list[Exception]()

    async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
        for passage in passages:
            self.asked.append(passage["id"])
            await self.goes_on.wait()
            if self.error:
                raise self.error.pop()
            yield [(passage["id"], [[passage["title"], "ends with", last_word(passage["text"])]])]


async def begun(kb: KnowledgeBase, extractor: PatientExtractor, number: int) -> list["asyncio.Task[None]"]:
    """Have so many callers want the same passages read, of whom the first reads them."""
    wanted = ["skellby", "vint"]
    tasks = [asyncio.create_task(kb._reader.read_once(wanted, extractor)) for _ in range(number)]
    while not extractor.asked:
        await asyncio.sleep(0.001)
    return tasks


async def test_a_caller_who_is_called_off_disturbs_nobody(kb: KnowledgeBase) -> None:
    extractor = PatientExtractor()
    reader, given_up, other = await begun(kb, extractor, 3)

    given_up.cancel()
    await asyncio.sleep(0)
    extractor.goes_on.set()
    await asyncio.gather(reader, other)

    assert len(await kb.atriples(["skellby", "vint"], extractor)) == 2
    assert sorted(extractor.asked) == ["skellby", "vint"]


async def test_what_a_reader_who_is_called_off_leaves_unread_the_others_read(kb: KnowledgeBase) -> None:
    extractor = PatientExtractor()
    reader, *others = await begun(kb, extractor, 3)

    reader.cancel()
    extractor.goes_on.set()
    await asyncio.gather(*others)

    assert sorted(extractor.asked[1:]) == ["skellby", "vint"]
    assert len(await kb.atriples(["skellby", "vint"], extractor)) == 2
    assert len(extractor.asked) == 3


async def test_a_readers_error_is_its_own_and_the_others_read_on(kb: KnowledgeBase) -> None:
    extractor = PatientExtractor()
    reader, other = await begun(kb, extractor, 2)

    extractor.error.append(ModelCallError("no route to host"))
    extractor.goes_on.set()
    with pytest.raises(ModelCallError):
        await reader
    await other

    assert sorted(extractor.asked[1:]) == ["skellby", "vint"]


async def test_what_a_question_leaves_unread_whose_budget_is_spent_another_one_reads(kb: KnowledgeBase) -> None:
    extractor = PatientExtractor()
    reader, other = await begun(kb, extractor, 2)

    extractor.error.append(BudgetReachedError("max_model_calls", 3))
    extractor.goes_on.set()
    await asyncio.gather(reader, other)

    assert sorted(extractor.asked[1:]) == ["skellby", "vint"]
    assert len(await kb.atriples(["skellby", "vint"], extractor)) == 2


class Extractor:
    """Reads what it is made with."""

    version = "wrong"

    def __init__(self, readings: Any) -> None:
        self.readings = readings

    async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
        yield self.readings


class NotAwaited(Extractor):
    def extract(self, passages: Sequence[Record]) -> Any:
        return self.readings


@pytest.mark.parametrize(
    ("extractor", "told"),
    [
        (
            Extractor([("vint", [["Orla Vint", "director"]])]),
            r"got \['Orla Vint', 'director'\] in it for passage 'vint'",
        ),
        (
            Extractor([("vint", [["Orla", "is", None]])]),
            "got None in it for passage 'vint': Input should",
        ),
        (Extractor({"vint": []}), r"got \{'vint': \[\]\} in it: Input should be a valid list"),
        (Extractor([("nobody", [])]), "got the id 'nobody', which is none of the passages given to it"),
        (Extractor([("vint", []), ("vint", [])]), "got the id 'vint', which is none of .*, or came before"),
        (NotAwaited([("vint", [])]), r"expected readings as they are done, got \[.*: write `async def extract`"),
    ],
    ids=["two parts", "nothing", "dict", "unknown", "twice", "no coroutine"],
)
def test_an_extractor_that_returns_something_else_is_told(
    tmp_path: Path, documents: list[dict[str, str]], extractor: Any, told: str
) -> None:
    with (
        KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=extractor) as kb,
        pytest.raises(TypeError, match=told),
    ):
        kb.add(documents[:1], progress=False)


def test_of_an_extractors_triples_numbers_are_kept_as_text_and_others_than_facts_are_told(
    empty_kb: KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    empty_kb.extractor = Extractor([("vint", [["Orla Vint", "born in", 1931], ["Orla Vint", "born in", " "]])])

    empty_kb.add([{"id": "vint", "text": "Orla Vint was born in 1931."}], progress=False)

    assert [fact["triple"] for fact in empty_kb.triples(["vint"])] == [["Orla Vint", "born in", "1931"]]
    assert "1 triple left out, such as ['Orla Vint', 'born in', ' '] of passage 'vint': expected" in caplog.text


async def test_what_cannot_be_read_is_left_alone_for_a_while(
    tmp_path: Path, documents: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel.of(lambda prompt, values: "garbage")
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=ModelExtractor(model)) as kb:
        kb.add(documents[:1], progress=False)
        asked = []
        for seconds in (0.0, 0.0, 0.0, 601.0):
            later = time.monotonic() + seconds
            monkeypatch.setattr("langgraph_rag.tools.ingest.lazy_facts.time.monotonic", lambda later=later: later)
            model.received.clear()
            assert await kb.atriples(kb.ids()) == []
            asked.append(len(model.received))

    assert asked == [3, 0, 0, 3]


def test_facts_of_the_same_words_are_all_found(tmp_path: Path) -> None:
    facts = [["Ada B", "c", "d"], ["Ada", "B c", "d"], ["Ada", "B", "c d"]]
    extractor: Any = Extractor([("a", facts)])
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=extractor) as kb:
        kb.add([{"id": "a", "title": "Ada", "text": "Ada B c d."}], progress=False)

        assert [found["triple"] for found in kb.search_triples("Ada B c d", 5)] == facts


def test_an_extractor_whose_version_is_no_text_is_refused_on_opening(tmp_path: Path) -> None:
    extractor: Any = Extractor([])
    extractor.version = lambda: "1"

    with pytest.raises(TypeError, match="expected a version of the extractor as text, got <function .*: make it an at"):
        KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=extractor)


def test_what_is_no_extractor_cannot_be_set_either(empty_kb: KnowledgeBase) -> None:
    extractor: Any = "offline"

    with pytest.raises(TypeError, match="expected an extractor of triples, got 'offline'"):
        empty_kb.extractor = extractor
    with pytest.raises(TypeError, match="expected an extractor of triples, got 'offline'"):
        empty_kb.triples(["heron"], extractor=extractor)


def test_of_what_an_extractor_returns_only_valid_facts_are_kept(
    tmp_path: Path, documents: list[dict[str, str]]
) -> None:
    read = Extractor([("vint", [("Orla Vint ", "is", "director"), ["Orla Vint", "", "director"]])])
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=read) as kb:
        kb.add(documents[:1], progress=False)

        assert [entry["triple"] for entry in kb.triples(["vint"])] == [["Orla Vint", "is", "director"]]


async def test_an_extractor_whose_readings_cannot_be_stored_is_stopped(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = []

    class Endless:
        version = "endless"

        async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
            try:
                while True:
                    yield [(passages[0]["id"], [])]
            finally:
                stopped.append(True)

    def full(*_: object) -> None:
        raise KnowledgeBaseError("the disk is full")

    monkeypatch.setattr(kb._records.triples, "save", full)
    with pytest.raises(KnowledgeBaseError, match="the disk is full"):
        await kb.atriples(["heron"], Endless())
    assert stopped == [True]


# --- readings that differ --------------------------------------------------------------------------------------------
class Forgetful:
    """Reads something else each time; fails on what it is told to fail on."""

    version = "forgetful"

    def __init__(self, failing: str = "") -> None:
        self.failing, self.readings = failing, 0

    async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
        for passage in passages:
            self.readings += 1
            triples = [[passage["title"], f"has{'!' * self.readings}", "Norland"]]
            yield [] if passage["id"] == self.failing else [(passage["id"], triples)]


KELL = {"id": "kell", "title": "Kell", "text": "Kell lies in Norland."}
SUND = {"id": "sund", "title": "Sund", "text": "Sund lies in Norland."}


def test_a_reading_that_is_replaced_is_gone_with_its_vectors(tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path, ArithmeticEmbeddings(), extractor=Forgetful()) as kb:
        kb.add([KELL], progress=False)
        kb.embed_triples(progress=False)
        facts = [Fact(triple=["Kell", "has", "another"], sentences=[0])]
        assert len(kb.triples(["kell"])) == 1

        kb._records.triples.save("forgetful", [(kb.passages(["kell"])[0], facts)], [[]])

        assert kb.info()["triple_vectors"] == 0
        assert [entry["triple"] for entry in kb.triples(["kell"])] == [["Kell", "has", "another"]]


def test_the_fingerprint_tells_what_its_own_extractor_could_not_read(tmp_path: Path) -> None:
    def of(extractor: TripleExtractor, *documents: dict[str, str]) -> str:
        with KnowledgeBase.open(tmp_path, ArithmeticEmbeddings(), extractor=extractor) as kb:
            if documents:
                kb.add(documents, progress=False)
            return kb.fingerprint()

    read = of(RuleExtractor(), KELL, SUND)
    unread = of(Forgetful(failing="sund"), KELL, SUND)

    assert of(RuleExtractor()) == of(RuleExtractor(), KELL, SUND) == read
    assert of(Forgetful(failing="sund")) == of(Forgetful(failing="sund"), KELL, SUND) == unread
    assert of(Forgetful(), KELL, SUND) != unread
