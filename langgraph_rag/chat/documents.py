"""The documents of the page: files are taken, added a few passages at a time, and told of."""

import asyncio
from collections.abc import Callable
from typing import Any
from weakref import WeakMethod

from nicegui import events, ui

from langgraph_rag.chat import uploading
from langgraph_rag.chat.shared import Shared
from langgraph_rag.chat.turn import message_for
from langgraph_rag.naming import counted, first_few
from langgraph_rag.tools.folders import READABLE

_NAMES = """(refused) => {
    const others = refused.filter((one) => one.failedPropValidation === 'accept');  // not what is under way already
    if (others.length) emit(others.map((one) => one.file.name));
}"""


def _weakly(method: Callable[[Any], object]) -> Callable[[Any], object]:
    """Return a handler that keeps no page in memory: FastAPI remembers each uploader for its route."""
    held = WeakMethod(method)

    def handler(event: Any) -> object:
        return alive(event) if (alive := held()) else None

    return handler


class DocumentsPanel:
    """Takes files, drawn where the caller's `with` stands; `show` has it seen where there is something to tell."""

    def __init__(self, shared: Shared, show: Callable[[], object]) -> None:
        self._shared, self._show = shared, show
        self._adding, self._halted = asyncio.Lock(), False
        ui.html("Documents", tag="h2").classes("section")
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
        button.on("files", self._begin, js_handler=take)
        ui.label(f"Files ending in {', '.join(READABLE)}").classes("help")
        self._progress = ui.linear_progress(0, show_value=False).props('aria-label="Documents added"')
        self._under_way = ui.label().classes("uploads").props("aria-live=polite")
        self._halt_adding = ui.button("Stop adding", on_click=self._stop_adding).props("no-caps flat dense")
        self._progress.visible = self._halt_adding.visible = False
        self._uploads = ui.column().classes("uploads").props("aria-live=polite")

    def adding_button(self, look: str) -> ui.button:
        """Draw a button that lets files be chosen."""
        button = ui.button("Add documents", icon="upload_file").props(f"no-caps {look}")
        return button.on("click", self._begin, js_handler=f"() => {{ emit(); {self._uploader}.pickFiles(); }}")

    def _begin(self) -> None:
        if not self._adding.locked():
            self._uploads.clear()
            self._halted = False

    def _stop_adding(self) -> None:
        self._halted = True

    def _refuse(self, refused: events.GenericEventArguments) -> None:
        self._show()
        self._tell(f"{first_few(refused.args, 10)}: expected files ending in {', '.join(READABLE)}.", error=True)

    def _tell_failed(self, failed: events.GenericEventArguments) -> None:
        self._show()
        self._tell(f"{first_few(failed.args, 10)}: the upload failed; try again, or with fewer at once.", error=True)

    async def _add(self, arrived: events.MultiUploadEventArguments) -> None:
        self._show()
        self._shared.uploads += 1
        with self._uploads:
            waiting = ui.label(f"{first_few(list(map(uploading.name_of, arrived.files)), 10)}: waiting …")
        try:
            async with self._adding:
                if not waiting.is_deleted:
                    waiting.delete()
                for file in arrived.files:
                    if self._halted:
                        self._tell(f"{uploading.name_of(file)}: not added.")
                    else:
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
            self._tell(message_for(error), error=True)
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
