"""An editor for a plan that waits for approval."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from nicegui import ui

from langgraph_rag.prompts.par_rag import PlanStep

_NEW = PlanStep(thought="", question="", action="retrieve")


@dataclass(frozen=True)
class _Row:
    step: PlanStep
    line: ui.row
    box: ui.textarea
    remove: ui.button


class PlanEditor:
    """The questions of a plan and its problem, drawn in the current `with` block."""

    def __init__(self, plan: Sequence[PlanStep], problem: str) -> None:
        self._rows: list[_Row] = []
        self._done = asyncio.Event()
        with ui.card().classes("plan") as self._card:
            ui.html("The plan", tag="h3")
            if problem:
                ui.label(f"This plan cannot be used: {problem}.").classes("alert").props("role=alert")
            ui.label("Change, add or remove questions, then go on.").classes("help")
            self._place = ui.column().classes("plan-steps")
            for step in plan:
                self._add(step)
            with ui.row():
                ui.button("Go on with this plan", on_click=self._done.set).props("no-caps unelevated")
                self._more = ui.button("Add a question", on_click=self._add_new).props("no-caps flat")
        if problem:
            self._card.client.run_javascript(f"attend({self._card.id})")

    async def approved(self) -> list[PlanStep]:
        """Wait for approval, remove the editor, and return the steps that have a question."""
        try:
            await self._done.wait()
        finally:
            if not self._card.is_deleted:
                self._card.delete()
        edited = [PlanStep(**{**row.step, "question": (row.box.value or "").strip()}) for row in self._rows]
        return [step for step in edited if step["question"]]

    def _add(self, step: PlanStep) -> None:
        with self._place, ui.row().classes("plan-step") as line:
            box = ui.textarea(value=step["question"]).props("autogrow outlined dense dir=auto")
            remove = ui.button(icon="delete").props('flat round aria-label="Remove this question"')
        row = _Row(step, line, box, remove)
        remove.on_click(lambda: self._remove(row))
        self._rows.append(row)
        self._number()

    def _add_new(self) -> None:
        self._add(_NEW)
        self._rows[-1].box.run_method("focus")

    def _remove(self, row: _Row) -> None:
        place = self._rows.index(row)
        self._rows.remove(row)
        row.line.delete()
        self._number()
        buttons = [*(row.remove for row in self._rows), self._more]
        self._card.client.run_javascript(f"getHtmlElement({buttons[place].id}).focus()")

    def _number(self) -> None:
        for number, row in enumerate(self._rows, start=1):
            row.box.props(f'label="Question {number}"')
