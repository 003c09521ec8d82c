"""The chat page from end to end, in a headless Chromium, against `langgraph-rag chat` in its own process."""

import json
import os
import random
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
import pytest_socket

pytest.importorskip("nicegui", reason="the extra chat is not installed")
pytest.importorskip("playwright", reason="playwright is not installed")

import servers
from browser import CHROMIUM, Tab, chromium, serving, silent_port
from playwright.sync_api import (
    Browser,
    BrowserContext,
    FilePayload,
    ViewportSize,
    WebSocketRoute,
    expect,
    sync_playwright,
)

from langgraph_rag.chat.evidence import drawn
from langgraph_rag.records import Evidence
from langgraph_rag.tools.facts.extraction import PlaceholderExtractor
from langgraph_rag.tools.ingest.embeddings import MiniLMEmbeddings
from langgraph_rag.tools.knowledge_base import KnowledgeBase

QUESTION, ANSWER = "In which town was the engineer who designed the Sarl Viaduct born?", "Anstrey"
OTHER, OTHER_ANSWER = "Whom did the director of Nine Tides marry?", "Corwen Ashlade"
IMAGES = Path(__file__).parent.parent / "docs" / "images"
WIDE, NARROW = ViewportSize(width=1280, height=860), ViewportSize(width=390, height=800)
OpenTab = Callable[..., Tab]

# The lines of drawn evidence that touch what they should not, or do not lead from the box above to their own.
_ASTRAY = """() => {
    const place = element => element.getBoundingClientRect();
    const boxes = [...document.querySelectorAll('.graph .fact, .graph li > .entity')].map(place);
    const apart = (one, other) => Math.abs(one - other) > 2;
    const astray = [];
    for (const item of document.querySelectorAll('.graph ul ul > li')) {
        const above = place(item.parentElement.parentElement.firstElementChild), own = place(item.firstElementChild);
        const line = end => {
            const style = getComputedStyle(item, end), px = name => parseFloat(style[name]);
            const [left, top] = [place(item).left + px('left'), place(item).top + px('top')];
            return {left, top, right: left + px('width'), bottom: top + px('height')};
        };
        const elbow = line('::before'), down = line('::after'), before = item.previousElementSibling;
        const parts = [{...elbow, right: elbow.left}, {...elbow, top: elbow.bottom}];
        if (item.nextElementSibling) parts.push({...down, right: down.left});
        const behind = parts.some(part => boxes.some(box => part.left < box.right - 2 && part.right > box.left + 2
            && part.top < box.bottom - 2 && part.bottom > box.top + 2));
        const loose = apart(elbow.top, before ? place(before).bottom : above.bottom)
            || elbow.left < above.left || elbow.left > above.right
            || apart(elbow.right, own.left) || elbow.bottom < own.top || elbow.bottom > own.bottom
            || item.nextElementSibling && apart(down.bottom, place(item).bottom);
        if (behind || loose) astray.push([behind, loose, item.innerText]);
    }
    return astray;
}"""

pytestmark = [
    pytest.mark.usefixtures("localhost"),
    pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed (make browser installs Debian's)"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    pytest_socket.enable_socket()
    with sync_playwright() as playwright, chromium(playwright) as started:
        yield started


@pytest.fixture(scope="module")
def url(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the sample corpus; models of `vllm` never answer, and no server of `openai` is there."""
    pytest_socket.enable_socket()
    folder = tmp_path_factory.mktemp("chat") / "harbours"
    shutil.copytree(sample_folder, folder)
    with silent_port(listens=True) as silent, silent_port(listens=False) as dead:
        vllm, openai = (f"http://127.0.0.1:{port}/v1" for port in (silent, dead))
        with serving(folder, VLLM_BASE_URL=vllm, OPENAI_BASE_URL=openai, OPENAI_API_KEY="none") as url:
            yield url


class HalfAnAnswer(BaseHTTPRequestHandler):
    """Writes half an answer and goes on with nothing; the model `broken` ends there."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        delta = {"role": "assistant", "content": '{"thought": "", "answer": "Half an'}
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "choices": [{"index": 0, "delta": delta}]}
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        if asked["model"] == "broken":
            self.wfile.write(b"data: [DONE]\n\n")
        else:
            self.rfile.read(1)  # until the caller hangs up

    def log_message(self, *_: object) -> None: ...


@contextmanager
def half_an_answer() -> Iterator[str]:
    with servers.serving(ThreadingHTTPServer(("127.0.0.1", 0), HalfAnAnswer)) as server:
        yield f"http://127.0.0.1:{server.server_port}/v1"


@pytest.fixture(scope="module")
def window(browser: Browser) -> BrowserContext:
    """Hold the tabs of all tests, so that what a page is made of is loaded once."""
    return browser.new_context(viewport=WIDE)


@pytest.fixture
def open_tab(browser: Browser, window: BrowserContext) -> Iterator[OpenTab]:
    """Open tabs until the end of a test; with options, in a window of their own."""
    tabs = []

    def opened(url: str, **options: Any) -> Tab:
        tabs.append(Tab.open(browser.new_context(**{"viewport": WIDE, **options}) if options else window, url))
        return tabs[-1]

    yield opened
    for tab in tabs:
        tab.page.close()


@pytest.fixture
def tab(open_tab: OpenTab, url: str) -> Tab:
    return open_tab(url)


# --- asking ----------------------------------------------------------------------------------------------------------
def test_a_question_is_answered_with_steps_and_evidence_and_nothing_leaves_this_machine(tab: Tab) -> None:
    tab.ask(QUESTION)

    tab.page.locator(".steps li", has_text="Step 1").first.wait_for(state="attached")
    assert tab.answer() == ANSWER
    assert re.match(r"adaptive with offline · \d+ model calls?, ", tab.page.locator(".cost").inner_text())
    said = tab.page.get_by_role("status").filter(has_text="Answer: ")
    assert re.fullmatch(rf"Answer: {ANSWER} \(\d+ facts\)", said.text_content() or "")
    assert tab.page.locator(".graph mark", has_text="Anstrey").count() == 1
    tab.page.locator(".evidence button", has_text="Matthis Orvane Born in").dblclick()
    reading = tab.page.get_by_role("dialog")
    assert reading.locator("mark").inner_text().startswith("Born in Anstrey")
    assert len(reading.locator(".passage").inner_text()) > len(reading.locator("mark").inner_text())

    # an entity of the fact leads to its other facts
    reading.get_by_role("button", name="Facts about Matthis Orvane").click()

    expect(reading.get_by_role("heading", name="Facts about Matthis Orvane")).to_be_visible()
    reading.locator(".graph .fact").first.click()
    reading.locator(".passage mark").wait_for()
    assert "Matthis Orvane" in reading.inner_text()
    tab.page.keyboard.press("Escape")
    reading.wait_for(state="hidden")
    assert tab.hosts == {"127.0.0.1"}
    assert tab.troubles == []


def test_the_keyboard_is_enough(tab: Tab) -> None:
    page = tab.page
    expect(tab.box).to_be_focused()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Shift+Enter")
    assert "\n" in tab.box.input_value()
    page.keyboard.press("Enter")
    assert tab.answer() == ANSWER
    expect(tab.box).to_be_focused()

    for _ in range(60):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.dataset.evidence"):
            break
    page.keyboard.press("Enter")

    page.get_by_role("dialog").locator("mark").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="hidden")


def test_method_and_limits_are_those_chosen(tab: Tab) -> None:
    tab.choose("Method", "native_rag")
    tab.ask(QUESTION)
    tab.answer()
    steps = tab.page.locator(".steps li")
    assert steps.filter(has_text="Answering from").count() == 1
    assert steps.filter(has_text="weighed").count() == 0

    tab.choose("Method", "cirag")
    tab.unfold_limits()
    tab.page.get_by_label("Max steps").fill("1")
    tab.ask(QUESTION)
    tab.answer(1)
    steps = tab.page.locator(".turn").nth(1).locator(".steps li")
    assert steps.filter(has_text="Step 1").count() == 1
    assert steps.filter(has_text="Step 2").count() == 0


def test_a_plan_waits_to_be_edited_and_approved_and_goes_where_it_is_stopped(tab: Tab) -> None:
    tab.choose("Method", "par_rag")
    tab.page.get_by_role("switch", name="Show me the plan first").click()
    tab.ask(QUESTION)
    tab.page.locator(".plan textarea").first.wait_for()
    tab.page.get_by_role("button", name="Stop").click()
    tab.page.get_by_text("Stopped.").wait_for()
    assert tab.page.locator(".plan").count() == 0

    tab.ask(QUESTION)
    first = tab.page.locator(".plan textarea").first
    first.fill("Who directed Nine Tides?")
    for _ in range(tab.page.locator(".plan textarea").count() - 1):
        tab.page.get_by_role("button", name="Remove this question").last.click()
    expect(tab.page.locator(".plan textarea")).to_have_count(1)
    tab.page.get_by_role("button", name="Go on with this plan").click()

    tab.answer(1)
    assert tab.page.locator(".steps li", has_text="Who directed Nine Tides?").count() >= 1
    assert tab.page.locator(".plan").count() == 0


def test_a_plan_that_cannot_be_used_opens_again_as_edited_with_what_is_wrong(tab: Tab) -> None:
    tab.choose("Method", "par_rag")
    tab.page.get_by_role("switch", name="Show me the plan first").click()
    tab.unfold_limits()
    tab.page.get_by_label("Max steps").fill("1")
    tab.ask(QUESTION)
    questions = tab.page.locator(".plan textarea")
    questions.first.fill("Who directed Nine Tides?")
    tab.page.get_by_role("button", name="Add a question").click()
    expect(tab.page.get_by_label("Question 2", exact=True)).to_be_focused()
    tab.page.keyboard.type("And whom did he marry?")
    tab.page.get_by_role("button", name="Go on with this plan").click()

    assert tab.alert() == "This plan cannot be used: expected 1 question, got 2."
    expect(tab.page.locator(".plan .alert")).to_be_in_viewport()
    expect(tab.page.get_by_label("Question 1", exact=True)).to_be_focused()
    assert [box.input_value() for box in questions.all()] == ["Who directed Nine Tides?", "And whom did he marry?"]
    tab.page.get_by_role("button", name="Remove this question").first.click()
    expect(tab.page.get_by_label("Question 1", exact=True)).to_have_value("And whom did he marry?")
    expect(tab.page.get_by_role("button", name="Remove this question")).to_be_focused()
    tab.page.get_by_role("button", name="Go on with this plan").click()
    tab.answer()
    assert tab.page.locator(".plan").count() == 0


def test_two_tabs_ask_at_once(open_tab: OpenTab, url: str) -> None:
    one, two = open_tab(url), open_tab(url)
    one.ask(QUESTION)
    two.ask(OTHER)

    assert (one.answer(), two.answer()) == (ANSWER, OTHER_ANSWER)
    assert [tab.page.locator(".turn").count() for tab in (one, two)] == [1, 1]


def test_a_question_can_be_stopped_and_another_asked(tab: Tab) -> None:
    expect(tab.page.get_by_text("offline is no language model")).to_be_visible()
    tab.page.get_by_label("Model", exact=True).fill("vllm:silent")
    expect(tab.page.get_by_text("offline is no language model")).to_be_hidden()
    tab.ask(QUESTION)
    tab.page.locator(".steps li").first.wait_for()

    tab.page.get_by_role("button", name="Stop").click()

    tab.page.get_by_text("Stopped.").wait_for()
    tab.page.get_by_label("Model", exact=True).fill("offline")
    tab.ask(QUESTION)
    assert tab.answer(1) == ANSWER


def test_a_tab_that_was_cut_off_for_a_while_goes_on_as_it_was(tab: Tab) -> None:
    tab.choose("Method", "native_rag")
    tab.ask(QUESTION)
    tab.answer()

    tab.page.evaluate("""() => {
        const manager = window.socket.io;
        manager.randomizationFactor(0); manager.reconnectionDelay(6000); manager.reconnectionDelayMax(6000);
        manager.engine.close();
    }""")
    tab.page.wait_for_function("!window.socket.connected")
    tab.page.wait_for_function("window.socket.connected")

    tab.ask(OTHER)
    tab.answer(1)
    assert tab.page.locator(".steps li", has_text="Answering from").count() == 2
    assert tab.page.locator(".question").all_inner_texts() == [QUESTION, OTHER]


def test_a_draft_outlives_a_reload(tab: Tab) -> None:
    tab.box.fill(QUESTION)
    tab.page.reload()
    expect(tab.box).to_have_value(QUESTION)
    tab.page.get_by_role("button", name="Ask", exact=True).click()
    assert tab.answer() == ANSWER
    tab.page.reload()
    tab.page.get_by_text("Ask your documents").wait_for()
    expect(tab.box).to_have_value("")


def test_a_question_under_way_is_in_the_box_after_a_reload(tab: Tab) -> None:
    tab.page.get_by_label("Model", exact=True).fill("vllm:silent")
    tab.ask(QUESTION)
    tab.page.locator(".turn.running").get_by_text("Working").wait_for()
    tab.page.reload()
    expect(tab.box).to_have_value(QUESTION)


def test_what_was_chosen_outlives_a_reload(open_tab: OpenTab, url: str) -> None:
    tab = open_tab(url, color_scheme="light")
    look = "document.body.classList.contains('body--dark')"
    tab.choose("Method", "par_rag")
    tab.page.get_by_role("switch", name="Show me the plan first").click()
    tab.page.get_by_label("Model", exact=True).fill("vllm:mine")
    tab.unfold_limits()
    tab.page.get_by_label("Max model calls").fill("7")
    tab.page.get_by_role("button", name="Switch between light and dark").click()
    before = tab.page.evaluate(look)
    tab.page.wait_for_function("JSON.parse(sessionStorage.chosen ?? '{}').max_model_calls === 7")

    tab.page.reload()

    expect(tab.page.get_by_label("Model", exact=True)).to_have_value("vllm:mine")
    expect(tab.page.get_by_role("switch", name="Show me the plan first")).to_be_checked()
    tab.unfold_limits()
    expect(tab.page.get_by_label("Max model calls")).to_have_value("7")
    assert tab.page.evaluate(look) == before


def test_a_question_of_several_lines_is_shown_as_it_was_written_and_one_empty_or_too_long_is_told(tab: Tab) -> None:
    tab.ask("   ")
    assert tab.alert() == "The question is empty: write one first."
    assert tab.page.locator(".turn").count() == 0

    tab.ask("Which of these died later?\nIlse Tarrant\nTobin Grell")
    tab.answer()
    assert tab.page.locator(".question").first.evaluate("title => title.offsetHeight") > 60

    tab.ask("Who? " * 1_000)
    assert tab.alert() == "The question is too long: 4,999 characters, of at most 4,000."
    assert tab.page.locator(".turn").count() == 1


def test_a_second_click_does_not_do_the_opposite(tab: Tab) -> None:
    tab.page.get_by_label("Model", exact=True).fill("vllm:silent")
    tab.box.fill(QUESTION)
    tab.click_twice("Ask")
    tab.page.locator(".steps li").first.wait_for()
    assert tab.page.get_by_text("Stopped.").count() == 0

    tab.box.fill("A draft")
    tab.click_twice("Stop")
    tab.page.get_by_text("Stopped.").wait_for()
    expect(tab.page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
    assert (tab.page.locator(".turn").count(), tab.box.input_value()) == (1, "A draft")


def test_one_question_at_a_time_and_the_next_one_stays_in_the_box(tab: Tab) -> None:
    tab.page.get_by_label("Model", exact=True).fill("vllm:silent")
    tab.ask(QUESTION)
    tab.page.locator(".steps li").first.wait_for()

    tab.ask(OTHER)

    assert tab.alert() == "One question at a time: wait for the answer, or stop it."
    assert (tab.page.locator(".turn").count(), tab.box.input_value()) == (1, OTHER)


def test_half_an_answer_is_not_shown_as_one(open_tab: OpenTab, sample_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(sample_folder, tmp_path / "kb")
    with half_an_answer() as address, serving(tmp_path / "kb", VLLM_BASE_URL=address) as url:
        tab = open_tab(url)
        tab.choose("Method", "native_rag")
        tab.page.get_by_label("Model", exact=True).fill("vllm:broken")
        tab.ask(QUESTION)
        assert "broken gave no usable reply" in tab.alert()
        assert tab.page.locator(".answer:visible").count() == 0

        tab.page.get_by_label("Model", exact=True).fill("vllm:hanging")
        tab.page.get_by_role("button", name="Ask again").click()
        written = tab.page.locator(".answer:visible")
        expect(written).to_have_text("Half an")
        expect(written).to_have_attribute("aria-busy", "true")
        tab.page.get_by_role("button", name="Stop").click()
        tab.page.locator(".unfinished").wait_for()
        assert tab.page.locator(".question").all_inner_texts() == [QUESTION, QUESTION]


def test_a_question_may_lean_on_the_one_before(tab: Tab) -> None:
    tab.ask("Who directed Nine Tides?")
    assert tab.answer() == "Ilse Tarrant"

    tab.ask("And whom did she marry?")

    assert tab.answer(1) == "Corwen Ashlade"
    turn = tab.page.locator(".turn").nth(1)
    expect(turn.locator(".restated")).to_have_text("Understood as: Whom did Ilse Tarrant marry?")
    expect(turn.locator(".steps")).not_to_contain_text("Understood as")


def test_one_of_several_knowledge_bases_is_chosen_on_the_page(
    open_tab: OpenTab, sample_folder: Path, tmp_path: Path
) -> None:
    with KnowledgeBase.open(tmp_path / "mills") as mills:
        mills.add([{"title": "Ferrow Mill", "text": "Ferrow Mill was built by Ada Renk."}], progress=False)
    with serving(sample_folder, "--kb", str(tmp_path / "mills")) as url:
        tab = open_tab(url)
        choice = tab.page.get_by_role("combobox", name="Knowledge base")
        expect(tab.page.locator(".counts")).to_contain_text(f"{sample_folder.name}:")
        choice.click()
        tab.page.get_by_role("option", name="mills").click()

        expect(tab.page.locator(".counts")).to_contain_text("mills: 1 passage")
        tab.ask("Who built Ferrow Mill?")
        assert tab.answer() == "Ada Renk"
        choice.click()
        tab.page.get_by_role("option", name=sample_folder.name).click()
        expect(tab.page.locator(".counts")).to_contain_text(f"{sample_folder.name}:")
        tab.ask(QUESTION)
        assert tab.answer() == ANSWER
        assert tab.troubles == []


def test_a_reader_who_scrolled_up_is_left_there_and_keeps_the_focus(tab: Tab) -> None:
    for place in range(2):
        tab.ask(QUESTION)
        tab.answer(place)
    tab.page.get_by_label("Model", exact=True).fill("vllm:silent")
    tab.ask(QUESTION)
    tab.page.locator(".turn.running").get_by_text("Working").wait_for()
    tab.page.wait_for_function("scrollY + innerHeight >= document.documentElement.scrollHeight - 1")

    tab.page.locator(".question").last.hover()
    tab.page.mouse.wheel(0, -10_000)
    tab.page.wait_for_function("scrollY === 0")
    tab.unfold_limits()
    tab.page.get_by_label("Top k").focus()
    tab.page.evaluate("document.querySelector('[aria-label=Stop]').click()")

    tab.page.get_by_text("Stopped.").wait_for()
    tab.page.wait_for_timeout(300)  # what it would take to scroll
    assert tab.page.evaluate("scrollY") == 0
    expect(tab.page.get_by_label("Top k")).to_be_focused()


def test_a_refusal_says_so_and_folds_what_was_found(tab: Tab) -> None:
    tab.ask("What was the name of the mother of the composer who wrote the music for Nine Tides?")

    assert tab.answer() == "The documents do not say."
    assert "from none" not in tab.page.locator(".cost").inner_text()
    assert "bears this out" not in tab.page.locator(".outcome").inner_text()  # a refusal needs no support
    assert not tab.page.locator(".evidence").is_visible()
    tab.page.get_by_text("What was found on the way").click()
    tab.page.locator(".evidence button").first.wait_for()


# --- errors ----------------------------------------------------------------------------------------------------------
def test_where_a_limit_left_no_room_to_ask_the_page_puts_no_words_into_the_models_mouth(tab: Tab) -> None:
    tab.unfold_limits()
    tab.page.get_by_label("Max tokens").fill("10")
    tab.ask(QUESTION)

    assert tab.answer() == "No answer within the limits."
    assert tab.page.get_by_text("In the model's words").count() == 0


def test_what_cannot_be_done_is_told(tab: Tab) -> None:
    tab.unfold_limits()
    for label, value, expected in (
        ("Model", "openai:gpt", "gpt could not be asked"),
        ("Model", "nobody", "unknown model 'nobody'"),
        ("Top k", "2.5", "Top k: Input should be a valid integer"),
    ):
        before = tab.page.get_by_role("button", name="Ask again").count()
        tab.page.get_by_label(label, exact=True).fill(value)
        tab.ask(QUESTION)

        tab.page.get_by_role("alert").filter(has_text=expected, visible=True).last.wait_for()
        assert tab.page.locator(".answer:visible").count() == 0
        again = tab.page.get_by_role("button", name="Ask again").count() - before
        assert (tab.box.input_value(), again) in [(QUESTION, 0), ("", 1)]


def test_an_empty_knowledge_base_says_so_takes_documents_and_answers(open_tab: OpenTab, tmp_path: Path) -> None:
    (tmp_path / "heron.md").write_text("# Grey heron\n\nThe grey heron was described by Linnaeus in 1758.")
    (tmp_path / "broken.txt").write_bytes(b"\xff\xfe\xff")
    (tmp_path / "lines.jsonl").write_text("one\ntwo\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    with serving(tmp_path / "new") as url:
        tab, other = open_tab(url), open_tab(url)
        tab.page.get_by_text("No documents yet").wait_for()
        tab.ask(QUESTION)
        assert tab.alert() == "There are no documents to answer from yet."
        assert not tab.page.locator(".steps").is_visible()

        names = ("broken.txt", "lines.jsonl", "picture.png")
        tab.page.set_input_files("input[type=file]", [tmp_path / name for name in names])
        for expected in ("broken.txt: expected UTF-8", "picture.png: expected files ending in .csv, .docx, .eml, .htm"):
            tab.page.get_by_role("alert").filter(has_text=expected).wait_for()
        problems = tab.page.get_by_role("alert").filter(has_text="lines.jsonl, line 2").inner_text().splitlines()
        assert [line.split(":")[0] for line in problems] == [
            "lines.jsonl, line 1",
            "lines.jsonl, line 2",
            "Nothing of this file was added.",
        ]
        with tab.page.expect_file_chooser() as chooser:
            tab.page.get_by_role("button", name="Add documents").click()
        chooser.value.set_files(tmp_path / "heron.md")
        tab.page.get_by_text("heron.md: 1 passage added.").wait_for()
        assert tab.page.locator(".uploads .alert").count() == 0

        for each in (tab, other):
            each.page.get_by_text("new: 1 passage ·").wait_for()
        tab.ask("Who described the grey heron?")
        tab.answer(1)
        assert tab.page.locator(".evidence button", has_text="Linnaeus").count() >= 1

        (tmp_path / "heron.md").write_text("# Grey heron\n\nThe grey heron was described in 1758.")
        tab.page.set_input_files("input[type=file]", tmp_path / "heron.md")
        tab.page.get_by_text("heron.md: 1 passage added, 1 of earlier versions removed.").wait_for()
        assert tab.troubles == other.troubles == []


def test_it_is_told_when_the_model_that_reads_facts_is_not_at_hand(open_tab: OpenTab, tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path / "new", extractor=PlaceholderExtractor("llm:served")) as kb:
        kb.add([{"id": "heron", "text": "Herons wait for fish."}], progress=False)
    (tmp_path / "tern.md").write_text("# Arctic tern\n\nTerns dive for fish.")
    with serving(tmp_path / "new") as url:
        tab = open_tab(url)
        tab.page.set_input_files("input[type=file]", tmp_path / "tern.md")

        tab.page.get_by_text("No facts yet out of 2 passages, which can be found all the same: llm:served").wait_for()
        assert tab.troubles == []


def hold_back(passage: str, released: Path) -> None:
    """Have whatever holds a passage embedded only once a file is there."""
    embed = MiniLMEmbeddings.embed_documents

    def embed_in_time(self: MiniLMEmbeddings, texts: list[str]) -> list[list[float]]:
        while any(passage in text for text in texts) and not released.exists():
            time.sleep(0.01)
        return embed(self, texts)

    pytest.MonkeyPatch().setattr(MiniLMEmbeddings, "embed_documents", embed_in_time)


def test_documents_are_added_from_an_empty_page_and_can_be_asked_meanwhile(open_tab: OpenTab, tmp_path: Path) -> None:
    towns = [{"id": f"{n}", "text": f"Town {n} was founded by Person {n} in {1200 + n}."} for n in range(80)]
    (tmp_path / "towns.jsonl").write_text(
        "\n".join(json.dumps({"title": f"Town {town['id']}", **town}) for town in towns)
    )
    held = partial(hold_back, "Town 79", tmp_path / "released")
    with serving(tmp_path / "new", prepare=held) as url:
        tab = open_tab(url, viewport=NARROW)
        with tab.page.expect_file_chooser() as chooser:
            tab.page.locator(".welcome").get_by_role("button", name="Add documents").click()
        chooser.value.set_files(tmp_path / "towns.jsonl")

        counts = tab.page.locator(".counts")
        expect(counts).to_have_text(re.compile(r"new: [1-9]\d* passages · \d+ facts · adding …"))
        tab.page.get_by_role("button", name="Close").click()
        tab.ask("Who founded Town 3?")
        tab.page.get_by_text("Documents are still being added").wait_for()
        assert tab.answer() == "Person 3"
        tab.page.get_by_role("button", name="Settings and documents").click()
        (tmp_path / "released").touch()
        expect(counts).to_have_text(re.compile(r"new: 80 passages · [\d,]+ facts$"))
        tab.page.get_by_text("towns.jsonl: 80 passages added.").wait_for()
        expect(tab.page.get_by_text("Documents are still being added")).to_have_count(0)
        assert tab.page.get_by_text("of 80 passages").count() == 0
        assert tab.troubles == []


def test_adding_is_seen_and_stopped_on_every_page_and_taken_up_again(open_tab: OpenTab, tmp_path: Path) -> None:
    towns = [{"id": str(n), "text": f"Town {n} is old.{' Old.' * (60 - n)}"} for n in range(40)]
    (tmp_path / "towns.jsonl").write_text("\n".join(map(json.dumps, towns)))
    with serving(tmp_path / "new", prepare=partial(hold_back, "Town 0", tmp_path / "released")) as url:
        tab, other = open_tab(url), open_tab(url)
        tab.page.set_input_files("input[type=file]", tmp_path / "towns.jsonl")
        tab.page.get_by_text("towns.jsonl: 0 of 40 passages …").wait_for()
        assert tab.drop("tern.md", "Terns dive for fish.")
        tab.page.get_by_text("tern.md: waiting …").wait_for()
        tab.page.reload()
        for each in (tab, other):
            expect(each.page.get_by_role("progressbar", name="Documents added")).to_be_visible()
            each.page.get_by_text("towns.jsonl: 0 of 40 passages …").wait_for()
            each.page.get_by_text("tern.md: waiting …").wait_for()
        other.page.get_by_role("button", name="Stop adding").click()
        tab.page.get_by_text("tern.md: not added.").wait_for()
        tab.page.get_by_text("towns.jsonl: stopping …").wait_for()
        expect(tab.page.get_by_role("button", name="Stop adding")).to_be_disabled()
        assert tab.drop("owl.md", "Owls hunt mice.")
        tab.page.get_by_text("owl.md: waiting …").wait_for()
        (tmp_path / "released").touch()

        for each in (tab, other):
            each.page.get_by_text("towns.jsonl: stopped at 16 of 40; add it again to go on.").wait_for()
            each.page.get_by_text("owl.md: 1 passage added.").wait_for()
            expect(each.page.get_by_role("button", name="Stop adding")).to_be_hidden()
        with tab.page.expect_file_chooser() as chooser:
            tab.page.locator(".q-drawer").get_by_role("button", name="Add documents").click()
        chooser.value.set_files(tmp_path / "towns.jsonl")
        tab.page.get_by_text("towns.jsonl: 24 passages added, 16 there already.").wait_for()
        assert tab.troubles == []


def hold_back_and_forget(passage: str, released: Path, told: Path) -> None:
    """Hold a passage back, forget at once the tabs that are closed, and write into a file what the server tells."""
    hold_back(passage, released)
    pytest.MonkeyPatch().setattr("langgraph_rag.chat.server._KEPT_FOR", 0.1)
    os.dup2(os.open(told, os.O_WRONLY | os.O_CREAT), sys.stderr.fileno())


def test_files_that_are_dropped_are_added_in_turn_and_never_opened_in_place_of_the_page(
    open_tab: OpenTab, tmp_path: Path
) -> None:
    KnowledgeBase.open(tmp_path / "kb").close()
    with serving(tmp_path / "kb", "--no-upload") as closed:
        tab = open_tab(closed)
        assert tab.drop("tern.md", "Terns dive for fish.")
        tab.page.get_by_text("There is nothing to ask yet: whoever runs this page adds the documents.").wait_for()
    released, told = tmp_path / "released", tmp_path / "told"
    with serving(tmp_path / "new", prepare=partial(hold_back_and_forget, "Gulls", released, told)) as url:
        tab, closed_soon = open_tab(url), open_tab(url)
        assert closed_soon.drop("gull.md", "Gulls cry.")
        expect(tab.page.get_by_role("progressbar", name="Documents added")).to_be_visible()
        assert closed_soon.drop("tern.md", "Terns dive for fish.")
        for each in (tab, closed_soon):
            each.page.get_by_text("tern.md: waiting …").wait_for()
            each.page.get_by_text("gull.md: 0 of 1 passage …").wait_for()

        closed_soon.page.close()
        tab.page.wait_for_timeout(500)
        released.touch()
        for name in ("gull.md", "tern.md"):
            tab.page.get_by_text(f"{name}: 1 passage added.").wait_for()
        expect(tab.page.get_by_role("progressbar", name="Documents added")).to_be_hidden()
        expect(tab.page.locator(".counts")).to_have_text(re.compile(r"new: 2 passages · \d facts?$"))
        assert "is still being used" not in told.read_text()


def test_an_upload_is_told_of_whatever_its_name_and_whatever_goes_wrong(open_tab: OpenTab, tmp_path: Path) -> None:
    with serving(tmp_path / "new") as url:
        tab = open_tab(url)
        for name in ("鷺" * 100 + ".txt", "n" * 300 + ".txt"):
            file = FilePayload(name=name, mimeType="text/plain", buffer=f"{name} is a name.".encode())
            with tab.page.expect_request("**/upload/*") as uploaded:
                tab.page.set_input_files("input[type=file]", [file])
            tab.page.get_by_text(f"{name}: 1 passage added.").wait_for()

        file["name"] = f"no.{name}"[:300]  # which the page would not send: no file is of such a kind
        tab.page.request.post(uploaded.value.url, multipart={"file": file})
        assert tab.alert().startswith(file["name"])
        assert tab.alert().endswith("Nothing of this file was added.")
        assert tab.page.get_by_text("reading …").count() == 0

        tab.page.route("**/upload/*", lambda route: route.fulfill(status=413))
        file["name"] = "tern.txt"
        tab.page.set_input_files("input[type=file]", [file])
        tab.page.get_by_text("tern.txt: the upload failed; try again, or with fewer at once.").wait_for()
        tab.page.unroute("**/upload/*")
        tab.page.set_input_files("input[type=file]", [file])
        tab.page.get_by_text("tern.txt: 1 passage added.").wait_for()


def test_documents_are_listed_and_filtered_and_once_that_is_confirmed_removed(
    open_tab: OpenTab, tmp_path: Path
) -> None:
    with KnowledgeBase.open(tmp_path / "kb") as kb:
        many = [{"text": f"Town {n} is old.", "source": f"docs/town {n}.txt"} for n in range(210)]
        bad = {"text": "Gulls were described by Linnaeus.", "source": "upload://<b>gull.txt"}
        kb.add([*many, bad, {**bad, "text": "Gulls cry."}], progress=False)
    with serving(tmp_path / "kb") as url:
        other, tab = open_tab(url), open_tab(url)
        tab.choose("Method", "native_rag")
        tab.ask("Who described gulls?")
        tab.answer()
        for each in (tab, other):
            each.page.get_by_text("Show documents").click()
            expect(each.page.get_by_text("211 documents", exact=True)).to_be_visible()
        listed = tab.page.locator(".documents li")
        expect(listed).to_have_count(200)
        expect(tab.page.get_by_text("11 more: filter by name to see them.")).to_be_visible()

        tab.page.get_by_label("Filter by name").fill("GULL")
        expect(tab.page.get_by_text("1 of 211 documents", exact=True)).to_be_visible()
        expect(listed).to_have_text(["<b>gull.txt 2 passagesRemove"])
        remove = listed.get_by_role("button", name="Remove <b>gull.txt")
        remove.press("Enter")
        asked = tab.page.get_by_role("dialog", name="Remove a document")
        expect(asked).to_contain_text("Remove <b>gull.txt, 2 passages? This cannot be undone.")
        expect(asked.get_by_role("button", name="Cancel")).to_be_focused()
        tab.page.keyboard.press("Escape")
        asked.wait_for(state="hidden")
        expect(remove).to_be_focused()
        assert (tab.nameless(), tab.faint()) == ([], [])

        remove.press("Enter")
        asked.get_by_role("button", name="Remove").press("Enter")
        for each in (tab, other):
            each.page.get_by_text("<b>gull.txt: 2 passages removed.").wait_for()
            expect(each.page.locator(".counts")).to_have_text(re.compile("kb: 210 passages"))
        expect(tab.page.get_by_text("0 of 210 documents")).to_be_visible()
        expect(other.page.get_by_text("210 documents", exact=True)).to_be_visible()
        assert tab.page.evaluate("document.activeElement.matches(':has(> .documents)')")
        tab.page.locator(".evidence button", has_text="Linnaeus").first.click()
        tab.page.get_by_text("The passage is no longer in the knowledge base.").wait_for()
        assert tab.troubles == other.troubles == []


# --- what others may do ----------------------------------------------------------------------------------------------
def test_the_page_is_refused_under_a_name_that_is_not_its_own(url: str) -> None:
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "A" * 22 + "==",
    }

    def status(path: str, host: str, **headers: str) -> int:
        with closing(HTTPConnection(urlsplit(url).netloc)) as connection:
            connection.request("GET", path, headers={"Host": host, **headers})
            return connection.getresponse().status

    socket_path = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    assert [status("/", host) for host in ("localhost", "evil.example")] == [200, 403]
    assert [status(socket_path, host, **upgrade) for host in ("localhost", "evil.example")] == [101, 403]


def test_only_the_models_named_can_be_chosen_and_no_documents_added(
    open_tab: OpenTab, sample_folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(sample_folder, tmp_path / "kb")
    options = ["--only-model", "vllm:small", "--no-upload", "--allow-host", "rag.example"]
    with serving(tmp_path / "kb", *options, VLLM_BASE_URL="http://127.0.0.1:9/v1") as url:
        tab = open_tab(url)
        assert tab.page.locator("input[type=file]").count() == 0
        assert tab.page.get_by_role("button", name="Add documents").count() == 0
        tab.page.get_by_text("Show documents").click()
        tab.page.locator(".documents li").first.wait_for()
        assert tab.page.get_by_role("button", name="Remove").count() == 0

        tab.page.get_by_role("combobox", name="Model").click()
        tab.page.get_by_role("option", name="offline").wait_for()
        assert tab.page.get_by_role("option").all_inner_texts() == ["offline", "vllm:small"]
        tab.page.get_by_role("option", name="offline").click()
        tab.ask(QUESTION)
        assert tab.answer() == ANSWER


# --- for everyone ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_control_has_a_name_and_every_text_stands_out(open_tab: OpenTab, url: str, scheme: str) -> None:
    tab = open_tab(url, color_scheme=scheme)
    assert tab.page.title() == "harbours · langgraph_rag"
    assert tab.page.locator("html").get_attribute("lang") == "en-US"
    tab.unfold_limits()
    assert (tab.nameless(), tab.faint()) == ([], [])

    tab.ask(QUESTION)
    tab.answer()
    tab.page.locator(".steps .q-item").click()
    tab.page.locator(".steps li").first.wait_for()
    assert (tab.nameless(), tab.faint()) == ([], [])

    tab.page.locator(".evidence button").first.press("Enter")  # a click would miss it: the steps still unfold
    tab.page.get_by_role("dialog").locator("mark").wait_for()
    assert (tab.nameless(), tab.faint()) == ([], [])
    assert tab.troubles == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_with_forced_colours_steps_and_entities_are_still_told_apart(
    open_tab: OpenTab, url: str, scheme: Literal["light", "dark"]
) -> None:
    tab = open_tab(url, forced_colors="active", color_scheme=scheme)
    tab.ask(QUESTION)
    tab.answer()

    assert tab.faint() == []
    looks = tab.page.evaluate("""() => [
        [...document.querySelectorAll('.legend li')].map(entry => getComputedStyle(entry, '::before').backgroundColor),
        [...document.querySelectorAll('.graph b.entity')].map(entity => getComputedStyle(entity).borderTopColor),
        getComputedStyle(document.body).backgroundColor,
    ]""")
    dots, borders, paper = looks
    assert len({paper, *dots}) == 1 + len(dots)
    assert not {paper, "rgba(0, 0, 0, 0)"} & set(borders)


def test_what_has_the_focus_is_seen(tab: Tab) -> None:
    tab.ask(QUESTION)
    tab.answer()
    for lines in (1, 12):
        tab.page.get_by_role("textbox", name="Question").fill("\n".join("and?" for _ in range(lines)))
        tab.page.wait_for_timeout(700)  # the steps fold
        tab.page.locator(".steps .q-item").focus()
        of_text = 0
        tab.page.keyboard.press("Tab")
        while not tab.page.evaluate("document.activeElement.closest('footer') !== null"):
            seen = """() => {
                const {top, bottom} = document.activeElement.getBoundingClientRect();
                const edge = name => document.querySelector(name).getBoundingClientRect();
                return top >= edge('header').bottom && bottom <= edge('footer').top;
            }"""
            assert tab.page.evaluate(seen)
            of_text += 1
            tab.page.keyboard.press("Tab")
        assert of_text > 3
    ask = tab.page.get_by_role("button", name="Ask", exact=True)
    ask.focus()
    expect(ask).not_to_have_css("box-shadow", "none")


def test_light_and_dark_can_be_switched_for_all_tabs(open_tab: OpenTab, url: str) -> None:
    tab = open_tab(url, color_scheme="light")
    before = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
    tab.page.get_by_role("button", name="Switch between light and dark").click()

    tab.page.locator("body.body--dark").wait_for()
    assert tab.page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    other = Tab.open(tab.page.context, url).page
    other.locator("body.body--dark").wait_for()
    other.close()


def test_settings_that_cover_a_small_window_can_be_closed_by_touch(browser: Browser, url: str) -> None:
    with browser.new_context(viewport=ViewportSize(width=320, height=640), has_touch=True) as window:
        page = Tab.open(window, url).page
        page.get_by_role("button", name="Settings and documents").tap()
        page.get_by_text("How to answer").wait_for()
        close = page.get_by_role("button", name="Close")
        expect(close).to_be_focused()
        close.tap()
        page.get_by_text("How to answer").wait_for(state="hidden")


def test_what_settings_cover_in_a_small_window_cannot_have_the_focus(open_tab: OpenTab, url: str) -> None:
    page = open_tab(url, viewport=NARROW).page
    menu, close = page.get_by_role("button", name="Settings and documents"), page.get_by_role("button", name="Close")
    menu.press("Enter")
    expect(close).to_be_focused()
    for _ in range(40):
        page.keyboard.press("Tab")
        assert not page.evaluate("document.activeElement.closest('header, footer, .q-page-container') !== null")
    page.mouse.click(380, 400)
    expect(menu).to_be_focused()

    menu.press("Enter")
    expect(close).to_be_focused()
    page.set_viewport_size(WIDE)
    ask = page.get_by_role("textbox", name="Question")
    ask.fill("It can be written again.")
    expect(ask).to_be_focused()


def test_a_narrow_window_shows_everything_without_scrolling_sideways(open_tab: OpenTab, url: str) -> None:
    tab = open_tab(url, viewport=NARROW)
    assert not tab.page.get_by_text("How to answer").is_visible()
    tab.page.get_by_role("button", name="Settings and documents").click()
    tab.page.get_by_text("How to answer").wait_for()
    tab.page.mouse.click(380, 400)
    tab.page.get_by_text("How to answer").wait_for(state="hidden")
    drawer = tab.page.get_by_role("button", name="Settings and documents")
    for key, expanded in (("Enter", "true"), ("Escape", "false")):
        drawer.press(key)
        expect(drawer).to_have_attribute("aria-expanded", expanded)

    close = tab.page.get_by_role("button", name="Close")
    drawer.press("Enter")
    expect(close).to_be_focused()
    method = tab.page.get_by_role("combobox", name="Method")
    method.press("Enter")
    tab.page.get_by_role("option").first.wait_for()
    method.press("Escape")
    tab.page.get_by_role("option").first.wait_for(state="hidden")
    expect(drawer).to_have_attribute("aria-expanded", "true")
    method.press("Escape")
    expect(drawer).to_have_attribute("aria-expanded", "false")
    expect(drawer).to_be_focused()
    drawer.press("Enter")
    expect(close).to_be_focused()
    close.press("Enter")
    expect(drawer).to_be_focused()

    tab.ask(QUESTION)

    assert tab.answer() == ANSWER
    tab.ask(OTHER)
    assert tab.answer(1) == OTHER_ANSWER
    tab.page.wait_for_timeout(700)  # the steps of both fold
    place = tab.page.locator(".question").nth(1).bounding_box()
    assert place
    assert 0 < place["y"] < 120
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


def test_long_names_leave_room_for_what_stands_beside_them(open_tab: OpenTab, tmp_path: Path) -> None:
    text = "The Kwex Building was designed by Olaf Brint. Olaf Brint was born in Molde."
    folder = tmp_path / "a_rather_long_knowledge_base_name_of_the_legal_department"
    with KnowledgeBase.open(folder) as kb:
        kb.add([{"id": "i" * 80, "title": "Quarterly_Report_" * 5, "text": text}], progress=False)
    with serving(folder) as url:
        tab = open_tab(url, viewport=ViewportSize(width=360, height=740))
        counts = tab.page.locator(".counts > *").last
        expect(counts).to_contain_text("1 passage")
        counts.evaluate("(counts) => { counts.textContent = '11,234 passages · 142,567 facts · adding …'; }")

        name = tab.page.locator(".counts .name").bounding_box()
        assert name and name["width"] > 100
        numbers, look = counts.bounding_box(), tab.page.get_by_role("button", name="Switch").bounding_box()
        assert numbers and look and numbers["x"] + numbers["width"] <= look["x"]
        tab.ask("Who designed the Kwex Building?")
        tab.answer()
        tab.page.locator(".evidence button").first.click()
        reading = tab.page.get_by_role("dialog")
        expect(reading.get_by_role("button", name="Close")).to_be_in_viewport(ratio=1)
        assert reading.locator(".reading").evaluate("card => card.scrollWidth === card.clientWidth")


def test_text_written_from_right_to_left_is_laid_out_so(open_tab: OpenTab, tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path / "kb") as kb:
        kb.add([{"title": "جسر القاهرة", "text": "القاهرة was founded by Jawhar Siqilli."}], progress=False)
    with serving(tmp_path / "kb") as url:
        tab = open_tab(url)
        tab.choose("Method", "par_rag")
        tab.page.get_by_role("switch", name="Show me the plan first").click()
        tab.ask("القاهرة was founded by whom?")
        expect(tab.page.locator(".plan textarea").first).to_have_css("direction", "rtl")
        tab.page.get_by_role("button", name="Go on with this plan").click()
        tab.answer()
        tab.box.fill("القاهرة")
        tab.page.locator(".evidence button").first.click()
        tab.page.get_by_role("dialog").locator("mark").wait_for()

        for place in (
            ".question",
            ".steps li > div > div",
            ".evidence .fact",
            ".evidence .sentence",
            ".evidence bdi",
            ".graph .entity",
            ".graph .origin",
            ".reading h3",
            ".passage",
            ".composer textarea",
        ):
            expect(tab.page.locator(place).first).to_have_css("direction", "rtl")
        expect(tab.page.locator(".answer")).to_have_css("direction", "ltr")
        card, words = (tab.page.locator(place).bounding_box() for place in (".reading", ".reading mark"))
        assert card and words and words["x"] - card["x"] > card["width"] / 2


@pytest.mark.parametrize(("viewport", "expanded"), [(WIDE, "true"), (NARROW, "false")], ids=["wide", "narrow"])
def test_settings_are_at_hand_where_there_is_room_however_slow_the_link(
    browser: Browser, url: str, viewport: ViewportSize, expanded: str
) -> None:
    def cut_short(link: WebSocketRoute) -> None:
        server = link.connect_to_server()
        link.on_message(lambda sent: None if "javascript_response" in str(sent) else server.send(sent))

    with browser.new_context(viewport=viewport) as window:
        window.route_web_socket(re.compile("socket.io"), cut_short)
        menu = Tab.open(window, url).page.get_by_role("button", name="Settings and documents")
        expect(menu).to_have_attribute("aria-expanded", expanded)
        menu.click()
        expect(menu).not_to_have_attribute("aria-expanded", expanded)


@pytest.mark.parametrize("width", [340, 664, 920])
def test_every_line_of_the_graph_leads_from_its_box_to_its_box_past_all_others(browser: Browser, width: int) -> None:
    chance = random.Random(width)
    names = [f"Name {number}" for number in range(8)] + ["A name of many words that fills a line " * 3, "Long" * 60]
    graphs = ""
    for size in (1, 2, 4, 7, 15, 40) * 4:
        triples = [[chance.choice(names), "is " * chance.randint(1, 20), chance.choice(names)] for _ in range(size)]
        found = [Evidence(triple=t, sentence="", passage_id="p", title=t[0], step=1) for t in triples]
        graphs += drawn(found, names[0]).replace("<details>", "<details open>")
    style = (files("langgraph_rag.chat") / "chat.css").read_text() + "* { box-sizing: border-box } body { margin: 0 }"

    page = browser.new_page(viewport={"width": width, "height": 800})
    page.set_content(f'<style>{style}</style><div class="behind">{graphs}</div>')

    assert page.locator(".graph .fact").count() == sum((1, 2, 4, 7, 15, 40)) * 4
    assert page.evaluate(_ASTRAY) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_each_picture_of_the_documentation_is_small() -> None:
    pictures = list(IMAGES.glob("chat*.png"))

    assert pictures
    assert all(picture.stat().st_size < 200_000 for picture in pictures)


@pytest.mark.slow
def test_each_picture_of_the_documentation_can_be_taken(open_tab: OpenTab, url: str, tmp_path: Path) -> None:
    """UPDATE_SCREENSHOTS=1 takes them anew."""
    folder = IMAGES if os.environ.get("UPDATE_SCREENSHOTS") else tmp_path
    folder.mkdir(exist_ok=True)
    looks: dict[str, dict[str, Any]] = {
        "chat": {},
        "chat_dark": {"color_scheme": "dark"},
        "chat_narrow": {"viewport": NARROW},
    }
    for name, options in looks.items():
        tab = open_tab(url, **options)
        tab.ask(QUESTION)
        tab.answer()
        tab.page.wait_for_function("document.querySelector('.turn').getBoundingClientRect().top < 120")
        tab.page.wait_for_timeout(700)  # the steps fold
        if name == "chat_dark":
            tab.page.locator(".graph [data-evidence]").first.click()
            tab.page.get_by_role("dialog").locator("mark").wait_for()
            tab.page.wait_for_timeout(500)
        tab.page.screenshot(path=folder / f"{name}.png")
        assert (folder / f"{name}.png").stat().st_size < 200_000
    plan = open_tab(url)
    plan.choose("Method", "par_rag")
    plan.page.get_by_role("switch", name="Show me the plan first").click()
    plan.ask(QUESTION)
    plan.page.locator(".plan textarea").first.wait_for()
    plan.page.wait_for_timeout(500)
    plan.page.screenshot(path=folder / "chat_plan.png")
    assert (folder / "chat_plan.png").stat().st_size < 200_000
