"""The parts of the chat page: drawn evidence, the run of a question, uploaded files, controls, the command."""

import asyncio
import gc
import json
import random
import re
import shutil
import socket
import sqlite3
import sys
import tempfile
import weakref
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from fakes import ArithmeticEmbeddings, WritingModel
from langchain_core.messages import HumanMessage
from langgraph.graph import START, StateGraph

from langgraph_rag import Context, create_cirag, create_native_rag, create_par_rag, load_model
from langgraph_rag.chat import asking, evidence, serve, stored, turn, uploading
from langgraph_rag.chat.asking import Answered, Asking, Planned, Told, Written
from langgraph_rag.cli import main
from langgraph_rag.errors import (
    AddressError,
    DocumentError,
    DuplicateIdError,
    EmptyKnowledgeBaseError,
    KnowledgeBaseError,
    MissingExtraError,
)
from langgraph_rag.narration import narrate
from langgraph_rag.records import Evidence, Record
from langgraph_rag.tools.knowledge_base import KnowledgeBase

QUESTION = "Who was born first, Orla Vint or Ines Barrow?"
ASKED = {"question": QUESTION}


def piece(triple: list[str], step: int = 1, sentence: str = "A sentence.", title: str = "Title") -> Evidence:
    return Evidence(triple=triple, sentence=sentence, passage_id="p", title=title, step=step)


async def happenings(stream: Any) -> list[asking.Happening]:
    return [happening async for happening in stream]


# --- evidence --------------------------------------------------------------------------------------------------------
def rows(drawn: str) -> list[str]:
    """Return the entities and facts of a graph, a row each, indented as they hang below one another."""
    shown, depth = [], -1
    for tag, inside in re.findall(r"<(ul|/ul|li)>(.*?)(?=</?ul>|<li>|<details>|$)", drawn):
        depth += {"ul": 1, "/ul": -1}.get(tag, 0)
        words = " ".join(re.sub("<[^>]+>", " ", inside).split())
        shown += ["  " * depth + words] if words else []
    return shown


def test_below_a_fact_stand_those_of_the_entity_it_leads_to() -> None:
    found = [
        piece(["Film", "directed by", "Orla Vint"], title="Film"),
        piece(["Film", "shown in", "Corwen"], title="Film"),
        piece(["orla  vint", "born in", "Pellworth"], step=2, title="Vint"),
    ]

    drawn = evidence.drawn(found, "pellworth")

    assert rows(drawn) == [
        "Film",
        "  1 directed by Orla Vint Film",
        "    3 born in Pellworth Vint",
        "  2 shown in Corwen Film",
    ]
    assert '<mark class="entity" dir="auto">Pellworth</mark>' in drawn
    assert 'class="fact step-1" data-evidence="2" aria-label="3: orla  vint born in Pellworth"' in drawn


def test_each_step_that_found_something_has_a_colour_of_its_own() -> None:
    found = [piece(["A", "knows", "B"], step=step) for step in (7, 1, 2, 8, 11, 12, 14, 20)]

    looks = re.findall(r'class="(step-\d)">Step (\d+)', evidence.legend(found))

    assert [int(step) for _, step in looks] == [1, 2, 7, 8, 11, 12, 14, 20]
    assert len(dict(looks)) == 8


@pytest.mark.parametrize("answer", ["Zürich", "zürich."])
def test_a_circle_begins_where_the_evidence_does_and_not_at_the_answer(answer: str) -> None:
    facts = [["Café", "founded by", "Émile"], ["Émile", "mentioned in", "Café"], ["Émile", "born in", "Zürich"]]

    drawn = evidence.drawn([piece(fact) for fact in facts], answer)

    assert rows(drawn)[:2] == ["Café", "  1 founded by Émile Title"]
    assert '<mark class="entity" dir="auto">Zürich' in drawn


def test_an_entity_drawn_before_names_the_fact_where_it_stood_first() -> None:
    circle = [piece(["A", "knows", "B"]), piece(["B", "knows", "A"]), piece(["A", "is", "A"]), piece(["C", "is", "B"])]

    assert rows(evidence.drawn(circle, "")) == [
        "C",
        "  4 is B Title",
        "    2 knows A Title",
        "      1 knows B see 4 Title",
        "      3 is A see 2 Title",
    ]


def test_a_name_with_an_article_is_the_same_entity() -> None:
    drawn = rows(
        evidence.drawn([piece(["Vint", "built", "the Ost Mill"]), piece(["Ost Mill", "stands in", "Kell"])], "")
    )

    assert drawn == ["Vint", "  1 built the Ost Mill Title", "    2 stands in Kell Title"]


def test_names_that_differ_by_a_sign_are_different_entities() -> None:
    for one, other in (("C++", "C#"), ("$5", "€5"), ("100%", "100")):
        drawn = evidence.drawn([piece(["Kell", "likes", one]), piece(["Vint", "likes", other])], "")
        assert "see" not in drawn


def test_a_long_chain_goes_on_in_another_tree() -> None:
    chain = [piece([f"Town {place}", "leads to", f"Town {place + 1}"]) for place in range(8)]

    drawn = rows(evidence.drawn(chain, ""))

    assert drawn[:2] == ["Town 0", "  1 leads to Town 1 Title"]
    assert drawn[6:9] == [6 * "  " + "6 leads to Town 6 Title", "Town 6 see 6", "  7 leads to Town 7 Title"]


def test_of_many_facts_those_nearest_to_the_answer_are_seen_at_once() -> None:
    many = [piece(["Town", f"relation {place}", f"Thing {place}"]) for place in range(9)]
    many += [piece(["Isle", "has", "Town"]), piece(["Isle", "is", "Kell"]), piece(["Elsewhere", "is", "far"])]

    at_once, folded = evidence.drawn(many, "KELL").split("<summary>4 more</summary>")

    assert rows(at_once)[:3] == ["Isle", "  10 has Town Title", "    1 relation 0 Thing 0 Title"]
    assert rows(folded) == [
        "Town see 10",
        *(f"  {place} relation {place - 1} Thing {place - 1} Title" for place in (7, 8, 9)),
        "Elsewhere",
        "  12 is far Title",
    ]
    assert "<summary>" not in evidence.drawn(many[:8], "")


def test_evidence_without_a_triple_is_drawn_as_what_a_document_says() -> None:
    found = [piece([], sentence="Herons wait for fish.", title="Heron")]

    drawn = evidence.drawn(found, "fish")

    assert rows(drawn) == ["Heron", "  1 Herons wait for fish."]
    assert 'aria-label="1: Heron: Herons wait for fish."' in drawn
    assert "Heron" in evidence.listed(found)


@pytest.mark.parametrize("seed", range(30))
def test_every_fact_is_drawn_once_below_what_it_is_about(seed: int) -> None:
    chance = random.Random(seed)
    names = [f"Name {number}" for number in range(chance.randint(1, 12))]
    found = [piece([chance.choice(names), "leads to", chance.choice(names)]) for _ in range(chance.randint(1, 40))]

    above, drawn = [""], []
    for row in rows(evidence.drawn(found, chance.choice(names))):
        del above[1 + (len(row) - len(row.lstrip())) // 2 :]
        number, entity = re.findall(r"^ *(\d*).*?(Name \d+)", row)[0]
        if number:
            assert found[int(number) - 1]["triple"] == [above[-1], "leads to", entity]
            drawn.append(int(number) - 1)
        above.append(entity)

    assert sorted(drawn) == list(range(len(found)))


def test_the_number_of_a_fact_is_read_out_in_the_list_as_in_the_graph() -> None:
    listed = evidence.listed([piece(["Orla Vint", "born in", "Pellworth"])])

    assert '<span class="number">1</span>' in listed
    assert "aria-" not in listed


def test_documents_cannot_bring_markup_into_the_page() -> None:
    bad = '<img src=x onerror="alert(1)">'
    given = piece([bad, bad, bad], sentence=bad, title=bad)
    record = Record(id="p", title=bad, text=f"{bad} before. {bad}", hash="", sentences=[], phrases=[])

    for drawn in (
        evidence.drawn([given], bad),
        evidence.listed([given]),
        evidence.passage(record, given),
        evidence.drawn([piece([], sentence=bad, title=bad)], ""),
    ):
        assert "<img" not in drawn
        assert "&lt;img" in drawn


def test_evidence_from_a_passage_without_title_is_named_by_its_id() -> None:
    untitled = piece(["Kell", "is", "isle"], title="")

    assert "<bdi>p</bdi> · found in step 1" in evidence.listed([untitled])
    assert ">p<" in evidence.drawn([untitled], "")


def test_the_sentence_is_marked_in_its_passage() -> None:
    record = Record(id="p", title="", text="One. Two & more. Three.", hash="", sentences=[], phrases=[])

    assert "One. <mark>Two &amp; more.</mark> Three." in evidence.passage(record, piece([], sentence="Two & more."))
    assert "<mark>" not in evidence.passage(record, piece([], sentence="Not there."))
    assert "<mark>" not in evidence.passage(record, piece([], sentence=""))
    wrapped = Record(**{**record, "text": "One.\nTwo &\n  more. Three."})
    assert "<mark>Two &amp;\n  more.</mark> Three." in evidence.passage(wrapped, piece([], sentence="Two & more."))


# --- a question ------------------------------------------------------------------------------------------------------
async def test_steps_come_before_the_result(kb: KnowledgeBase) -> None:
    course = await happenings(Asking(create_cirag(load_model("offline"), kb), ASKED, Context(max_steps=2)).ask())

    assert isinstance(course[0], Told)
    assert isinstance(course[-1], Answered)
    assert course[-1].result["answer"] == "Orla Vint"
    assert course[-1].result["evidence"]


def test_a_text_of_several_lines_is_drawn_under_one_label() -> None:
    event = {"v": 1, "node": "think", "thought": "Two bridges:\n- Mill Bridge\n\n- Sarl <Viaduct>"}

    assert turn.drawn(narrate(event)) == (
        '<div><span>thought</span> <div dir="auto">Two bridges:</div></div>'
        '<div><span></span> <div dir="auto">- Mill Bridge</div></div>'
        '<div><span></span> <div dir="auto">- Sarl &lt;Viaduct&gt;</div></div>'
    )
    assert turn.drawn("Step 1: Who?\n  from      Kell") == (
        '<strong dir="auto">Step 1: Who?</strong><div><span>from</span> <div dir="auto">Kell</div></div>'
    )


async def test_a_plan_waits_and_goes_on_as_edited(kb: KnowledgeBase) -> None:
    question = Asking(create_par_rag(load_model("offline"), kb, approve_plan=True), ASKED, Context())

    course = await happenings(question.ask())
    assert isinstance(course[-1], Planned)
    plan = [{**course[-1].plan[0], "question": "Where was Orla Vint born?"}]
    rest = await happenings(question.resume(plan))  # type: ignore[arg-type]

    assert isinstance(rest[-1], Answered)
    assert [step["question"] for step in rest[-1].result["plan"]] == ["Where was Orla Vint born?"]


async def test_a_plan_that_cannot_be_used_waits_again_with_what_is_wrong(kb: KnowledgeBase) -> None:
    question = Asking(create_par_rag(load_model("offline"), kb, approve_plan=True), ASKED, Context(max_steps=2))

    first = (await happenings(question.ask()))[-1]
    assert isinstance(first, Planned)
    again = (await happenings(question.resume(first.plan[:1] * 3)))[-1]
    empty = (await happenings(question.resume([])))[-1]
    rest = await happenings(question.resume(first.plan[:1]))

    assert first.problem == ""
    assert again == Planned(first.plan, "expected 1 to 2 questions, got 3")
    assert empty == Planned(first.plan, "expected 1 to 2 questions, got none")
    assert isinstance(rest[-1], Answered)


async def test_what_a_model_replies_is_kept_in_the_file_given(kb: KnowledgeBase, tmp_path: Path) -> None:
    pytest.importorskip("nicegui")
    from langgraph_rag.chat.settings import Choice
    from langgraph_rag.chat.shared import Shared

    shared = Shared(kb, "cirag", "offline", tmp_path / "replies.db")
    choice = Choice("cirag", "offline", False, Context())
    course = await happenings((await shared.asking(choice, [HumanMessage(QUESTION)])).ask())

    assert isinstance(course[-1], Answered)
    with closing(sqlite3.connect(tmp_path / "replies.db")) as kept:
        assert kept.execute("SELECT count(*) FROM replies").fetchone()[0] == course[-1].result["usage"]["calls"]


async def test_a_model_is_loaded_once_before_the_page_is_served(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, localhost: None
) -> None:
    pytest.importorskip("nicegui")
    from langgraph_rag.chat import expect_servable, shared
    from langgraph_rag.chat.settings import Choice

    loaded: list[str] = []

    def noting(name: str, cache: Path) -> Any:
        loaded.append(name)
        return load_model(name, cache=cache)

    monkeypatch.setattr(shared, "load_model", noting)
    expect_servable(["offline"], tmp_path / "replies.db", "127.0.0.1", 0)
    assert loaded == ["offline"]

    of_all = shared.Shared(kb, "cirag", "offline", tmp_path / "replies.db")
    await of_all.asking(Choice("cirag", "offline", False, Context()), [])
    assert loaded == ["offline"]


async def test_an_answer_that_begins_anew_has_nothing_of_the_one_before(kb: KnowledgeBase) -> None:
    model = WritingModel.of(['{"thought": "", "answer": "Pellworth, an', '{"thought": "", "answer": "Skellby"}'])

    course = await happenings(Asking(create_native_rag(model, kb), ASKED, Context()).ask())

    written = [happening.text for happening in course if isinstance(happening, Written)]
    assert written[-1] == "Skellby"
    assert "Pellworth, an" in written
    assert not any("Pellworth" in text and "Sk" in text for text in written)


async def test_an_empty_knowledge_base_is_an_error(empty_kb: KnowledgeBase) -> None:
    with pytest.raises(EmptyKnowledgeBaseError):
        await happenings(Asking(create_cirag(load_model("offline"), empty_kb), ASKED, Context()).ask())


@dataclass
class Pebble:
    """What no graph here keeps."""

    colour: str = "grey"


async def test_an_answer_under_way_is_shown_soon_and_not_for_each_word() -> None:
    nicegui = pytest.importorskip("nicegui")
    from langgraph_rag.chat.answer import AnswerView

    def shown() -> str:
        return "".join(element.text for element in client.elements.values() if isinstance(element, nicegui.ui.label))

    with nicegui.Client(nicegui.ui.page("/")) as client:
        view = AnswerView(cast(KnowledgeBase, None), "")
    for written in ("Or", "Orla", "Orla V"):
        view.write(written)
        assert shown() == ""
    await asyncio.sleep(0.2)
    assert shown() == "Orla V"

    view.write("Orla Vint")
    view.leave_unfinished()
    assert shown() == "Orla Vint"


async def test_a_page_that_was_closed_is_not_kept(kb: KnowledgeBase) -> None:
    nicegui = pytest.importorskip("nicegui")
    from langgraph_rag.chat.page import ChatPage
    from langgraph_rag.chat.shared import Shared

    with nicegui.Client(nicegui.ui.page("/")) as client:
        page = ChatPage(Shared(kb, "cirag", "offline"))
        page.build()
    left = weakref.ref(page)
    client.delete()
    del client, page
    gc.collect()

    assert left() is None


async def test_checkpoints_of_a_question_are_read_strictly() -> None:
    graph: Any = StateGraph(dict)
    graph.add_node("keep", lambda _: {"kept": Pebble()})
    graph.add_edge(START, "keep")

    course = await happenings(Asking(graph, ASKED, Context()).ask())

    assert isinstance(course[-1], Answered)
    assert course[-1].result == {"kept": asdict(Pebble())}


# --- uploads ---------------------------------------------------------------------------------------------------------
class Upload:
    """A file as a browser sends it."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name, self._content = name, content

    async def save(self, path: str | Path) -> None:
        Path(path).write_bytes(self._content)


async def upload(kb: KnowledgeBase, name: str, *lines: dict[str, Any]) -> uploading.Progress:
    passages = await uploading.read(Upload(name, "\n".join(map(json.dumps, lines)).encode()))
    return [done async for done in uploading.update(kb, passages)][-1]


async def test_an_uploaded_file_is_known_by_its_own_name(empty_kb: KnowledgeBase) -> None:
    passages = await uploading.read(Upload("../../heron.md", b"# Grey heron\n\nHerons wait for fish."))
    progress = [done async for done in uploading.update(empty_kb, passages)]

    assert [(passage["title"], passage["source"]) for passage in passages] == [("Grey heron", "upload://heron.md")]
    assert progress == [(0, 0, 0, 0), (1, 1, 0, 0)]
    assert empty_kb.info()["passages"] == 1


async def test_quotes_in_a_name_are_read_as_browsers_write_them() -> None:
    passages = await uploading.read(Upload("the %22grey%22 heron.md", b"Herons wait for fish."))

    assert passages[0]["source"] == 'upload://the "grey" heron.md'


async def test_progress_comes_in_batches_and_known_passages_are_not_new(empty_kb: KnowledgeBase) -> None:
    lines = "".join(f'{{"id": "{number}", "text": "Passage {number} of some."}}\n' for number in range(20))
    passages = await uploading.read(Upload("some.jsonl", lines.encode()))

    first = [done async for done in uploading.update(empty_kb, passages)]
    again = [done async for done in uploading.update(empty_kb, passages)]

    assert first == [(0, 0, 0, 0), (16, 16, 0, 0), (20, 20, 0, 0)]
    assert again == [(0, 0, 0, 0), (20, 0, 0, 0)]


async def test_what_gave_no_triples_is_told_once(empty_kb: KnowledgeBase, caplog: pytest.LogCaptureFixture) -> None:
    await upload(empty_kb, "gull.jsonl", {"text": "Alas!"})

    assert caplog.text.count("gave no triples") == 1


async def test_a_file_uploaded_again_is_a_new_version_of_it(empty_kb: KnowledgeBase) -> None:
    async def versions(name: str, **texts: str) -> uploading.Progress:
        return await upload(empty_kb, name, *({"id": id_, "text": text} for id_, text in texts.items()))

    await versions("birds.jsonl", gull="Gulls nest.", tern="Terns dive.", heron="Herons wait.")
    await versions("other.jsonl", stork="Storks clatter.")

    assert await versions("birds.jsonl", gull="Gulls cry.", tern="Terns dive.", owl="Owls fly.") == (3, 2, 2, 0)
    assert texts(empty_kb) == {"Gulls cry.", "Terns dive.", "Owls fly.", "Storks clatter."}


def texts(kb: KnowledgeBase) -> set[str]:
    return {record["text"] for record in kb.passages(kb.ids())}


@pytest.mark.parametrize("source", ["docs/long.txt", "innocent.jsonl", "upload:/innocent.jsonl"])
async def test_an_upload_removes_nothing_that_was_not_uploaded(empty_kb: KnowledgeBase, source: str) -> None:
    empty_kb.add([{"text": "Gulls nest.", "source": source}], progress=False)

    assert await upload(empty_kb, "innocent.jsonl", {"text": "Terns dive.", "source": source}) == (1, 1, 0, 0)
    assert texts(empty_kb) == {"Gulls nest.", "Terns dive."}


async def test_two_uploads_that_name_one_source_both_stay_and_keep_it_as_metadata(empty_kb: KnowledgeBase) -> None:
    await upload(empty_kb, "one.jsonl", {"id": "gull", "text": "Gulls nest.", "source": "wiki", "page": 3})
    await upload(empty_kb, "two.jsonl", {"id": "tern", "text": "Terns dive.", "source": "wiki"})

    stored = {record["source"]: record.get("metadata") for record in empty_kb.passages(empty_kb.ids())}
    assert stored == {"upload://one.jsonl": {"page": 3, "source": "wiki"}, "upload://two.jsonl": {"source": "wiki"}}


async def test_one_text_of_several_sources_in_an_upload_is_one_passage(empty_kb: KnowledgeBase) -> None:
    lines = [{"text": "Gulls nest.", "source": source} for source in ("wiki", "atlas")]

    assert await upload(empty_kb, "birds.jsonl", *lines) == (1, 1, 0, 0)
    assert empty_kb.passages(empty_kb.ids())[0]["metadata"] == {"source": "wiki"}


@pytest.mark.parametrize("again", [False, True], ids=["from elsewhere", "from there and elsewhere"])
async def test_an_id_with_another_text_from_elsewhere_is_refused(empty_kb: KnowledgeBase, again: bool) -> None:
    gull = {"id": "gull", "text": "Gulls nest."}
    empty_kb.add([gull], progress=False)
    if again:
        await upload(empty_kb, "birds.jsonl", gull)

    with pytest.raises(DuplicateIdError, match=r"^birds\.jsonl: id 'gull' is already stored with another text"):
        await upload(empty_kb, "birds.jsonl", {"id": "owl", "text": "Owls fly."}, {"id": "gull", "text": "Gulls cry."})
    assert texts(empty_kb) == {"Gulls nest."}


@pytest.mark.parametrize(
    ("name", "title"),
    [("鷺" * 100 + ".txt", "鷺" * 66), ("n" * 300 + ".txt", "n" * 200), ("her\0on.txt", "heron"), ("x.txt", "x")],
    ids=["300 bytes", "300 letters", "NUL", "short"],
)
async def test_a_name_that_no_file_can_have_can_be_uploaded(empty_kb: KnowledgeBase, name: str, title: str) -> None:
    passages = await uploading.read(Upload(name, b"wait for fish, they do"))
    done = [done async for done in uploading.update(empty_kb, passages)][-1]

    assert (done.new, empty_kb.sources()) == (1, [f"upload://{name.replace(chr(0), '')}"])
    assert passages[0]["title"] == title


@pytest.mark.parametrize(
    ("name", "content"), [("a.txt", b""), ("a.txt", b"\xff\xfe\xff"), ("a.jsonl", b"[1]"), ("a.png", b"\x89PNG")]
)
async def test_a_bad_file_is_refused_by_the_name_it_came_with(name: str, content: bytes, tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=f"^{name}[:,]"):
        await uploading.read(Upload(name, content))


@pytest.mark.parametrize("name", ["..", ".", "", "/", "a." + "b" * 300, "a." + "鷺" * 100])
async def test_a_name_that_is_a_folder_or_has_a_long_ending_is_refused_as_a_kind(name: str) -> None:
    shown = re.escape(uploading.name_of(Upload(name, b"")) or "a file")

    with pytest.raises(DocumentError, match=f"^{shown}: ") as refused:
        await uploading.read(Upload(name, b"Herons wait for fish."))
    assert tempfile.gettempdir() not in str(refused.value)


class SlowUpload(Upload):
    """A file that arrives when it is let go."""

    def __init__(self, name: str, content: bytes) -> None:
        super().__init__(name, content)
        self.released = asyncio.Event()

    async def save(self, path: str | Path) -> None:
        await self.released.wait()
        await super().save(path)


async def test_what_was_chosen_before_a_stop_is_not_added_and_what_comes_after_is(empty_kb: KnowledgeBase) -> None:
    queue = pytest.importorskip("langgraph_rag.chat.upload_queue").UploadQueue(empty_kb, lambda: None)
    slow = SlowUpload("gull.md", b"Gulls cry.")
    adding = asyncio.create_task(queue.add([slow, Upload("tern.md", b"Terns dive.")]))
    await asyncio.sleep(0)

    queue.stop()
    assert str(queue.current) == "gull.md: stopping …"
    await queue.add([Upload("owl.md", b"Owls fly.")])
    slow.released.set()
    await adding

    assert [message.text for message in queue.messages] == [
        "tern.md: not added.",
        "gull.md: stopped at 0 of 1; add it again to go on.",
        "owl.md: 1 passage added.",
    ]
    assert texts(empty_kb) == {"Owls fly."}


@pytest.mark.parametrize(("made_anew", "says"), [(False, "is gone"), (True, "has been replaced")])
async def test_nothing_is_added_or_asked_once_the_folder_is_gone(
    made_anew: bool, says: str, empty_kb: KnowledgeBase
) -> None:
    shared = pytest.importorskip("langgraph_rag.chat.shared").Shared(empty_kb, "cirag", "offline")
    choice = pytest.importorskip("langgraph_rag.chat.settings").Choice("cirag", "offline", False, Context())
    passages = await uploading.read(Upload("gull.md", b"Gulls cry."))
    empty_kb.path.rename(empty_kb.path.with_name("moved"))
    if made_anew:
        KnowledgeBase.open(empty_kb.path, empty_kb.embeddings).close()

    with pytest.raises(KnowledgeBaseError, match=f"The folder of the knowledge base {says}: nothing was added"):
        [done async for done in uploading.update(empty_kb, passages)]
    with pytest.raises(KnowledgeBaseError, match=f"The folder of the knowledge base {says}: nothing was asked"):
        await shared.asking(choice, [])
    assert empty_kb.info()["passages"] == 0


# --- documents -------------------------------------------------------------------------------------------------------
def names(kb: KnowledgeBase) -> list[str]:
    return [entry.name for entry in stored.named(kb.documents())]


def document(kb: KnowledgeBase, name: str) -> stored.NamedDocument:
    return next(entry for entry in stored.named(kb.documents()) if entry.name == name)


async def test_documents_are_named_by_file_and_those_of_one_name_by_source(empty_kb: KnowledgeBase) -> None:
    sources = ["docs/gull.md", "upload://tern.md", "a/index.html", "b/index.html", "/"]
    empty_kb.add([{"text": f"Text {n}.", "source": source} for n, source in enumerate(sources)], progress=False)
    empty_kb.add([{"title": "AC/DC", "text": "A title."}, {"id": "Kell", "text": "An id."}], progress=False)

    assert names(empty_kb) == ["/", "a/index.html", "AC/DC", "b/index.html", "gull.md", "Kell", "tern.md"]


async def test_of_a_document_that_is_removed_stays_what_came_from_elsewhere_too(empty_kb: KnowledgeBase) -> None:
    await upload(empty_kb, "one.jsonl", {"text": "Gulls nest."}, {"text": "Terns dive."})
    chosen = document(empty_kb, "one.jsonl").document
    await upload(empty_kb, "two.jsonl", {"text": "Terns dive."})

    assert stored.remove(empty_kb, chosen) == (1, 1)
    assert (texts(empty_kb), names(empty_kb)) == ({"Terns dive."}, ["two.jsonl"])
    assert stored.remove(empty_kb, chosen) == (0, 0)


async def test_what_has_no_source_is_removed_by_its_title_unless_it_has_got_one(empty_kb: KnowledgeBase) -> None:
    birds = [{"title": "Birds", "text": "Gulls nest."}, {"title": "Birds", "text": "Terns dive."}]
    empty_kb.add([*birds, {"title": "Fish", "text": "Cod swim."}], progress=False)
    chosen = document(empty_kb, "Birds").document
    empty_kb.add([{**birds[0], "source": "birds.md"}], progress=False)

    assert stored.remove(empty_kb, chosen) == (1, 0)
    assert texts(empty_kb) == {"Gulls nest.", "Cod swim."}


async def test_a_document_is_removed_before_the_files_that_came_meanwhile(empty_kb: KnowledgeBase) -> None:
    await upload(empty_kb, "gull.jsonl", {"text": "Gulls nest."})
    seen: list[str] = []
    queue: Any = pytest.importorskip("langgraph_rag.chat.upload_queue").UploadQueue(
        empty_kb, lambda: seen.append(queue.under_way)
    )
    removing = asyncio.create_task(queue.remove(document(empty_kb, "gull.jsonl")))
    await asyncio.sleep(0)
    await queue.add([Upload("owl.md", b"Owls fly.")])
    await removing

    assert list(dict.fromkeys(seen))[:2] == ["gull.jsonl: removing …", "owl.md: reading …"]
    assert seen[-1] == ""
    assert [message.text for message in queue.messages] == [
        "gull.jsonl: 1 passage removed.",
        "owl.md: 1 passage added.",
    ]
    assert texts(empty_kb) == {"Owls fly."}


async def test_no_document_is_removed_while_others_are_added_or_once_the_folder_is_gone(
    empty_kb: KnowledgeBase,
) -> None:
    await upload(empty_kb, "gull.jsonl", {"text": "Gulls nest."})
    gull = document(empty_kb, "gull.jsonl")
    queue = pytest.importorskip("langgraph_rag.chat.upload_queue").UploadQueue(empty_kb, lambda: None)
    slow = SlowUpload("tern.md", b"Terns dive.")
    adding = asyncio.create_task(queue.add([slow]))
    await asyncio.sleep(0)
    await queue.remove(gull)
    slow.released.set()
    await adding
    assert [message.text for message in queue.messages] == [
        "gull.jsonl: not removed, because something is being added or removed: try again when that is done.",
        "tern.md: 1 passage added.",
    ]

    shutil.rmtree(empty_kb.path)
    await queue.remove(gull)
    assert [message.text for message in queue.messages] == [
        "The folder of the knowledge base is gone: nothing was removed. Start the page anew."
    ]
    assert texts(empty_kb) == {"Gulls nest.", "Terns dive."}


class DeadEmbeddings(ArithmeticEmbeddings):
    """Worked when the knowledge base was made, and no longer does."""

    asked = 0

    def embed_query(self, text: str) -> list[float]:
        self.asked += 1
        raise ConnectionError("no route to host")


async def test_warming_up_asks_the_embedder_and_leaves_its_trouble_to_the_question(kb: KnowledgeBase) -> None:
    shared = pytest.importorskip("langgraph_rag.chat.shared").Shared
    with KnowledgeBase.open(kb.path, embedder := DeadEmbeddings()) as other:
        await shared(other, "cirag", "offline").warm_up()
    warm = shared(kb, "cirag", "offline")
    await warm.warm_up()
    kb.close()
    await warm.warm_up()

    assert embedder.asked == 1


# --- the command -----------------------------------------------------------------------------------------------------
def test_a_port_in_use_is_told(kb: KnowledgeBase, localhost: None) -> None:
    pytest.importorskip("nicegui")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(AddressError, match=f"127.0.0.1:{port} cannot be listened on.*--port"):
            serve(kb, method="cirag", model="offline", port=port, show=False)


@pytest.mark.parametrize("wrong", [["--model", "nonsense"], ["--host", "x" * 64]])
def test_a_page_that_cannot_be_served_leaves_no_folder_behind(
    wrong: list[str], tmp_path: Path, localhost: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("nicegui")
    monkeypatch.setattr(sys, "argv", ["langgraph-rag", "chat", "--kb", str(tmp_path / "kb"), *wrong])

    with pytest.raises(SystemExit):
        main()

    assert not (tmp_path / "kb").exists()


@pytest.mark.parametrize(
    ("folders", "told"),
    [([], "in --kb or LANGGRAPH_RAG_KB, got none"), (["kb", "./kb"], "expected folders that differ")],
)
def test_the_page_needs_folders_that_differ(
    folders: list[str], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("LANGGRAPH_RAG_KB", raising=False)
    monkeypatch.setattr(sys, "argv", ["langgraph-rag", "chat", *(word for one in folders for word in ("--kb", one))])

    with pytest.raises(SystemExit):
        main()

    assert told in " ".join(capsys.readouterr().err.replace("│", " ").split())


@pytest.mark.parametrize("host", ["x\udcff", "x" * 64])
def test_a_host_that_is_no_name_is_told(kb: KnowledgeBase, localhost: None, host: str) -> None:
    pytest.importorskip("nicegui")
    with pytest.raises(AddressError, match=f"{host}:8501 cannot be listened on"):
        serve(kb, method="cirag", model="offline", host=host, port=8501, show=False)


def test_without_the_extra_its_name_is_told(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("langgraph_rag.chat.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "nicegui", None)

    with pytest.raises(MissingExtraError, match=r"langgraph-rag\[chat\]"):
        serve(kb, method="cirag", model="offline", show=False)


def test_a_numbered_plan_is_set_as_text_and_other_details_behind_their_labels() -> None:
    drawn = turn.drawn("Plan:\n  1. Who directed <Nine Tides>?\n  10. Whom did #1 marry?\n  answer    2. Kell")

    assert drawn == (
        '<strong dir="auto">Plan:</strong><p dir="auto">1. Who directed &lt;Nine Tides&gt;?</p>'
        '<p dir="auto">10. Whom did #1 marry?</p><div><span>answer</span> <div dir="auto">2. Kell</div></div>'
    )
