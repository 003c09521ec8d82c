"""One question in the conversation: its steps as they happen, a plan to approve, the answer with its evidence."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from html import escape
from pathlib import PurePath
from typing import Any

from nicegui import ui

from langgraph_rag.chat import evidence as drawing
from langgraph_rag.chat.asking import Answered, Asking, Happening, Planned, Told, Written
from langgraph_rag.chat.plan import PlanEditor
from langgraph_rag.errors import RagError
from langgraph_rag.prompts.par_rag import PlanStep
from langgraph_rag.records import Evidence, origin_of, tokens_spent
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.knowledge_base import KnowledgeBase

_OPEN = "(e) => { const at = e.target.closest('[data-evidence]'); if (at) emit(Number(at.dataset.evidence)); }"
_log = logging.getLogger(__name__)


class Turn:
    """A question and what became of it, drawn where the caller's `with` stands."""

    def __init__(self, question: str, kb: KnowledgeBase) -> None:
        self._question, self._kb = question, kb
        self._task: asyncio.Task[None] | None = None
        self._written = ""
        with ui.element("section").classes("turn") as self._place:
            ui.html(escape(question), sanitize=False, tag="h2").classes("question")
            with ui.expansion(value=True).classes("steps").props("dense") as self._steps:
                self._steps.text = "Steps"
                self._list = ui.element("ol")
            self._steps.visible = False
            with ui.row().classes("working") as self._working:
                ui.spinner(size="1.2em").props("aria-hidden=true")
                ui.label("Working …").props("role=status")
            self._answer = ui.label().classes("answer").props("aria-live=polite")
            self._answer.visible = False
        self._scroll()

    async def run(self, prepare: Callable[[], Asking]) -> None:
        """Ask, and show all that happens; every error and a stop end as a message."""
        self._task = asyncio.create_task(self._run(prepare))
        try:
            await self._task
        except asyncio.CancelledError:
            self.say("Stopped.", "note")
        except Exception as error:
            self.say(described(error), "alert")
        finally:
            self._working.visible = False

    def stop(self) -> None:
        """Give the question up."""
        if self._task:
            self._task.cancel()

    async def _run(self, prepare: Callable[[], Asking]) -> None:
        asking = await asyncio.to_thread(prepare)
        planned = await self._show(asking.ask(self._question))
        edited: list[PlanStep] = []
        while planned is not None:
            edited = await self._approved(edited or planned.plan, planned.problem)
            planned = await self._show(asking.resume(edited))

    async def _approved(self, plan: list[PlanStep], problem: str) -> list[PlanStep]:
        self._working.visible = False
        with self._place:
            editor = PlanEditor(plan, problem)
        self._scroll()
        approved = await editor.approved()
        self._working.visible = True
        return approved

    async def _show(self, happenings: AsyncIterator[Happening]) -> Planned | None:
        """Show what happens; return the plan if one waits for approval."""
        async for happening in happenings:
            match happening:
                case Told(text):
                    self._show_step(text)
                case Written(text):
                    self._written += text
                    self._answer.text, self._answer.visible = self._written, True
                case Planned():
                    return happening
                case Answered(result):
                    self._show_result(result)
        return None

    def _show_step(self, text: str) -> None:
        self._steps.visible = True
        with self._list:
            ui.html(_told(text), sanitize=False, tag="li")
        self._scroll()

    # --- the answer --------------------------------------------------------------------------------------------------
    def _show_result(self, result: dict[str, Any]) -> None:
        found: list[Evidence] = result["evidence"]
        self._answer.text, self._answer.visible = result["answer"], True
        if is_refusal(result["answer"]):
            self._answer.classes("refusal")
        self._steps.value = False
        with self._place:
            ui.label(_cost(result)).classes("cost")
            if not found:
                return
            with ui.row().classes("graph-head"):
                ui.html("How it hangs together", tag="h3")
                ui.html(drawing.legend(found), sanitize=False)
            self._opening(ui.html(drawing.drawn(found, result["answer"]), sanitize=False), found)
            ui.html("Evidence", tag="h3")
            self._opening(ui.html(drawing.listed(found), sanitize=False), found)
        self._scroll_to_question()

    def _opening(self, drawn: ui.html, found: list[Evidence]) -> None:
        drawn.classes("behind").on("click", lambda e: self._open(found[int(e.args)]), js_handler=_OPEN)

    async def _open(self, piece: Evidence) -> None:
        records = await self._kb.apassages([piece["passage_id"]])
        with self._place, ui.dialog(value=True) as dialog, ui.card().classes("reading"):
            dialog.props("aria-label=Passage").on("hide", dialog.delete)
            with ui.row().classes("reading-head"):
                ui.html(escape(origin_of(piece)), sanitize=False, tag="h3")
                ui.button(icon="close", on_click=dialog.close).props('flat round dense aria-label="Close"')
            if records:
                source = PurePath(records[0].get("source", "")).name
                ui.html(drawing.passage(records[0], piece), sanitize=False)
                ui.label(" · ".join(filter(None, [piece["passage_id"], source]))).classes("help")
            else:
                ui.label("The passage is no longer in the knowledge base.").classes("alert")

    def say(self, text: str, kind: str) -> None:
        """Show a message: a `note`, or an `alert` of an error."""
        if self._place.is_deleted:
            return
        with self._place:
            ui.label(text).classes(kind).props("role=alert" if kind == "alert" else "role=status")
        self._scroll()

    def _scroll(self) -> None:
        self._place.client.run_javascript("window.scrollTo({top: document.body.scrollHeight})")

    def _scroll_to_question(self) -> None:
        self._place.client.run_javascript(f"getHtmlElement({self._place.id}).scrollIntoView({{behavior: 'smooth'}})")


def described(error: Exception) -> str:
    """Return what to tell of an error; one that nobody foresaw is logged as well."""
    if isinstance(error, RagError):
        return str(error)
    _log.error("this should not happen", exc_info=error)
    return f"Something went wrong that should not: {type(error).__name__}: {error}"


def _told(text: str) -> str:
    """Draw a step as told in words: headings begin a line, details are indented and begin with their label."""
    drawn = []
    for line in text.split("\n"):
        label, _, detail = line.strip().partition(" ")
        if line.startswith("  ") and detail:
            drawn.append(f"<div><span>{escape(label)}</span> {escape(detail.strip())}</div>")
        else:
            drawn.append(f"<strong>{escape(line)}</strong>")
    return "".join(drawn)


def _cost(result: dict[str, Any]) -> str:
    usage = result["usage"]
    parts = [
        f"from {result['granularity']}" if result.get("granularity") else "",
        f"{usage['calls']} model calls",
        f"{'about ' if usage.get('estimated_tokens') else ''}{tokens_spent(usage):,} tokens",
        f"{usage['seconds']:.1f} s",
        f"stopped by {usage['stopped_by']}" if usage["stopped_by"] else "",
    ]
    return " · ".join(filter(None, parts))
