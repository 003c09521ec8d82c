"""The answer to a question: its text while it is streamed, its cost, and its evidence."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from html import escape
from typing import Any

from nicegui import ui

from langgraph_rag.chat import evidence as drawing
from langgraph_rag.filters import Where
from langgraph_rag.narration import narrate_cost
from langgraph_rag.nodes.conclude import CAVEATS, UNASKED
from langgraph_rag.normal_forms import normalise
from langgraph_rag.records import Evidence, evidence_at, origin_of
from langgraph_rag.refusals import UNANSWERABLE, is_refusal
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.stores.records import has_own_id

_HEADLINE = 120  # characters, at most, that are shown as large as a headline
_SOON = 0.1  # seconds between updates, each of which sends the whole text
_AROUND = 24  # facts about an entity
_LINK = "flat dense no-caps align=left"
_OPEN = "(e) => { const at = e.target.closest('[data-evidence]'); if (at) emit(Number(at.dataset.evidence)); }"


class AnswerView:
    """An answer, drawn in the current `with` block; `by` names its method and model, `where` is its filter."""

    def __init__(self, kb: KnowledgeBase, by: str, where: Where | None = None) -> None:
        self._kb, self._by, self._where = kb, by, where
        self._written = ""
        self._soon: asyncio.TimerHandle | None = None
        with ui.element("div").classes("outcome") as self._place:
            self._text = ui.label().props("dir=auto")
            self._reading = ui.dialog().props("aria-label=Passage")
        self._place.visible = False

    def write(self, text: str) -> None:
        """Schedule an update with the answer so far."""
        self._written = text
        if not self._soon:
            self._soon = asyncio.get_running_loop().call_later(_SOON, self._show_written)

    def discard(self) -> None:
        """Remove the text, as it is not an answer."""
        self._stop_waiting()
        self._place.visible = False

    def leave_unfinished(self) -> None:
        """Mark the text as unfinished."""
        if self._soon:
            self._show_written()
        self._text.classes("unfinished").props(remove="aria-busy")

    def finish(self, result: dict[str, Any]) -> None:
        """Show a result."""
        self._stop_waiting()
        refused = is_refusal(result["answer"])
        self._show(answered(result), "refusal" if refused else "")
        self._text.props(remove="aria-busy")
        level, usage = result.get("granularity", "none"), result["usage"]
        parts = [self._by, "" if level == "none" else f"from {level}", narrate_cost(usage)]
        with self._place:
            if refused and usage["longest_call"] and normalise(result["answer"]) not in (UNANSWERABLE, UNASKED):
                ui.label(f"In the model's words: {result['answer']}").classes("own-words")
            elif not refused and (caveat := CAVEATS[result["supported"]]):
                ui.label(caveat).classes("caveat")
            ui.label(" · ".join(filter(None, parts))).classes("cost")
            if refused and result["evidence"]:
                with ui.expansion("What was found on the way").classes("found").props("dense"):
                    self._draw(result["evidence"], result["answer"])
            elif result["evidence"]:
                self._draw(result["evidence"], result["answer"])

    def _show_written(self) -> None:
        self._stop_waiting()
        self._show(self._written)
        self._text.props("aria-busy=true")

    def _stop_waiting(self) -> None:
        """Cancel the scheduled update."""
        if self._soon:
            self._soon.cancel()
        self._soon = None

    def _show(self, text: str, look: str = "") -> None:
        length = "long" if len(text) > _HEADLINE or "\n" in text else ""
        self._text.text, self._place.visible = text, True
        self._text.classes(replace=f"answer {length} {look}")

    # --- evidence ----------------------------------------------------------------------------------------------------
    def _draw(self, found: list[Evidence], answer: str) -> None:
        with ui.row().classes("graph-head"):
            ui.html("How it hangs together", tag="h3")
            ui.html(drawing.legend(found), sanitize=False)
        self._opening(ui.html(drawing.drawn(found, answer), sanitize=False), found)
        ui.html("Evidence", tag="h3")
        self._opening(ui.html(drawing.listed(found), sanitize=False), found)

    def _opening(self, drawn: ui.html, found: list[Evidence]) -> None:
        drawn.classes("behind").on("click", lambda e: self._open(found[int(e.args)]), js_handler=_OPEN)

    async def _open(self, piece: Evidence) -> None:
        records = await self._kb.apassages([piece["passage_id"]], filter=self._where)
        with self._headed(origin_of(piece)):
            if records:
                (record,) = records
                own_id = "" if "source" in record and not has_own_id(record) else record["id"]
                ui.html(drawing.passage(record, piece), sanitize=False)
                ui.label(" · ".join(filter(None, [own_id, *drawing.place_in_source(piece)]))).classes("help")
            else:
                ui.label("The passage is no longer in the knowledge base.").classes("alert")
            with ui.row().classes("around"):
                for entity in dict.fromkeys(piece["triple"][::2]):
                    ui.button(f"Facts about {entity}", on_click=partial(self._open_around, entity)).props(_LINK)

    async def _open_around(self, entity: str) -> None:
        """Show the facts around an entity as a graph, in which one can go on."""
        facts = await self._kb.afacts_about(entity, most=_AROUND, filter=self._where)
        records = await self._kb.apassages({fact["sources"][0]["passage_id"] for fact in facts}, filter=self._where)
        by_id = {record["id"]: record for record in records}
        firsts = [(fact["triple"], fact["sources"][0]) for fact in facts]
        found = [
            piece
            for triple, source in firsts
            for piece in evidence_at(source["sentences"][:1], by_id.get(source["passage_id"]), 1, triple)
        ]
        with self._headed(f"Facts about {entity}"):
            if found:
                self._opening(ui.html(drawing.drawn(found, entity), sanitize=False), found)
            else:
                ui.label("The documents state no fact about it.").classes("alert")

    @contextmanager
    def _headed(self, title: str) -> Iterator[None]:
        """Open the dialog with a new content below a title."""
        self._reading.clear()
        self._reading.open()
        with self._reading, ui.card().classes("reading"):
            with ui.row().classes("reading-head"):
                ui.html(escape(title), sanitize=False, tag="h3").props("dir=auto")
                ui.button(icon="close", on_click=self._reading.close).props('flat round dense aria-label="Close"')
            yield


def answered(result: dict[str, Any]) -> str:
    """Return the answer of a result; for a refusal, the reason: the documents or a limit."""
    if not is_refusal(result["answer"]):
        return str(result["answer"])
    return "No answer within the limits." if result["usage"]["stopped_by"] else "The documents do not say."
