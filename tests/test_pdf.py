"""Reading PDF files, which are made here."""

import json
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject
from typer.testing import CliRunner

from langgraph_rag import read_documents
from langgraph_rag.cli import app
from langgraph_rag.errors import DocumentError
from langgraph_rag.tools.reading.pdf import _Line, _paragraphs, _whole, read_pdf

Line = tuple[float, str]
BODY, LARGE = 10.0, 20.0
FULL = "the passage boats of the isle leave the mole in the early morning, and"


def body(*lines: str) -> list[Line]:
    return [(BODY, line) for line in lines]


def pdf(*pages: list[Line], password: str = "") -> bytes:
    """Write a file of pages with lines of some size in Helvetica."""
    writer, written = PdfWriter(), BytesIO()
    font = {"Type": "Font", "Subtype": "Type1", "BaseFont": "Helvetica", "Encoding": "WinAnsiEncoding"}
    names = DictionaryObject({NameObject(f"/{key}"): NameObject(f"/{value}") for key, value in font.items()})
    fonts = DictionaryObject({NameObject("/F1"): names})
    for lines in pages:
        page = writer.add_blank_page(595, 842)
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        shown = [
            f"BT /F1 {size} Tf 1 0 0 1 50 {800 - 24 * number} Tm ({text}) Tj ET"
            for number, (size, text) in enumerate(lines)
        ]
        content = DecodedStreamObject()
        content.set_data("\n".join(shown).encode("cp1252"))
        page[NameObject("/Contents")] = writer._add_object(content)
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    writer.write(written)
    return written.getvalue()


def test_a_file_is_titled_by_what_its_first_page_sets_largest() -> None:
    first = [(BODY, "Annals, volume 3"), (LARGE, "The Ferries"), (LARGE, "of Kell"), (BODY, "Kell is an isle.")]

    assert read_pdf(pdf(first, [(30.0, "Appendix")])).title == "The Ferries of Kell"
    assert read_pdf(pdf(body("Kell is an isle.", "It is small."))).title == ""
    assert read_pdf(pdf([(LARGE, "Kell " * 100), (BODY, "It is small.")])).title == ""
    assert read_pdf(pdf([(LARGE, "1968"), (BODY, "Kell is an isle.")])).title == ""


def test_lines_are_joined_to_paragraphs_and_halves_of_words_to_words() -> None:
    lines = body(
        "Boats",
        f"{FULL} they re-",
        "turn at night.",
        f"{FULL} the mail",
        "comes with them.",
    )

    (page,) = read_pdf(pdf(lines)).pages

    assert page.split("\n\n") == ["Boats", f"{FULL} they return at night.", f"{FULL} the mail comes with them."]


def test_a_line_ends_its_paragraph_where_the_next_word_would_have_fitted() -> None:
    narrow = body(
        "It has been documented", "seldom among the", "extraordinary tubenoses", "Few of them", "The others left."
    )

    (page,) = read_pdf(pdf(narrow)).pages

    assert page.split("\n\n") == [
        "It has been documented seldom among the extraordinary tubenoses Few of them",
        "The others left.",
    ]


@pytest.mark.parametrize(
    ("line", "following", "joined"),
    [
        ("Frau Maria von M\xfcller-", "L\xfcdenscheidt sang.", "M\xfcller-L\xfcdenscheidt sang."),
        ("There was no COVID-", "19 on the isle.", "COVID-19 on"),
        ("It is a list of pre-", "and post-war boats.", "pre- and post-war"),
        ("See the page of kell/ferry-", "boats on it.", "kell/ferry-boats on it."),
        ("It is a sail-", "ing boat.", "a sailing boat."),
        ("They went there -", "and came back.", "there - and came back."),
    ],
)
def test_a_hyphen_at_the_end_of_a_line_goes_where_it_cuts_a_word(line: str, following: str, joined: str) -> None:
    (page,) = read_pdf(pdf(body(line, following))).pages

    assert joined in page


def test_an_initial_is_a_part_of_its_word_and_no_title() -> None:
    lines = [(40.0, "T"), (LARGE, "Boats of Kell"), *body("he ferries of Kell are old.")]

    read = read_pdf(pdf(lines))
    assert (read.title, read.pages) == ("Boats of Kell", ["The ferries of Kell are old."])


def test_the_numbers_of_footnotes_are_left_out_but_not_those_of_units() -> None:
    assert _whole([_Line(10.0, "It was built by Ada Renk."), _Line(6.0, "1"), _Line(10.0, " It is old.")]) == (
        10.0,
        "It was built by Ada Renk. It is old.",
    )
    assert _whole([_Line(10.0, "The isle has 20 km"), _Line(6.0, "2")]).text == "The isle has 20 km2"
    assert _whole([_Line(10.0, "In CO"), _Line(6.0, "2"), _Line(10.0, ", 10"), _Line(6.0, "6")]).text == "In CO2, 106"


def test_a_line_of_a_hundred_thousand_footnotes_and_a_page_of_as_many_lines_are_read() -> None:
    assert _whole([_Line(10.0, "isle"), _Line(6.0, "1")] * 100_000).text == "isle" * 100_000
    assert _paragraphs([_Line(10.0, FULL)] * 100_000) == " ".join([FULL] * 100_000)


def test_a_sentence_that_goes_on_over_the_page_stands_whole_on_the_next() -> None:
    first, second = body("Kell is an isle.", f"It lies where {FULL} sail-"), body("ing boats lie.", "Orsby is a town.")

    pages = read_pdf(pdf(first, second)).pages

    assert pages[0] == "Kell is an isle."
    assert pages[1].startswith(f"It lies where {FULL} sailing boats lie.")


def test_and_so_does_one_that_goes_on_with_a_name_after_others() -> None:
    pages = read_pdf(pdf(body(f"{FULL} return. They sail to the"), body("Sarl in spring."))).pages

    assert pages == [f"{FULL} return.", "They sail to the Sarl in spring."]


def test_running_heads_and_numbers_of_pages_are_left_out() -> None:
    texts = ("Kell is an isle.", "Orsby is a town.", "The Sarl is a river.")
    pages = [body(f"The ferries of Kell {n}", f"{text} It has {n} boats.", str(n)) for n, text in enumerate(texts)]

    assert read_pdf(pdf(*pages)).pages == [f"{text} It has {n} boats." for n, text in enumerate(texts)]


FULL_PAGE = [f"{FULL} they return." for _ in range(12)]
Numbered = tuple[str, int | list[str]]  # a line, and what it is numbered with, from page to page or from the first on
HEADS: dict[str, Numbered] = {
    "on a page each": ("The Ferries of Kell {}", 1),
    "from a page of a volume on": ("{} A. Renk et al.", 1_023),
    "of all pages": ("Ferries - Page {} of 12", 1),
    "in Roman numbers": ("- {} -", ["iii", "iv", "v"]),
    "without a number": ("The Ferries of Kell", 1),
}
CONTENT: dict[str, Numbered] = {
    "invoices": ("Invoice no. 100{}", 0),
    "invoices of one word": ("Invoice {}", 1_000),
    "days": ("{} March 2024", 1),
    "years": ("Report of the ferries for {}", 1_911),
    "labels": ("Customer: Ann Lee", 1),
    "sentences": ("The isle had {} boats then.", 1),
}


def numbered(line: str, first: int | list[str]) -> list[str]:
    return [line.format(n) for n in (range(first, first + 3) if isinstance(first, int) else first)]


@pytest.mark.parametrize("case", HEADS)
def test_a_running_head_is_the_same_on_several_pages_or_counts_them(case: str) -> None:
    pages = [body(head, *FULL_PAGE) for head in numbered(*HEADS[case])]

    assert [page.partition(" ")[0] for page in read_pdf(pdf(*pages)).pages] == ["the"] * 3


def test_two_pages_that_are_counted_have_heads() -> None:
    pages = [body(head, *FULL_PAGE) for head in ("The Ferries of Kell 7", "The Ferries of Kell 8")]

    assert [page.partition(" ")[0] for page in read_pdf(pdf(*pages)).pages] == ["the"] * 2


@pytest.mark.parametrize("case", CONTENT)
@pytest.mark.parametrize("rest", [FULL_PAGE, ["Kell is an isle.", "It is small."]], ids=["full", "short"])
def test_other_numbers_that_rise_are_what_pages_say(case: str, rest: list[str]) -> None:
    lines = numbered(*CONTENT[case])

    read = read_pdf(pdf(*[body(line, *rest) for line in lines])).pages

    assert all(page.startswith(line) for page, line in zip(read, lines, strict=True))


def test_nothing_of_forms_is_lost_or_moved_to_another_page() -> None:
    invoices = [
        ("Invoice no. 1000", "Date: 1 March 2024", "Customer: Ann Lee", "3 pumps of type K-30", "Total due: 411 euros"),
        ("Invoice no. 1001", "Date: 2 March 2024", "Customer: Bo Marsh", "4 pumps of type K-40", "Paid by Bo"),
        ("Invoice no. 1002", "Date: 3 March 2024", "Customer: Bo Marsh", "4 pumps of type K-40", "Paid by Bo"),
    ]

    pages = read_pdf(pdf(*[body(*lines) for lines in invoices])).pages

    assert [" ".join(page.split()) for page in pages] == [" ".join(lines) for lines in invoices]


@pytest.mark.parametrize(
    ("last", "first"),
    [
        ("Customer: Ann Lee", "of Kell."),
        ("Kell is an isle. Ann Lee", "Invoice no. 1001"),
        ("Kell is an isle. Ann Lee", "3 pumps were sent."),
        ("Kell is an isle. Ann Lee", "Customer: Bo Marsh."),
        ("pumps of brass", "pumps of iron"),
    ],
)
def test_what_does_not_go_on_stays_on_its_page(last: str, first: str) -> None:
    assert read_pdf(pdf(body(last), body(first))).pages == [last, first]


def test_a_title_that_two_slides_have_is_no_running_head() -> None:
    cover = [(30.0, "The Ferries of Kell"), *body("A report.")]
    slides = [[(LARGE, "Results"), *body(text, "It is so.", "Ask us.")] for text in ("There are six.", "Two are new.")]

    assert [page.partition("\n\n")[0] for page in read_pdf(pdf(cover, *slides)).pages] == [
        "A report.",
        "Results",
        "Results",
    ]


def test_pages_are_documents_that_can_be_cited(tmp_path: Path) -> None:
    pages = [[(LARGE, "The Ferries of Kell"), *body("Kell is an isle.")], [], body("Ada Renk built the Kell ferry.")]
    (tmp_path / "ferries.pdf").write_bytes(pdf(*pages))

    first, third = read_documents(tmp_path)

    assert (first["title"], first["text"], first["metadata"]) == (
        "The Ferries of Kell",
        "Kell is an isle.",
        {"page": 1},
    )
    assert (third["title"], third["metadata"]) == ("The Ferries of Kell", {"page": 3})
    asked = ["ask", "Who built the Kell ferry?", "--kb", str(tmp_path / "kb")]
    CliRunner().invoke(app, ["index", str(tmp_path / "ferries.pdf"), "--kb", str(tmp_path / "kb")])
    answer = CliRunner().invoke(app, asked).stdout
    assert "Answer: Ada Renk\n" in answer
    assert f"The Ferries of Kell ({tmp_path / 'ferries.pdf'}, page 3), step 1: Ada Renk built" in answer
    result = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)
    assert {entry["page"] for entry in result["evidence"] if entry["sentence"].startswith("Ada")} == {"3"}
    assert {"page": 3} in [passage["metadata"] for passage in result["passages"]]


GOOD = pdf(body("Kell is an isle."))
BAD = {
    "text": (b"Kell is an isle.", "it cannot be read as PDF"),
    "half": (GOOD[: len(GOOD) // 2], "it cannot be read as PDF"),
    "empty": (b"", "it cannot be read as PDF"),
    "locked": (pdf(body("Kell is an isle."), password="salt"), "it wants a password: save it without one"),
    "scan": (pdf([]), r"expected a PDF file with text, got one without: is it a scan\?"),
    "without pages": (pdf(), "expected a PDF file with text, got one without"),
}


def test_a_file_that_says_more_than_anybody_reads_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    written = pdf(*[body("Kell is an isle.")] * 20)
    monkeypatch.setattr("langgraph_rag.tools.reading.pdf._MOST_INSTRUCTIONS", 50)

    with pytest.raises(ValueError, match="cannot be read as PDF .it holds more than 50 instructions"):
        read_pdf(written)


@pytest.mark.parametrize("kind", BAD)
def test_what_cannot_be_read_is_told(tmp_path: Path, kind: str) -> None:
    written, problem = BAD[kind]
    (tmp_path / "ferries.pdf").write_bytes(written)

    with pytest.raises(DocumentError, match=f"ferries.pdf: {problem}"):
        read_documents(tmp_path / "ferries.pdf")
