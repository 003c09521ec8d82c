"""One question in the conversation: its steps, a plan to approve, and the answer or an error."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from html import escape
from typing import Any

from langchain_core.messages import AnyMessage
from nicegui import ui

from langgraph_rag.chat.answer import AnswerView, answered
from langgraph_rag.chat.asking import Answered, Asking, Happening, Planned, Restated, Told, Written
from langgraph_rag.chat.plan import PlanEditor
from langgraph_rag.chat.settings import Choice
from langgraph_rag.errors import EmptyKnowledgeBaseError, RagError
from langgraph_rag.naming import counted
from langgraph_rag.narration import FURTHER
from langgraph_rag.prompts.par_rag import PlanStep
from langgraph_rag.tools.knowledge_base import KnowledgeBase

_log = logging.getLogger(__name__)
Prepare = Callable[[], Awaitable[Asking]]


class Turn:
    """A question and its answer, drawn in the current `with` block.

    `choice` has the method, the model and the settings, and `again` asks the question again. After the answer,
    `conversation` has all messages.
    """

    def __init__(self, question: str, kb: KnowledgeBase, choice: Choice, again: Callable[[], Any]) -> None:
        self._again = again
        self._task: asyncio.Task[None] | None = None
        self.conversation: list[AnyMessage] = []
        with ui.element("section").classes("turn running") as self._place:
            ui.html(escape(question), sanitize=False, tag="h2").classes("question").props("dir=auto")
            self._restated = ui.label().classes("restated").props("dir=auto role=status")
            self._restated.visible = False
            with ui.expansion(value=True).classes("steps").props("dense") as self._steps:
                self._steps.text = "Steps"
                self._list = ui.element("ol").props("aria-live=polite")
            self._steps.visible = False
            self._answer = AnswerView(kb, str(choice), choice.context.filter)
            with ui.row().classes("working") as self._working:
                self._spinner = ui.spinner(size="1.2em").props("aria-hidden=true")
                self._status = ui.label("Getting ready …").props("role=status")
        self._place.client.run_javascript("follow()")

    async def run(self, prepare: Prepare) -> None:
        """Ask, and show the progress; an error or a stop is shown as a message."""
        self._task = asyncio.create_task(self._run(prepare))
        try:
            await self._task
        except asyncio.CancelledError:
            self._answer.leave_unfinished()
            self._give_up("Stopped.", "note")
        except Exception as error:
            self._answer.discard()
            self._give_up(message_for(error), "alert")

    def stop(self) -> None:
        """Stop the run."""
        if self._task:
            self._task.cancel()

    def say(self, text: str, kind: str) -> ui.label:
        """Show and return a message: a `note`, or an `alert` of an error."""
        with self._place:
            return ui.label(text).classes(kind).props("role=alert" if kind == "alert" else "role=status")

    def _give_up(self, text: str, kind: str) -> None:
        if self._place.is_deleted:
            return
        self._end("")
        self.say(text, kind)
        with self._place:
            ui.button("Ask again", icon="replay", on_click=self._again).props("no-caps flat").classes("again")
        self._settle("end")

    def _end(self, told: str) -> None:
        """Remove the progress indicator; `told` is for screen readers only."""
        self._place.classes(remove="running")
        self._spinner.visible, self._status.text = False, told
        self._working.classes("unseen")

    def _settle(self, where: str) -> None:
        self._place.client.run_javascript(f"settle({self._place.id}, '{where}')")

    async def _run(self, prepare: Prepare) -> None:
        asking = await prepare()
        self._status.text = "Working …"
        planned = await self._show(asking.ask())
        edited: list[PlanStep] = []
        while planned is not None:
            edited = await self._approved(edited or planned.plan, planned.problem)
            planned = await self._show(asking.resume(edited))

    async def _approved(self, plan: list[PlanStep], problem: str) -> list[PlanStep]:
        self._spinner.visible, self._status.text = False, "The plan waits for you."
        with self._place:
            editor = PlanEditor(plan, problem)
        approved = await editor.approved()
        self._spinner.visible, self._status.text = True, "Working …"
        return approved

    async def _show(self, happenings: AsyncIterator[Happening]) -> Planned | None:
        """Show the progress; return the plan if one waits for approval."""
        async for happening in happenings:
            match happening:
                case Told(text):
                    self._show_step(text)
                case Restated(text):
                    self._restated.text, self._restated.visible = text, True
                case Written(text):
                    self._answer.write(text)
                case Planned():
                    return happening
                case Answered(result):
                    self._show_result(result)
        return None

    def _show_step(self, text: str) -> None:
        self._steps.visible = True
        with self._list:
            ui.html(drawn(text), sanitize=False, tag="li")

    def _show_result(self, result: dict[str, Any]) -> None:
        self._steps.value = False
        self._answer.finish(result)
        self.conversation = result["messages"]
        self._end(f"Answer: {answered(result)} ({counted(len(result['evidence']), 'fact')})")
        self._settle("start")


def message_for(error: Exception) -> str:
    """Return the message for an error; unexpected errors are logged as well."""
    if isinstance(error, EmptyKnowledgeBaseError):
        return "There are no documents to answer from yet."  # its own message contains a folder of the server
    if isinstance(error, RagError):
        return str(error)
    _log.error("this should not happen", exc_info=error)
    return f"Something went wrong that should not: {type(error).__name__}: {error}"


def drawn(text: str) -> str:
    """Draw the narration of a step: headings, and indented details that begin with a label."""
    lines = []
    for line in text.split("\n"):
        label, _, detail = ("", "", line) if line.startswith(FURTHER) else line.strip().partition(" ")
        if numbered := re.match(r"  (\d+\.) (.+)", line):
            lines.append(f'<p dir="auto">{numbered[1]} {escape(numbered[2])}</p>')
        elif line.startswith("  ") and detail:
            lines.append(f'<div><span>{escape(label)}</span> <div dir="auto">{escape(detail.strip())}</div></div>')
        else:
            lines.append(f'<strong dir="auto">{escape(line)}</strong>')
    return "".join(lines)
