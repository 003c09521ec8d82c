"""The page of one tab: header, settings, documents, conversation and input box."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage
from nicegui import background_tasks, events, ui

from langgraph_rag.characters import is_blank
from langgraph_rag.chat.document_list import DocumentList, RemovableDocuments
from langgraph_rag.chat.settings import Choice, SettingsForm
from langgraph_rag.chat.shared import Shared
from langgraph_rag.chat.turn import Turn
from langgraph_rag.chat.upload_panel import UploadPanel
from langgraph_rag.errors import RagError
from langgraph_rag.naming import counted

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3730a3"/>'
    '<path d="M9 10h9q5 0 5 5v7M9 10v7q0 5 5 5h9" stroke="#fff" stroke-width="2.2" fill="none"/>'
    '<circle cx="9" cy="10" r="3.4" fill="#fff"/><circle cx="23" cy="22" r="3.4" fill="#fff"/></svg>'
)
_STYLE, _SCRIPT = Path(__file__).with_name("chat.css"), Path(__file__).with_name("page.js")
_NARROW = 1023  # pixels, at most, where the drawer lies over the page
_WHERE_NARROW = f"""(e) => {{
    const list = e.target.matches('[role=combobox][aria-expanded=true]');  // which Escape closes
    if (innerWidth <= {_NARROW} && !list) emit();
}}"""
_SEND_ON_ENTER = """(e) => {
    if (!e.shiftKey && !e.isComposing) { e.preventDefault(); emit(e.target.value.toWellFormed()); }
}"""


class ChatPage:
    """One tab; `names` are those of all knowledge bases by the paths of their pages, of which this is at `path`."""

    def __init__(self, shared: Shared, names: Mapping[str, str] | None = None, path: str = "/") -> None:
        self._shared, self._names, self._path = shared, names or {}, path
        self._turn: Turn | None = None
        self._said: list[AnyMessage] = []
        self._notes: list[ui.label] = []  # about documents that are being added
        self._counting = asyncio.Lock()

    def build(self) -> None:
        """Draw the page."""
        ui.add_css(_STYLE)
        ui.add_head_html(f"<script>{_SCRIPT.read_text(encoding='utf-8')}</script>")
        ui.colors(primary="#3730a3")
        # with None, NiceGUI would ask the browser, and fail where that is slow
        self._drawer = ui.left_drawer(value=False, bordered=True, bottom_corner=True)
        self._drawer.props(f"width=320 breakpoint={_NARROW} show-if-above")
        self._drawer.props('role=complementary aria-label="Settings and documents"')
        with self._drawer:
            _icon_button("close", "Close").classes("closing").on_click(self._leave_drawer)
            ui.html("Documents", tag="h2").classes("section")
            self._uploads = UploadPanel(self._shared, self._drawer.show) if self._shared.upload else None
            (RemovableDocuments if self._shared.upload else DocumentList)(self._shared)
            self._settings = SettingsForm(self._shared.method, self._shared.model, self._shared.models)
        self._header()
        with ui.column().classes("conversation").props("role=region aria-label=Conversation") as self._conversation:
            self._welcome = ui.column().classes("welcome")
        with ui.footer().classes("composer").props("role=form aria-label='Ask a question'"):
            self._composer()
        self._shared.changed.subscribe(self._show_knowledge_base)
        ui.context.client.on_delete(self._stop)
        ui.context.client.on_connect(self._show_knowledge_base)
        ui.context.client.on_connect(self._resume)
        ui.on("chosen", self._choose_again)
        self._settings.on_change(self._keep_settings)

    def _header(self) -> None:
        with ui.header().classes("bar"):
            self._menu = _icon_button("menu", "Settings and documents").on_click(self._drawer.toggle)
            self._menu.props("aria-expanded=false").classes("menu")
            self._drawer.on_value_change(self._show_drawer)
            for place in (self._menu, self._drawer):
                place.on("keydown.escape", self._leave_drawer, js_handler=_WHERE_NARROW)
            with ui.element("div").classes("title"):
                ui.html("langgraph_rag", tag="h1")
                with ui.element("div").classes("counts").props("role=status"):
                    name = self._shared.kb.path.resolve().name
                    ui.label(f"{name}:").classes("name").tooltip(name)
                    self._counts = ui.label()
            ui.space()
            if len(self._names) > 1:
                choice = ui.select(dict(self._names), value=self._path, on_change=lambda e: ui.navigate.to(e.value))
                choice.props('outlined dense options-dense aria-label="Knowledge base"').classes("bases")
            dark = _icon_button("contrast", "Switch between light and dark")
            dark.on("click", js_handler="() => { Quasar.Dark.set(localStorage.dark = !Quasar.Dark.isActive); }")

    def _show_drawer(self) -> None:
        shown = str(self._drawer.value).lower()
        self._menu.props(f"aria-expanded={shown}")
        self._menu.client.run_javascript(f"cover({shown}, {_NARROW})")

    def _leave_drawer(self) -> None:
        self._drawer.hide()
        self._menu.client.run_javascript(f"getHtmlElement({self._menu.id}).focus()")

    async def _show_knowledge_base(self) -> None:
        async with self._counting:  # the last count is the newest
            info = await asyncio.to_thread(self._shared.kb.info)
        if self._counts.is_deleted:
            return
        if not self._shared.queue.current:
            self._forget_notes()
        counts = [counted(info["passages"], "passage"), counted(info["triples"], "fact")]
        self._counts.text = f" {' · '.join(counts)}{' · adding …' if self._shared.queue.current else ''}"
        self._welcome.clear()
        with self._welcome:
            ui.html(ICON, sanitize=False).classes("logo").props("aria-hidden=true")
            ui.html("Ask your documents" if info["passages"] else "No documents yet", tag="h2")
            if info["passages"]:
                text = "A question may need several facts from several documents: you will see how they are found."
            elif self._uploads:
                text = "Add documents first, then ask what they say."
            else:
                text = "There is nothing to ask yet: whoever runs this page adds the documents."
            ui.label(text)
            if self._uploads and not info["passages"] and not self._shared.queue.current:
                self._uploads.adding_button("unelevated")

    def _forget_notes(self) -> None:
        for note in self._notes:
            note.delete()
        self._notes.clear()

    # --- asking ------------------------------------------------------------------------------------------------------
    def _composer(self) -> None:
        self._box = ui.textarea(placeholder="Ask a question …").props(
            'autogrow outlined autofocus dir=auto maxlength=200000 aria-label="Question" input-style="max-height: 30vh"'
        )
        self._box.on("keydown.enter", lambda e: self._ask_from_box(e.args), js_handler=_SEND_ON_ENTER)
        self._halt = _icon_button("stop", "Stop").props("outline", remove="flat").on_click(self._stop)
        self._halt.visible = False
        self._send = (
            _icon_button("arrow_upward", "Ask")
            .props("unelevated", remove="flat")
            .on_click(lambda: self._ask_from_box(self._box.value))
        )

    def _resume(self) -> None:
        self._box.client.run_javascript("resume()")

    def _choose_again(self, kept: events.GenericEventArguments) -> None:
        self._settings.choose(kept.args)

    def _keep_settings(self) -> None:
        self._box.client.run_javascript(
            f"sessionStorage.chosen = JSON.stringify({json.dumps(self._settings.chosen())})"
        )

    def _ask_from_box(self, written: Any) -> None:
        if self._ask(str(written or "").strip()):
            self._box.value = ""

    def _ask(self, question: str) -> bool:
        """Ask a question; if it cannot be asked, show why at the input box."""
        try:
            choice = self._checked(question)
        except RagError as error:
            self._box.error = str(error)
            return False
        self._box.error = None
        self._welcome.visible = False
        with self._conversation:
            self._turn = Turn(question, self._shared.kb, choice, lambda: self._ask(question))
        if self._shared.queue.current:
            note = "Documents are still being added: the answer knows those that are there by now."
            self._notes.append(self._turn.say(note, "note"))
        self._halt.visible = True
        self._send.disable()
        background_tasks.create(self._answer(self._turn, choice, HumanMessage(question)), name="answer")
        return True

    def _checked(self, question: str) -> Choice:
        if self._turn:
            raise RagError("One question at a time: wait for the answer, or stop it.")
        if is_blank(question):
            raise RagError("The question is empty: write one first.")
        choice = self._settings.choice()
        if len(question) > (most := choice.context.max_question_chars):
            raise RagError(f"The question is too long: {len(question):,} characters, of at most {most:,}.")
        return choice

    async def _answer(self, turn: Turn, choice: Choice, question: HumanMessage) -> None:
        await turn.run(lambda: self._shared.asking(choice, [*self._said, question]))
        self._said = turn.conversation or self._said
        self._turn, self._box.error = None, None
        self._halt.visible = False
        self._send.enable()
        await self._show_knowledge_base()  # another process may have changed it

    def _stop(self) -> None:
        if self._turn:
            self._turn.stop()


def _icon_button(icon: str, label: str) -> ui.button:
    return ui.button(icon=icon).props(f'flat round aria-label="{label}"').tooltip(label)
