"""Compares readers of HTML pages: how much of what a page says is kept, how much chrome is left, and how long it takes.

A site's chrome are the blocks that stand on a quarter of its pages; its text are the others. Kept is the share of
three words in a row, by kind of block; of chrome, how many words a page are left. The pages are every nth of those of
Debian 12's packages apache2-doc, git-doc, libcommons-lang3-java-doc (Javadoc), libsfml-doc (Doxygen), mkdocs-doc,
nodejs-doc, octave-doc (Texinfo), postgresql-doc-15 (DocBook), python-django-doc and python-flask-doc (Sphinx), each
unpacked in a folder of its own (`apt-get download`, `dpkg-deb -x`). The other readers, trafilatura and
readability-lxml, are installed for this comparison only.

python benchmarks/html_readers.py FOLDER [--pages 40]
"""

import argparse
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag
from measuring import report

from langgraph_rag.errors import DocumentError
from langgraph_rag.tools.documents.files import read_documents

Reader = Callable[[Path], str]
_BLOCKS = ["p", "li", "dt", "dd", "td", "th", "pre", "h1", "h2", "h3", "h4", "caption", "div", "span", "a"]
_KINDS = {"pre": "code", "td": "cell", "th": "cell"} | dict.fromkeys(["h1", "h2", "h3", "h4", "caption"], "heading")
_ON_MANY = 0.25  # of a site's pages
_SAYS = 6  # words of prose


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder with a folder for each site")
    parser.add_argument("--pages", type=int, default=40, help="most pages of a site")
    arguments = parser.parse_args()
    sites = {site.name: _some(site, arguments.pages) for site in sorted(arguments.folder.iterdir()) if site.is_dir()}
    told = {name: _told(pages) for name, pages in sites.items()}
    results: dict[str, Any] = {}
    for reader, read in _readers():
        read(next(iter(sites.values()))[0])  # imports take time
        kept: dict[str, Counter[str]] = {}
        seconds, failed = 0.0, 0
        for site, pages in sites.items():
            kept[site] = Counter(pages=len(pages))
            for page in pages:
                begun = time.process_time()
                try:
                    text = read(page)
                except (DocumentError, ValueError):
                    text, failed = "", failed + 1
                seconds += time.process_time() - begun
                kept[site].update(_kept(text, told[site][page]))
        results[reader] = {
            "kept": _shares(sum(kept.values(), Counter())),
            "failed": failed,
            "milliseconds_a_page": round(1000 * seconds / sum(map(len, sites.values())), 1),
            "sites": {site: _shares(counts) for site, counts in kept.items()},
        }
    head = ("reader", "prose / code / cells / headings kept, %; words of chrome left a page", "ms a page")
    rows = [(name, _line(found["kept"]), str(found["milliseconds_a_page"])) for name, found in results.items()]
    report("html_readers", arguments.folder, {"readers": results}, [head, *rows])


def _some(site: Path, most: int) -> list[Path]:
    pages = [page for page in sorted(site.rglob("*.html")) if page.is_file() and "genindex" not in page.name]
    return pages[:: max(1, len(pages) // most)][:most]


def _told(pages: Sequence[Path]) -> dict[Path, list[tuple[str, str]]]:
    """Return the blocks of each page with their kinds: what stands on many pages of a site is chrome."""
    blocks = {page: list(dict.fromkeys(_blocks(page))) for page in pages}
    on = Counter(text for of_page in blocks.values() for text in {text for _, text in of_page})
    many = max(3, _ON_MANY * len(pages))
    return {
        page: [("chrome" if on[text] >= many else kind, text) for kind, text in of_page if kind or on[text] >= many]
        for page, of_page in blocks.items()
    }


def _blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Yield the innermost blocks of a page; the kind of those which may be text of either sort is empty."""
    body = BeautifulSoup(page.read_bytes(), "lxml").body
    for part in body.find_all(_BLOCKS) if body else ():
        inside = part.name in ("span", "a") or part.find(_BLOCKS[:-2]) or part.find_parent("pre")
        text = " ".join(part.get_text(" ").split())
        if inside and part.name != "pre" or not re.search(r"\w", text) or part.find_parent(["script", "style", "head"]):
            continue
        yield _kind(part, text), text


def _kind(part: Tag, text: str) -> str:
    linked = sum(len(link.get_text()) for link in part.find_all("a"))
    if part.name in _KINDS:
        return _KINDS[part.name]
    return "prose" if len(text.split()) >= _SAYS and linked < len(text) / 2 else ""


def _threes(text: str) -> list[tuple[str, ...]]:
    words = re.findall(r"[^\W_]+", text.lower())
    return [tuple(words[place : place + 3]) for place in range(max(1, len(words) - 2))] if words else []


def _kept(text: str, told: Sequence[tuple[str, str]]) -> Counter[str]:
    had = set(_threes(text)) | {(word,) for word in re.findall(r"[^\W_]+", text.lower())}
    had |= {pair[:2] for pair in had if len(pair) == 3} | {pair[1:] for pair in had if len(pair) == 3}
    counts: Counter[str] = Counter()
    for kind, block in told:
        threes = _threes(block)
        found = sum(three in had for three in threes)
        if kind == "chrome":
            counts["chrome"] += len(block.split()) if len(block.split()) > 1 and found == len(threes) else 0
        else:
            counts[kind] += len(threes)
            counts[f"{kind} kept"] += found
    return counts


def _shares(counts: Counter[str]) -> dict[str, float]:
    kinds = ("prose", "code", "cell", "heading")
    shares = {kind: round(100 * counts[f"{kind} kept"] / counts[kind], 1) for kind in kinds if counts[kind]}
    return {**shares, "chrome": round(counts["chrome"] / counts["pages"], 1)}


def _line(shares: dict[str, float]) -> str:
    return f"{' / '.join(f'{share:.1f}' for kind, share in shares.items() if kind != 'chrome')}; {shares['chrome']:.1f}"


def _by_trafilatura(trafilatura: Any, options: dict[str, bool], page: Path) -> str:
    return trafilatura.extract(page.read_bytes(), **options) or ""


def _readers() -> Iterator[tuple[str, Reader]]:
    """Yield the names of the readers that are installed, each with a function from a page to its text."""
    yield "langgraph_rag", lambda page: "\n".join(f"{one['title']}\n{one['text']}" for one in read_documents([page]))
    trafilatura, readability = _module("trafilatura"), _module("readability")
    if trafilatura:
        told = {"include_comments": False, "include_tables": True}
        for name, way in (("", {}), (", recall", {"favor_recall": True}), (", precision", {"favor_precision": True})):
            yield f"trafilatura{name}", partial(_by_trafilatura, trafilatura, {**told, **way})
    if readability:
        yield (
            "readability-lxml",
            lambda page: BeautifulSoup(readability.Document(_decoded(page)).summary(), "lxml").get_text("\n"),
        )
    yield "whole page", lambda page: BeautifulSoup(page.read_bytes(), "lxml").get_text("\n")


def _decoded(page: Path) -> str:
    return page.read_bytes().decode("utf-8", "replace")


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None


if __name__ == "__main__":
    main()
