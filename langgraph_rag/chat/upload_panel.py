"""Uploads files, and shows the progress while they are added."""

from collections.abc import Callable
from typing import Any
from weakref import WeakMethod

from nicegui import background_tasks, events, ui

from langgraph_rag.chat.shared import Shared
from langgraph_rag.chat.upload_queue import Message
from langgraph_rag.naming import first_few
from langgraph_rag.tools.documents.files import READABLE

_NAMES = """(refused) => {
    const others = refused.filter((one) => one.failedPropValidation === 'accept');  // not what is under way already
    if (others.length) emit(others.map((one) => one.file.name));
}"""


def _weakly(method: Callable[[Any], object]) -> Callable[[Any], object]:
    """Return a handler with a weak reference: FastAPI keeps each uploader for its route, and would keep the page."""
    held = WeakMethod(method)

    def handler(event: Any) -> object:
        return alive(event) if (alive := held()) else None

    return handler


class UploadPanel:
    """Uploads files, drawn in the current `with` block; `show` makes it visible for messages."""

    def __init__(self, shared: Shared, show: Callable[[], object]) -> None:
        self._queue, self._show = shared.queue, show
        uploader = ui.upload(multiple=True, auto_upload=True, on_multi_upload=_weakly(self._add))
        uploader.classes("hidden-uploader").props(f'accept="{",".join(READABLE)}"')
        uploader.on("rejected", _weakly(self._refuse), js_handler=_NAMES)
        self._uploader = f"getElement({uploader.id}).$refs.qRef"
        uploader.on("uploaded", js_handler=f"() => {self._uploader}.removeUploadedFiles()")
        forget = f"failed.files.forEach((file) => {self._uploader}.removeFile(file))"
        names = "emit(failed.files.map((file) => file.name))"
        uploader.on("failed", _weakly(self._tell_failed), js_handler=f"(failed) => {{ {names}; {forget}; }}")
        button = self.adding_button("outline").classes("adding")
        take = f"(e) => {{ emit(); {self._uploader}.addFiles(e.detail); }}"
        button.on("files", self._forget, js_handler=take)
        ui.label(f"Files ending in {', '.join(READABLE)}").classes("help")
        self._progress = ui.linear_progress(0, show_value=False).props('aria-label="Documents added"')
        self._under_way = ui.label().classes("uploads").props("aria-live=polite")
        self._stop = ui.button("Stop adding", on_click=self._queue.stop).props("no-caps flat dense")
        self._waiting = ui.label().classes("uploads")
        self._refusals, self._messages = (ui.column().classes("uploads").props("aria-live=polite") for _ in range(2))
        self._told: list[Message] = []
        self._show_queue()
        shared.changed.subscribe(self._show_queue)

    def adding_button(self, look: str) -> ui.button:
        """Draw a button that opens the file dialog."""
        button = ui.button("Add documents", icon="upload_file").props(f"no-caps {look}")
        return button.on("click", self._forget, js_handler=f"() => {{ emit(); {self._uploader}.pickFiles(); }}")

    def _forget(self) -> None:
        self._refusals.clear()

    def _refuse(self, refused: events.GenericEventArguments) -> None:
        self._tell_refusal(f"{first_few(refused.args, 10)}: expected files ending in {', '.join(READABLE)}.")

    def _tell_failed(self, failed: events.GenericEventArguments) -> None:
        self._tell_refusal(f"{first_few(failed.args, 10)}: the upload failed; try again, or with fewer at once.")

    def _tell_refusal(self, text: str) -> None:
        self._show()
        with self._refusals:
            _draw(Message(text, "alert"))

    def _add(self, arrived: events.MultiUploadEventArguments) -> None:
        self._show()
        background_tasks.create(self._queue.add(arrived.files), name="uploads")

    def _show_queue(self) -> None:
        current = self._queue.current
        self._progress.visible = self._stop.visible = current is not None
        self._under_way.text = self._queue.under_way
        self._waiting.visible = bool(self._queue.waiting)
        self._waiting.text = f"{self._queue.names_waiting()}: waiting …"
        if current:
            self._progress.value = current.share
            self._stop.enabled = bool(self._queue.waiting) or not current.stopping
        self._show_messages()

    def _show_messages(self) -> None:
        """Draw only new messages, so that a screen reader reads none twice."""
        if self._told != self._queue.messages[: len(self._told)]:
            self._messages.clear()
            self._told = []
        with self._messages:
            for message in self._queue.messages[len(self._told) :]:
                _draw(message)
        self._told = list(self._queue.messages)


def _draw(message: Message) -> None:
    ui.label(message.text).classes(message.kind).props(f"role={'alert' if message.kind == 'alert' else 'status'}")
