import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from langgraph_rag.errors import DocumentError
from langgraph_rag.tools.reading.files import read_documents
from langgraph_rag.tools.reading.html import read_html
from langgraph_rag.tools.reading.markdown import Section, read_markdown

_DOCS = sorted((Path(__file__).parents[1] / "docs").glob("*.md"))


def _texts(tmp_path: Path, html: str | bytes) -> dict[object, object]:
    page = tmp_path / "page.html"
    page.write_bytes(html.encode() if isinstance(html, str) else html)
    return {document["title"]: document["text"] for document in read_documents(page)}


def test_the_sections_of_the_main_part_are_passages_without_what_surrounds_them(tmp_path: Path) -> None:
    assert _texts(
        tmp_path,
        """<!doctype html><title>Mills of Tolmar - Atlas</title>
        <header><a href="/">Atlas</a></header><nav><ul><li>Rivers<li>Towns</ul></nav>
        <main>
          <article><header><h1>Mills of Tolmar <a href="#top">&para;</a></h1></header>
          <p>Three mills stand at<br>the Ister.<sup>[2]</sup>
          <h2>Upper Mill</h2><p hidden>Draft</p>
          <p>Built for 10<sup>4</sup> crowns by <a href="renk.html">Ada&nbsp;Renk</a>.<script>count()</script>
          <ul><li>Wheels: 2<li>Owner: Jon Hale</ul>
          <dl><dt>Miller<dd>Orla Vint</dl>
          <table><tr><th>Year<th>Event<tr><td>1883<td>A fire</table>
          </article>
        </main>
        <footer>Imprint</footer>""",
    ) == {
        "Mills of Tolmar": "Three mills stand at\nthe Ister.",
        "Upper Mill (Mills of Tolmar)": "Built for 10^4 crowns by Ada\u00a0Renk.\n\n- Wheels: 2\n- Owner: Jon Hale\n\n"
        "Miller: Orla Vint\n\n- Year: 1883; Event: A fire",
    }


def test_the_title_in_the_head_names_a_page_whose_headings_name_none(tmp_path: Path) -> None:
    assert list(_texts(tmp_path, "<title>The\n mill</title><hr><p>wheels: 2</p><hr><p>It stands.")) == ["The mill"]
    assert list(_texts(tmp_path, "<title>Site</title><h1>The mill</h1><p>It stands.")) == ["The mill"]
    assert list(_texts(tmp_path, "<p>It stands.<svg><title>Menu</title></svg>")) == ["page"]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<table><tr><th>Year<th>Builder<tr><td rowspan=2>1883<td>Ada<tr><td>Bo</table>",
         "- Year: 1883; Builder: Ada\n- Year: 1883; Builder: Bo"),
        ("<table><tr><td rowspan=3>A<td colspan=2>x<tr><td rowspan=2>B<td>y<tr><td>z</table>",
         "- A; x\n- A; B; y\n- A; B; z"),
        ("<table><thead><tr><th>A<th>B<th>C<tbody><tr><td rowspan=2 colspan=2>x<td>1<tr><td>2</table>",
         "- A: x; C: 1\n- A: x; C: 2"),
        ("<table><thead><tr><th>A<th>B<tbody><tr><td rowspan=0>x<td>1<tr><td>2<tbody><tr><td rowspan=9>y<td>3<tbody>"
         "<tr><td>z<td>4</table>", "- A: x; B: 1\n- A: x; B: 2\n- A: y; B: 3\n- A: z; B: 4"),
        ("<table><thead><tr><th colspan=0>A<th>B<tr><th>1<th>2<tbody><tr><td>x<td>y</table>", "- A 1: x; B 2: y"),
        ("<table><tr><th>A<th>B<th>C<tr><td rowspan=100 colspan=100>x<td colspan=x>1<tr><td>y<td>2</table>",
         "- A: x; B: 1\n- A: y; B: 2"),
        ("<table><tr><td rowspan=900000000>A<td colspan=x>b<tr><td>c</table>", "- A: b\n- A: c"),
        ("<table><thead><tr><th rowspan=2>Area<th colspan=2>2023<tr><th>Q1<th>Q2<tbody><tr><td>North<td>5<td>6</table>",
         "- Area: North; 2023 Q1: 5; 2023 Q2: 6"),
        ("<table><thead><tr><th>A<th rowspan=9>B<tr><th>C<tr><th><tbody><tr><td>1<td>2</table>", "- A C: 1; B: 2"),
        ("See below.<table><caption>Mills</caption><colgroup><col><tr><th>Name<th>Age<tr><td>Ada<td>5</table>",
         "See below.\n\nMills\n\n- Name: Ada; Age: 5"),
        ("<table><tbody><tr><th>Name<th>Age<tr><td>Bo<td>6<tbody><tr><td>Ada<td>5</table>",
         "- Name: Bo; Age: 6\n- Name: Ada; Age: 5"),
        ("<table><tr><td>Kell is an island.<table><tr><th>Mayor<td>Ada Moss</table></table>",
         "Kell is an island.\n\n- Mayor: Ada Moss"),
        ('See <img src="./Kell - Atlas_files/map.png" alt="A map [1]">.', "See A map [1]."),
        ("The class [^abc] [[x]] matches; for %%i in (a) do echo %%i.",
         "The class [^abc] [[x]] matches; for %%i in (a) do echo %%i."),
        ("<ul><li>Config:<pre>- name: x\n- b: 2</pre></ul>", "- Config:\n  ```\n  - name: x\n  - b: 2\n  ```"),
        ("See below.<details><summary>More</summary>Inside</details>", "See below.\n\nMore\n\nInside"),
    ],
)  # fmt: skip
def test_what_markdown_would_write_otherwise_is_kept(tmp_path: Path, html: str, text: str) -> None:
    assert list(_texts(tmp_path, html).values()) == [text]


@pytest.mark.parametrize("document", _DOCS, ids=lambda document: document.stem)
def test_a_page_made_from_markdown_reads_as_the_markdown_does(document: Path) -> None:
    markdown = re.sub(r"<!--.*?-->", "", document.read_text(), flags=re.DOTALL)
    page = read_html(MarkdownIt("commonmark").enable("table").render(markdown))
    title, sections, _ = read_markdown(markdown)
    title_of_page, sections_of_page, _ = read_markdown(page.markdown)

    assert (title_of_page, [*map(_words, sections_of_page)]) == (title, [*map(_words, sections)])


def _words(section: Section) -> tuple[tuple[str, ...], list[str]]:
    return section.headings, re.sub(r"```\w*", "```", section.text).split()


@pytest.mark.parametrize(
    "written",
    [
        "<p>Zoë".encode("utf-16"),
        "<meta charset=windows-1252><p>Zoë".encode("windows-1252"),
        "<?xml version='1.0' encoding='ISO-8859-1'?><html><body><p>Zoë</p></body></html>".encode("latin-1"),
    ],
)
def test_a_page_is_read_in_the_encoding_that_it_declares(tmp_path: Path, written: bytes) -> None:
    assert list(_texts(tmp_path, written).values()) == ["Zoë"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (b"", "the file is empty"),
        (
            b"<title>App</title><div id=root></div><script>start()</script>",
            "expected a page with text, got one without",
        ),
        (b"<table><tr><td><td></table>", "expected a page with text, got one without"),
        (b"<p>Zo\xeb", "expected UTF-8 text, got byte 0xeb at 5"),
        (b"<meta charset=klingon><p>Zo\xeb", "expected UTF-8 text, got byte 0xeb"),
        (b"<meta charset=shift_jis><p>Zo\xeb<", "expected CP932 text, got byte 0xeb"),
        (b"<meta charset=undefined><p>Zo\xeb", "expected UTF-8 text, got byte 0xeb"),
        (b"\x89PNG\r\n\x00\x00", "expected UTF-8 text, got byte 0x89 at 0"),
    ],
)
def test_a_page_that_cannot_be_read_is_an_error(tmp_path: Path, written: bytes, expected: str) -> None:
    with pytest.raises(DocumentError, match=expected):
        _texts(tmp_path, written)


@pytest.mark.parametrize("tags", ["<div>" * 5_000, "<ul><li>" * 2_000, "<![foo[ x ]]>", "<p><b>" * 3_000])
def test_nothing_is_lost_of_a_page_that_is_nested_too_deeply_or_broken(tags: str) -> None:
    assert "The mill stands." in read_html(f"{tags}The mill stands.").markdown
