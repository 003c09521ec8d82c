"""A headless Chromium, a chat page to open in it, and accessibility checks."""

import re
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect
from processes import start_command

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --disable-dev-shm-usage""".split()
PATIENCE = 90_000  # milliseconds; the first question loads the embedder
expect.set_options(timeout=PATIENCE)
_STARTED = "The page of "

# The controls a keyboard reaches that have no name to read out.
_NAMELESS = """() => [...document.querySelectorAll(
        'button, input:not([type=file]), textarea, select, a[href], [role=button], [role=combobox], [role=switch]')]
    .filter(control => control.offsetParent !== null && !control.closest('[aria-hidden=true]'))
    .filter(control => ![
        control.getAttribute('aria-label'), control.innerText,
        ...(control.labels ? [...control.labels].map(label => label.innerText) : []),
        document.getElementById(control.getAttribute('aria-labelledby'))?.innerText,
    ].some(name => name && name.trim()))
    .map(control => control.outerHTML.slice(0, 200))"""

_DROP = """([name, text]) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([text], name));
    return ['dragover', 'drop'].every(kind => !document.querySelector('.conversation').dispatchEvent(
        new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer})));
}"""

# The texts whose contrast with their background is below WCAG AA: 4.5, or 3 where they are large.
_FAINT = """() => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
    const rgba = colour => {
        canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = colour => colour.slice(0, 3).map(c => c / 255)
        .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, place) => sum + c * [0.2126, 0.7152, 0.0722][place], 0);
    const behind = element => {
        for (let at = element; at; at = at.parentElement) {
            const colour = rgba(getComputedStyle(at).backgroundColor);
            if (colour[3] === 255) return colour;
        }
        return [255, 255, 255, 255];
    };
    const faint = [];
    for (const element of document.querySelectorAll('body *')) {
        const words = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
        const shown = element.offsetParent !== null && !element.closest('[disabled], .disabled, script, style');
        const style = getComputedStyle(element), size = parseFloat(style.fontSize);
        if (!words || !shown || style.visibility !== 'visible') continue;
        const [a, b] = [light(rgba(style.color)), light(behind(element))];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        const large = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700);
        if (contrast < (large ? 3 : 4.5))
            faint.push(`${contrast.toFixed(2)}: ${element.className} ${element.textContent.trim().slice(0, 40)}`);
    }
    return faint;
}"""


@contextmanager
def chromium(playwright: Playwright) -> Iterator[Browser]:
    """Start the browser and close it at the end."""
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
    try:
        yield browser
    finally:
        browser.close()


@contextmanager
def serving(kb: Path, *options: str, prepare: Callable[[], object] | None = None, **environment: str) -> Iterator[str]:
    """Run `langgraph-rag chat` over a knowledge base, in its process `prepare` before, and yield its address."""
    command = ["chat", "--kb", str(kb), "--port", "0", "--no-browser", *options]
    server, printed = start_command(*command, prepare=prepare, HF_HUB_OFFLINE="1", **environment)
    with printed:
        try:
            line = next((line for line in printed if line.startswith(_STARTED)), "")
            assert line, "the server did not come up"
            yield line.split(" is at ")[1].split()[0]
        finally:
            server.kill()
            server.join()


@contextmanager
def silent_port(*, listens: bool) -> Iterator[int]:
    """Hold a port where nobody answers: calls wait for ever, or are refused if it does not even listen."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        if listens:
            held.listen()
        yield held.getsockname()[1]


@dataclass
class Tab:
    """A tab with the page open, and all it asked for and complained about."""

    page: Page
    hosts: set[str] = field(default_factory=set)
    troubles: list[str] = field(default_factory=list)

    @classmethod
    def open(cls, window: BrowserContext, url: str) -> "Tab":
        """Open the page in a window."""
        page = window.new_page()
        page.set_default_timeout(PATIENCE)
        tab = cls(page)
        page.on("request", lambda request: tab.hosts.add(str(urlsplit(request.url).hostname)))
        page.on("websocket", lambda opened: tab.hosts.add(str(urlsplit(opened.url).hostname)))
        page.on("requestfailed", lambda request: tab.troubles.append(f"failed: {request.url}"))
        page.on("response", lambda got: tab.troubles.append(f"{got.status}: {got.url}") if got.status >= 400 else None)
        page.on("pageerror", lambda error: tab.troubles.append(str(error)))
        page.on("console", lambda m: tab.troubles.append(m.text) if m.type in ("error", "warning") else None)
        page.goto(url)
        tab.box.wait_for()
        return tab

    @property
    def box(self) -> Any:
        """The box to ask in."""
        return self.page.get_by_role("textbox", name="Question", exact=True)

    def ask(self, question: str) -> None:
        """Ask and do not wait for the answer."""
        self.box.fill(question)
        self.box.press("Enter")

    def answer(self, place: int = 0) -> str:
        """Wait for the answer of a question and return it."""
        turn = self.page.locator(".turn").nth(place)
        turn.locator(".cost").wait_for()
        return str(turn.locator(".answer").inner_text())

    def alert(self) -> str:
        """Wait for a message of an error and return it."""
        return str(self.page.get_by_role("alert").filter(visible=True).last.inner_text())

    def click_twice(self, label: str) -> None:
        """Click where a button is now, and there once more."""
        place = self.page.get_by_role("button", name=label, exact=True).bounding_box()
        assert place
        for _ in range(2):
            self.page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
            self.page.wait_for_timeout(250)

    def drop(self, name: str, text: str) -> bool:
        """Drop a file on the page; return whether the browser was kept from opening it."""
        return bool(self.page.evaluate(_DROP, [name, text]))

    def choose(self, label: str, value: str) -> None:
        """Choose from a list by its label."""
        self.page.get_by_role("combobox", name=label).click()
        self.page.get_by_role("option", name=re.compile(rf"^{re.escape(value)}(:|$)")).click()

    def unfold_limits(self) -> None:
        """Show the controls of search and limits."""
        self.page.get_by_text("Search and limits").click()
        self.page.get_by_label("Top k").wait_for()

    def nameless(self) -> list[str]:
        """Return the controls that have no name to read out."""
        return list(self.page.evaluate(_NAMELESS))

    def faint(self) -> list[str]:
        """Return the texts that are hard to read on their background."""
        return list(self.page.evaluate(_FAINT))
