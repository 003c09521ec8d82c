"""The documentation site builds without warnings, loads nothing from other hosts, and has no broken links."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from pages import ROOT

RESOURCES = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}


@dataclass
class Page(HTMLParser):
    """What a page links to, what it loads, and the places in it that can be linked to."""

    links: list[str] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if RESOURCES.get(tag) in given:
            self.resources.append(given[RESOURCES[tag]])
        self.places |= {given[name] for name in ("id", "name") if name in given}
        self.classes |= set(given.get("class", "").split())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": "docs"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    pages = {}
    for file in (ROOT / "site").rglob("*.html"):
        pages[file] = Page()
        pages[file].feed(file.read_text())
    return pages


def test_every_page_of_the_navigation_is_built(site: dict[Path, Page]) -> None:
    named = re.findall(r'"([\w-]+)\.md"', (ROOT / "zensical.toml").read_text())
    assert named
    assert {f"{name}.html" for name in named} <= {file.name for file in site}


def test_every_page_is_in_the_navigation() -> None:
    named = re.findall(r'"([\w-]+\.md)"', (ROOT / "zensical.toml").read_text())
    written = {file.name for file in (ROOT / "docs").glob("*.md")}
    # the page of results is made by a benchmark, and may be there or not
    assert written - {"results.md"} == set(named) - {"results.md"}


def test_no_page_loads_anything_from_elsewhere(site: dict[Path, Page]) -> None:
    for file, page in site.items():
        assert page.resources, file
        assert [resource for resource in page.resources if urlsplit(resource).netloc] == [], file
        # for these the theme's script would fetch what draws them
        assert page.classes.isdisjoint({"mermaid", "glightbox"}), file
    for sheet in (ROOT / "site").rglob("*.css"):
        assert not re.search(r"""(@import|url\()\s*["']?(https?:)?//""", sheet.read_text()), sheet


def test_every_link_within_the_site_leads_somewhere(site: dict[Path, Page]) -> None:
    for file, page in site.items():
        if file.name == "404.html":  # its links count from the root of wherever the site lies
            continue
        for link in page.links + page.resources:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            assert target.exists(), f"{file.name} links to {link}"
            if parts.fragment and target in site:
                assert unquote(parts.fragment) in site[target].places, f"{file.name} links to {link}"


def test_every_diagram_is_drawn(site: dict[Path, Page]) -> None:
    drawn = [file.name for file, page in site.items() if "diagram" in page.classes]
    assert sorted(drawn) == sorted(
        file.with_suffix(".html").name for file in (ROOT / "docs").glob("*.md") if "```mermaid" in file.read_text()
    )
