"""The list of documents, with a filter and buttons to remove documents."""

import asyncio
from collections.abc import Iterable
from html import escape

from nicegui import background_tasks, events, ui

from langgraph_rag.chat.shared import Shared
from langgraph_rag.chat.stored import NamedDocument, named
from langgraph_rag.chat.turn import message_for
from langgraph_rag.naming import counted

_SHOWN = 200  # at most
_FEW = 10  # need no filter
_CHOSEN = "(e) => { const at = e.target.closest('[data-document]'); if (at) emit(at.dataset.document); }"


class DocumentList:
    """The documents of the knowledge base, drawn in the current `with` block."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._documents: dict[str, NamedDocument] = {}
        self._loading = asyncio.Lock()
        with ui.expansion("Show documents", on_value_change=self._load).classes("stored") as self._fold:
            self._fold.props("dense")
            self._filter = ui.input("Filter by name", on_change=self._show)
            self._filter.props("outlined dense clearable dir=auto debounce=200")
            self._summary = ui.label().classes("help").props("role=status")
            self._drawn = ui.html(sanitize=False).props("tabindex=-1")
            self._more = ui.label().classes("help")
        shared.changed.subscribe(self._load)

    async def _load(self) -> None:
        """Load the documents, if the list is open."""
        if not self._fold.value:
            return
        try:
            async with self._loading:  # the last list is the newest
                documents = named(await asyncio.to_thread(self._shared.kb.documents))
                self._documents = {entry.key: entry for entry in documents}
        except Exception as error:
            self._summary.text = message_for(error)
        else:
            self._show()

    def _show(self) -> None:
        part = (self._filter.value or "").casefold()
        found = [entry for entry in self._documents.values() if part in entry.name.casefold()]
        of = f"{len(found):,} of " if part else ""
        self._summary.text = f"{of}{counted(len(self._documents), 'document')}"
        self._filter.visible = bool(part) or len(self._documents) > _FEW
        self._drawn.content = self._list(found[:_SHOWN])
        self._more.visible = len(found) > _SHOWN
        self._more.text = f"{len(found) - _SHOWN:,} more: filter by name to see them."

    def _list(self, entries: Iterable[NamedDocument]) -> str:
        return f'<ul class="documents">{"".join(map(self._item, entries))}</ul>'

    def _item(self, entry: NamedDocument) -> str:
        words = f'<span dir="auto">{escape(entry.name)}</span> <small>{_passages(entry)}</small>'
        return f'<li><span class="words">{words}</span>{self._button(entry)}</li>'

    def _button(self, entry: NamedDocument) -> str:
        return ""


class RemovableDocuments(DocumentList):
    """The documents, each with a button that removes it after a confirmation."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self._drawn.on("click", self._ask, js_handler=_CHOSEN)
        with ui.dialog() as self._asking, ui.card():
            self._question = ui.html(sanitize=False).classes("asked")
            with ui.row().classes("choices"):
                ui.button("Cancel", on_click=self._asking.close).props("no-caps flat autofocus")
                ui.button("Remove", on_click=lambda: self._asking.submit("remove")).props("no-caps unelevated")
        self._asking.props(f'aria-label="Remove a document" aria-describedby={self._question.html_id}')

    def _button(self, entry: NamedDocument) -> str:
        label = escape(f"Remove {entry.name}")
        return f'<button type="button" data-document="{escape(entry.key)}" aria-label="{label}">Remove</button>'

    async def _ask(self, chosen: events.GenericEventArguments) -> None:
        entry = self._documents.get(chosen.args)
        if not entry:  # another page has removed it
            return
        about = f"<bdi>{escape(entry.name)}</bdi>, {_passages(entry)}"
        self._question.content = f"Remove {about}? This cannot be undone."
        if await self._asking:
            self._drawn.client.run_javascript(f"keepFocus({self._drawn.id})")
            background_tasks.create(self._shared.queue.remove(entry), name="removal")


def _passages(entry: NamedDocument) -> str:
    return counted(len(entry.document["ids"]), "passage")
