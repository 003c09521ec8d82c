"""The page of one tab: header, settings, documents, the conversation and the box to ask in."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, HumanMessage
from nicegui import Event, background_tasks, events, ui

from langgraph_rag.background import made_once
from langgraph_rag.chat import uploading
from langgraph_rag.chat.asking import Asking
from langgraph_rag.chat.settings import Choice, SettingsForm
from langgraph_rag.chat.turn import Turn, described
from langgraph_rag.conversation import with_messages
from langgraph_rag.errors import RagError
from langgraph_rag.methods import METHODS
from langgraph_rag.models import load_model
from langgraph_rag.naming import counted, first_few
from langgraph_rag.tools.files import READABLE
from langgraph_rag.tools.knowledge_base import KnowledgeBase

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
_NAMES = """(refused) => {
    const others = refused.filter((one) => one.failedPropValidation === 'accept');  // not what is under way already
    if (others.length) emit(others.map((one) => one.file.name));
}"""
_SEND_ON_ENTER = "(e) => { if (!e.shiftKey && !e.isComposing) { e.preventDefault(); emit(e.target.value); } }"


@made_once
def _model(name: str, kept: Path | None) -> BaseChatModel:
    return load_model(name, cache=kept)


@dataclass
class Shared:
    """What all tabs have in common; `models` are the only ones, if any, and `uploads` those under way.

    Raises:
        RagError: when a model or the file of its replies cannot be used.
    """

    kb: KnowledgeBase
    method: str
    model: str
    cache: Path | None = None
    models: Sequence[str] = ()
    upload: bool = True
    changed: Event[[]] = field(default_factory=Event)
    uploads: int = 0
    _warm: bool = False

    def __post_init__(self) -> None:
        for name in (self.model, *self.models):  # what cannot be used is told here, not in the page
            _model(name, self.cache)

    async def warm_up(self) -> None:
        """Have the embedder loaded, which takes seconds; the question tells of whatever goes wrong with it."""
        with suppress(RagError):
            if not self._warm:
                await self.kb.asearch("warm up", 1)
                self._warm = True

    async def asking(self, choice: Choice, conversation: Sequence[AnyMessage]) -> Asking:
        """Make ready to ask the question that a conversation ends with, as chosen; no limit counts that."""
        await self.warm_up()
        return await asyncio.to_thread(self._asking, choice, conversation)

    def _asking(self, choice: Choice, conversation: Sequence[AnyMessage]) -> Asking:
        options = {"approve_plan": True} if choice.approve_plan else {}
        llm = _model(choice.model, self.cache)
        graph = with_messages(METHODS[choice.method].create(llm, self.kb, **options), llm)
        return Asking(graph, {"messages": conversation}, choice.context)


class ChatPage:
    """One tab."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._turn: Turn | None = None
        self._said: list[AnyMessage] = []
        self._adding, self._counting, self._halted = asyncio.Lock(), asyncio.Lock(), False

    def build(self) -> None:
        """Lay the page out."""
        ui.add_css(_STYLE)
        ui.add_head_html(f"<script>{_SCRIPT.read_text(encoding='utf-8')}</script>")
        ui.colors(primary="#3730a3")
        # with None, NiceGUI would ask the browser, and fail where that is slow
        self._drawer = ui.left_drawer(value=False, bordered=True, bottom_corner=True)
        self._drawer.props(f"width=320 breakpoint={_NARROW} show-if-above")
        self._drawer.props('role=complementary aria-label="Settings and documents"')
        with self._drawer:
            if self._shared.upload:
                self._documents()
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
            menu = _icon_button("menu", "Settings and documents").on_click(self._drawer.toggle)
            menu.props("aria-expanded=false")
            self._drawer.on_value_change(lambda: menu.props(f"aria-expanded={str(self._drawer.value).lower()}"))
            for place in (menu, self._drawer):
                place.on("keydown.escape", self._drawer.hide, js_handler=_WHERE_NARROW)
            with ui.element("div").classes("title"):
                ui.html("langgraph_rag", tag="h1")
                self._counts = ui.label().classes("counts").props("role=status")
            ui.space()
            dark = _icon_button("contrast", "Switch between light and dark")
            dark.on("click", js_handler="() => { Quasar.Dark.set(sessionStorage.dark = !Quasar.Dark.isActive); }")

    # --- documents ---------------------------------------------------------------------------------------------------
    def _documents(self) -> None:
        ui.html("Documents", tag="h2").classes("section")
        uploader = ui.upload(multiple=True, auto_upload=True, on_multi_upload=self._add).classes("hidden-uploader")
        uploader.props(f'accept="{",".join(READABLE)}"').on("rejected", self._refuse, js_handler=_NAMES)
        self._uploader = f"getElement({uploader.id}).$refs.qRef"
        uploader.on("uploaded", js_handler=f"() => {self._uploader}.removeUploadedFiles()")
        forget = f"failed.files.forEach((file) => {self._uploader}.removeFile(file))"
        names = "emit(failed.files.map((file) => file.name))"
        uploader.on("failed", self._tell_failed, js_handler=f"(failed) => {{ {names}; {forget}; }}")
        self._add_button = self._adding_button("outline").classes("adding")
        take = f"(e) => {{ emit(); {self._uploader}.addFiles(e.detail); }}"
        self._add_button.on("files", self._begin, js_handler=take)
        ui.label(f"Files ending in {', '.join(READABLE)}").classes("help")
        self._progress = ui.linear_progress(0, show_value=False).props('aria-label="Documents added"')
        self._under_way = ui.label().classes("uploads").props("aria-live=polite")
        self._halt_adding = ui.button("Stop adding", on_click=self._stop_adding).props("no-caps flat dense")
        self._progress.visible = self._halt_adding.visible = False
        self._uploads = ui.column().classes("uploads").props("aria-live=polite")

    def _adding_button(self, look: str) -> ui.button:
        button = ui.button("Add documents", icon="upload_file").props(f"no-caps {look}")
        return button.on("click", self._begin, js_handler=f"() => {{ emit(); {self._uploader}.pickFiles(); }}")

    def _begin(self) -> None:
        if not self._adding.locked():
            self._uploads.clear()
            self._halted = False

    def _stop_adding(self) -> None:
        self._halted = True

    def _refuse(self, refused: events.GenericEventArguments) -> None:
        self._drawer.show()
        self._tell(f"{first_few(refused.args, 10)}: expected files ending in {', '.join(READABLE)}.", error=True)

    def _tell_failed(self, failed: events.GenericEventArguments) -> None:
        self._drawer.show()
        self._tell(f"{first_few(failed.args, 10)}: the upload failed; try again, or with fewer at once.", error=True)

    async def _add(self, arrived: events.MultiUploadEventArguments) -> None:
        self._drawer.show()
        self._shared.uploads += 1
        with self._uploads:
            waiting = ui.label(f"{first_few(list(map(uploading.name_of, arrived.files)), 10)}: waiting …")
        try:
            async with self._adding:
                if not waiting.is_deleted:
                    waiting.delete()
                for file in arrived.files:
                    if not self._halted:
                        await self._add_file(file)
        finally:
            self._shared.uploads -= 1
            self._shared.changed.emit()

    async def _add_file(self, file: uploading.File) -> None:
        name = uploading.name_of(file)
        self._progress.value = 0.0
        self._progress.visible = self._halt_adding.visible = True
        self._under_way.text = f"{name}: reading …"
        reached = uploading.Progress()
        try:
            passages = await uploading.read(file)
            async for reached in uploading.update(self._shared.kb, passages):
                if self._halted and reached.done < len(passages):
                    self._tell(f"{name}: stopped at {reached.done:,} of {len(passages):,}; add it again to go on.")
                    return
                self._progress.value = reached.done / len(passages)
                self._under_way.text = f"{name}: {reached.done:,} of {counted(len(passages), 'passage')} …"
                self._shared.changed.emit()
        except Exception as error:
            self._tell(described(error), error=True)
        else:
            known = len(passages) - reached.new
            there = f", {known} were there already" if known else ""
            gone = f", {reached.removed} of earlier versions removed" if reached.removed else ""
            self._tell(f"{name}: {counted(reached.new, 'passage')} added{there}{gone}.")
            if reached.unread:
                reader = self._shared.kb.extractor.version
                self._tell(
                    f"No facts yet out of {counted(reached.unread, 'passage')}, which can be found all the same: "
                    f"{reader} read the others. Close this page and run `langgraph-rag index --model` to have them."
                )
        finally:
            self._progress.visible = self._halt_adding.visible = False
            self._under_way.text = ""

    def _tell(self, text: str, *, error: bool = False) -> None:
        if self._uploads.is_deleted:
            return
        with self._uploads:
            ui.label(text).classes("alert" if error else "done").props("role=alert" if error else "role=status")

    async def _show_knowledge_base(self) -> None:
        async with self._counting:  # the last count is the newest
            info = await asyncio.to_thread(self._shared.kb.info)
        if self._counts.is_deleted:
            return
        name = self._shared.kb.path.resolve().name
        counts = [counted(info["passages"], "passage"), counted(info["triples"], "fact")]
        self._counts.text = f"{name}: {' · '.join(counts)}{' · adding …' if self._shared.uploads else ''}"
        self._welcome.clear()
        with self._welcome:
            ui.html(ICON, sanitize=False).classes("logo").props("aria-hidden=true")
            ui.html("Ask your documents" if info["passages"] else "No documents yet", tag="h2")
            if info["passages"]:
                text = "A question may need several facts from several documents: you will see how they are found."
            else:
                text = "Add documents first, then ask what they say."
            ui.label(text)
            if self._shared.upload and not info["passages"] and not self._shared.uploads:
                self._adding_button("unelevated")

    # --- asking ------------------------------------------------------------------------------------------------------
    def _composer(self) -> None:
        self._box = ui.textarea(placeholder="Ask a question …").props(
            'autogrow outlined autofocus aria-label="Question" input-style="max-height: 30vh"'
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
        """Ask if nothing stands against it; what does is told at the box."""
        try:
            choice = self._checked(question)
        except RagError as error:
            self._box.error = str(error)
            return False
        self._box.error = None
        self._welcome.visible = False
        with self._conversation:
            self._turn = Turn(question, self._shared.kb, str(choice), lambda: self._ask(question))
        if self._shared.uploads:
            self._turn.say("Documents are still being added: the answer knows those that are there by now.", "note")
        self._halt.visible = True
        self._send.disable()
        background_tasks.create(self._answer(self._turn, choice, HumanMessage(question)), name="answer")
        return True

    def _checked(self, question: str) -> Choice:
        if self._turn:
            raise RagError("One question at a time: wait for the answer, or stop it.")
        if not question:
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

    def _stop(self) -> None:
        if self._turn:
            self._turn.stop()


def _icon_button(icon: str, label: str) -> ui.button:
    return ui.button(icon=icon).props(f'flat round aria-label="{label}"').tooltip(label)
