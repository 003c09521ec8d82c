"""What is read of files: documents with their titles, ids and other fields."""

import json
import os
import warnings
from pathlib import Path

import pytest

from langgraph_rag.errors import DocumentError
from langgraph_rag.tools.documents.files import read_documents
from langgraph_rag.tools.ingest.splitting import ESTIMATED
from langgraph_rag.tools.ingest.stages import to_passages


def passages_of(folder: Path, markdown: str) -> list[tuple[str, str]]:
    """Return title and text of each passage of a file `notes.md`."""
    file = folder / "notes.md"
    file.write_text(markdown, encoding="utf-8")
    return [(passage["title"], passage["text"]) for passage in to_passages(read_documents([file]))]


@pytest.mark.parametrize(
    ("markdown", "title", "text"),
    [
        ("# Pellworth #\n\nA town.", "Pellworth", "A town."),
        ("## Pellworth\n\nA town.", "Pellworth", "A town."),
        ("Pellworth\n=====\n\nA town.", "Pellworth", "A town."),
        ("Kell is an isle.\nIt is small.", "Kell", "Kell is an isle. It is small."),
        ("---\ntitle: 'The Salt Road'\ndate: 1968\n---\nOf 1968.", "The Salt Road", "Of 1968."),
        ("+++\ntitle = 'The Salt Road'\n+++\nOf 1968.", "The Salt Road", "Of 1968."),
        ("---\ntitle: 'Road'\n---\n# A film\n\nOf 1968.", "A film (Road)", "Of 1968."),
        ("---\ndate: 1968\n---\n# A film\n\nOf 1968.", "A film", "Of 1968."),
        ("---\ntitle: Only that\n---\n", "Only that", "title: Only that"),
        ("---\ndate: 2023-13-45\n---\n# A film\n\nOf 1968.", "A film", "Of 1968."),
        (f"---\nparts: {'[' * 5000}\n---\n# A film\n\nOf 1968.", "A film", "Of 1968."),
        ("---\ndraft: !!bool maybe\n---\n# A film\n\nOf 1968.", "A film", "Of 1968."),
        ("---\nn: !!int ''\n---\n# A film\n\nOf 1968.", "A film", "Of 1968."),
        ("---\ndate: !!timestamp soon\n---\n# A film\n\nOf 1968.", "A film", "Of 1968."),
        ("---\ntitle:\ndate: 1968\n---\n# A film\n\nOf 1968.", "A film", "Of 1968."),
        ("---\ntitle: Ferry: a history\nauthor: Ada\n---\nOf 1968.", "Ferry: a history", "Of 1968."),
        ("# Only a heading", "Only a heading", "Only a heading"),
        ("# Kell\n\n## An isle\n\n## Ada built its mill", "Kell", "An isle\nAda built its mill"),
        ("kell is an isle.\n\n```\n# sail\n```", "notes", "kell is an isle.\n\n```\n# sail\n```"),
    ],
)
def test_a_markdown_file_is_titled_by_its_front_matter_or_heading(
    tmp_path: Path, markdown: str, title: str, text: str
) -> None:
    assert passages_of(tmp_path, markdown) == [(title, text)]


@pytest.mark.parametrize(
    ("note", "text"),
    [
        ("Its mayor is Dahl. ![[map.png|300]] He is old.", "Its mayor is Dahl. He is old."),
        ("See [[People#Berit Nygaard]] and [[#Boats]].", "See People, Berit Nygaard and Boats."),
        ("It is written in [[languages|C#]] and [[F#]].", "It is written in C# and F#."),
        ("Ada led it. %%Is that\nso?%% It was new.", "Ada led it. It was new."),
    ],
)
def test_notes_of_obsidian_are_read_as_they_are_seen(tmp_path: Path, note: str, text: str) -> None:
    assert [found for _, found in passages_of(tmp_path, note)] == [text]


def test_each_section_of_a_markdown_file_is_a_passage_titled_by_its_headings(tmp_path: Path) -> None:
    markdown = """\
# People

Who works here.

## Ada Renk

Ada Renk leads the ferry.

### Phone (office)

Ask Orla.

## Harbour

## Orla Vint

She mends boats.
"""
    assert passages_of(tmp_path, markdown) == [
        ("People", "Who works here."),
        ("Ada Renk (People)", "Ada Renk leads the ferry."),
        ("Phone (office) (People, Ada Renk)", "Ask Orla."),
        ("Orla Vint (People)", "She mends boats."),
    ]


def test_what_headings_state_that_have_no_text_below_them_is_text_of_the_section_above(tmp_path: Path) -> None:
    markdown = """\
# Kell

## History

An isle.

### 1883: Ada built the mill
### Later
### 1950: the mill burnt down

## It has two harbours today
## Ferries

One a day.
"""
    assert passages_of(tmp_path, markdown) == [
        ("History (Kell)", "An isle.\n\n1883: Ada built the mill\n\n1950: the mill burnt down"),
        ("Kell", "It has two harbours today"),
        ("Ferries (Kell)", "One a day."),
    ]


@pytest.mark.parametrize(
    "paragraph", ["It was built\nby Ada in 1883", "It was built by Ada in 1883.", "It is " * 300 + "old"]
)
def test_a_paragraph_right_above_a_rule_is_no_heading(tmp_path: Path, paragraph: str) -> None:
    passages = passages_of(tmp_path, f"# Mill\n\n{paragraph}\n---\n\nIt burnt down.")

    assert {title for title, _ in passages} == {"Mill"}
    assert passages[0][1].startswith(" ".join(paragraph.split())[:25]) and passages[-1][1].endswith("It burnt down.")


def test_emphasis_nested_without_end_is_read_as_it_stands(tmp_path: Path) -> None:
    passages = passages_of(tmp_path, "# Kell\n\n" + "*a " * 400 + "b*" * 400)

    assert passages[-1][1].endswith("b*b*b*")


def test_headings_of_one_level_without_one_above_them_stand_for_themselves(tmp_path: Path) -> None:
    assert passages_of(tmp_path, "## Kell\n\nAn isle.\n\n## Sund\n\nA strait.") == [
        ("Kell (notes)", "An isle."),
        ("Sund (notes)", "A strait."),
    ]


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("The **HX** by [Ada](https://a.b/c?d=1) ~~or~~ `x`![a boat](b.png).", "The HX by Ada xa boat."),
        ("See [[Ada Renk|Ada]] and [[Orla]].", "See Ada and Orla."),
        ("A row of [[1, 2.5]] by [[1]](https://a.b/c).", "A row of [[1, 2.5]] by [1]."),
        (
            "`[[ -f x ]]`\n\n```sh\n[[ -f x ]]\n```\n\n    [[Orla]]",
            "[[ -f x ]]\n\n```sh\n[[ -f x ]]\n```\n\n```\n[[Orla]]\n```",
        ),
        ("Opened in 1911<br>Sold<br />\nby Ada.", "Opened in 1911\nSold\nby Ada."),
        ("| Feature | Value |\n|---|---|\n| Weight | 2 kg |\n| Ports | |", "- Weight: 2 kg\n- Ports"),
        ("| | |\n|---|---|\n| Weight | 2 kg |", "- Weight: 2 kg"),
        ("| Boat<br>name | By |\n|---|---|\n| HX | Ada<BR>Renk |", "- Boat name: HX; By: Ada Renk"),
        ("- [x] Sail\n- Row\n  - fast\n\n1. Swim", "- Sail\n- Row\n- Row: fast\n\n- 1. Swim"),
        ("12. Mai 1870 in Kell geboren.", "- 12. Mai 1870 in Kell geboren."),
        ("10<sup>6</sup> on the 20<sup>th</sup>, 3<sup>-5</sup>", "10^6 on the 20th, 3^-5"),
        (
            "x<sup>2</sup>, H<sub>2</sub>O, 2<sup>n</sup>, x<sup>n+1</sup>, by Ada<sup>a</sup>",
            "x^2, H2O, 2^n, x^(n+1), by Adaa",
        ),
        (
            "| | A1 | B2 |\n|-|-|-|\n| Power | 5 kW | 7 kW |\n| Weight: | 20 kg | 30 kg |\n| Seal | | yes |",
            "- A1: Power: 5 kW\n- B2: Power: 7 kW\n- A1: Weight: 20 kg\n- B2: Weight: 30 kg\n- B2: Seal: yes",
        ),
        (
            "| Yard | Price | Size |\n|-|-|-|\n| Kell | $5 | 3 m |\n| Ost | $7 | 4 m |",
            "- Yard: Kell; Price: $5; Size: 3 m\n- Yard: Ost; Price: $7; Size: 4 m",
        ),
        ("- Mill:\n  - owner: Ada\n    - since 1883", "- Mill:\n- Mill: owner: Ada\n- Mill: owner: Ada: since 1883"),
        ("- It was closed.\n  - Then it opened.", "- It was closed.\n- Then it opened."),
        ("It sails.[^1] Use `[^a]`.\n\n[^1]: By Ada.", "It sails. Use [^a].\n\nBy Ada."),
        ("> Kell is small.\n>\n> It is dry.", "Kell is small.\n\n  It is dry."),
        (
            "| Boat | By |\n|---|---|\n| **HX** | Ada |\n| MX | |",
            "- Boat: HX; By: Ada\n- Boat: MX",
        ),
        ("<p>By <b>Ada</b>,<br>from <i>Kell</i>.</p><script>x()</script>", "By Ada,\nfrom Kell."),
        ("By <b>Ada</b><script>x() < 1</script><STYLE a='b'>\np {}</STYLE>, of *Kell*.", "By Ada, of Kell."),
        ("By <b>Ada</b><!-- no --> &amp; Orla.", "By Ada & Orla."),
        ("<table><td>a<![0]</td></table>", "a"),
        ("<div>By <![logo](x.png)> Ada</div>", "By Ada"),
        ("<div>By <![if !IE]>Ada<![endif]></div>", "By Ada"),
        ("One  \ntwo.", "One\ntwo."),
        ("By Ada.[^1] `a[^1]` \\[^b]\n\n[^1]: https://kell.example", "By Ada. a[^1] [^b]\n\nhttps://kell.example"),
        ("- Config:\n  ```yaml\n  - name: x\n  ```", "- Config:\n  ```yaml\n  - name: x\n  ```"),
        (
            "~~~py\nx\n~~~\n\n    y\n\n- z\n  ````\n  ```\n  ````",
            "~~~py\nx\n~~~\n\n```\ny\n```\n\n- z\n  ````\n  ```\n  ````",
        ),
        ("~~~~~~~ a`b`\n````\n~~~\n~~~~~~~", "````` ab\n````\n~~~\n`````"),
    ],
)
def test_what_a_reader_sees_is_the_text(tmp_path: Path, markdown: str, text: str) -> None:
    assert passages_of(tmp_path, f"# Kell\n\n{markdown}") == [("Kell", text)]


def test_every_row_of_a_long_table_names_its_columns(tmp_path: Path) -> None:
    rows = "\n".join(f"| P{n} | {n} crowns and some pence |" for n in range(100))

    passages = passages_of(tmp_path, f"# Prices\n\n| Part | Price |\n|---|---|\n{rows}")

    assert len(passages) > 1
    assert all(
        line.startswith("- Part: P") and "; Price: " in line for _, text in passages for line in text.split("\n")
    )


def test_every_part_of_a_long_block_of_code_is_marked_as_code(tmp_path: Path) -> None:
    code = "\n".join(f"{n}: some value" for n in range(150))

    _, *parts, last = passages_of(
        tmp_path, f"# Kell\n\nAn isle.\n\n```yaml\n{code}\n```\n\nIt is {'very ' * 180}small."
    )

    assert len(parts) > 1
    assert all(text.startswith("```yaml\n") and text.endswith("\n```") for _, text in parts)
    assert "```" not in last[1]


@pytest.mark.parametrize("sentence", ["鲁迅出生于绍兴。", "鲁迅出生于绍兴\n", "เรือออกจากท่า"])
def test_text_without_spaces_between_words_is_split_too(tmp_path: Path, sentence: str) -> None:
    text = "".join(f"{number}{sentence}" for number in range(400))

    lengths = [len(part) for _, part in passages_of(tmp_path, f"# Kell\n\n{text}")]

    assert max(lengths) <= 300  # 240 tokens: characters, and numbers, two digits each
    assert min(lengths[:-1]) > 150


def test_a_word_without_end_is_cut(tmp_path: Path) -> None:
    parts = [text for _, text in passages_of(tmp_path, f"# Kell\n\n{'x' * 15_000} ends.")]

    assert max(map(len, parts)) == 1_200  # by an estimate, five letters are a token
    assert parts[-1].endswith("x ends.")


def test_text_with_words_parted_by_zero_width_spaces_is_split_between_words(tmp_path: Path) -> None:
    parts = [text for _, text in passages_of(tmp_path, "សៀមរាប\u200b" * 200)]

    assert len(parts) > 1
    assert {word for part in parts for word in part.split("\u200b")} <= {"សៀមរាប", ""}


@pytest.mark.parametrize(("source", "known"), [(None, ""), ("", ""), ("wiki", "wiki")])
def test_a_line_that_names_no_source_came_from_its_file(tmp_path: Path, source: str | None, known: str) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text(json.dumps({"text": "Kell is an isle.", "source": source}), encoding="utf-8")

    (passage,) = to_passages(read_documents([file]))

    assert passage["source"] == (known or str(file))


def test_a_file_may_be_given_alone_and_as_a_string(tmp_path: Path) -> None:
    file = tmp_path / "kell.txt"
    file.write_text("Kell is an isle.", encoding="utf-8")

    assert read_documents(str(file)) == read_documents(file) == read_documents([str(file)]) == read_documents([file])


@pytest.mark.parametrize("indent", [None, 2])
def test_json_is_a_list_of_documents_or_one(tmp_path: Path, indent: int | None) -> None:
    documents = [{"id": "kell", "text": "Kell is an isle.", "height": 3}, {"title": "Ost", "text": "Ost is a town."}]
    for name, value in (("several", documents), ("one", documents[0])):
        (tmp_path / f"{name}.json").write_text(json.dumps(value, indent=indent))

    kell, ost = read_documents(tmp_path / "several.json")
    (alone,) = read_documents(tmp_path / "one.json")

    assert (kell["id"], kell["text"], kell["metadata"]) == ("kell", "Kell is an isle.", {"height": 3})
    assert (ost["title"], ost["source"]) == ("Ost", str(tmp_path / "several.json"))
    assert alone["text"] == kell["text"]


def test_json_in_a_folder_is_taken_for_settings(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"text": "wrapped"}')
    (tmp_path / "kell.md").write_text("Kell is an isle.")

    assert [document["title"] for document in read_documents(tmp_path)] == ["Kell"]


def test_utf_16_is_read_where_its_mark_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ørsby is a town.\r\n", encoding="utf-16")

    assert [document["text"] for document in read_documents(tmp_path)] == ["Ørsby is a town."]


def test_a_long_line_that_opens_code_is_not_repeated_before_each_part() -> None:
    words = " ".join(f"w{number}" for number in range(600))
    opening = "``` is how a block opens; " + " ".join(f"note{number}" for number in range(150))

    parts = to_passages([{"text": f"{opening}\n{words}"}])

    assert len(parts) > 3
    assert sum("note7 " in part["text"] for part in parts) == 1
    assert max(len(part["text"].split()) for part in parts) < 220


RST = """\
=========
Harl Mill
=========

.. _mill:

Harl Mill was built by :class:`Ada Renk <mill.Renk>` in 1931, says `the page <https://mill.example>`_.

Machines
--------

.. note::
   It has a wheel, which :meth:`turns`. See also `Rivers`_.

Parts
~~~~~

Each ``cog_`` is listed::

    cog_
"""


def test_restructured_text_is_read_by_its_sections(tmp_path: Path) -> None:
    file = tmp_path / "mill.rst"
    file.write_text(RST)

    assert [(passage["title"], passage["text"]) for passage in read_documents([tmp_path])] == [
        ("Harl Mill", "Harl Mill was built by Ada Renk in 1931, says the page."),
        ("Machines (Harl Mill)", "It has a wheel, which turns. See also Rivers."),
        ("Parts (Harl Mill, Machines)", "Each cog_ is listed:\n\n```\ncog_\n```"),
    ]


@pytest.mark.parametrize("name", ["LICENSE", "mill.tex", "README"])
def test_any_file_of_text_is_read_where_it_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "harl").mkdir()
    file = tmp_path / "harl" / name
    file.write_text("the mill stands.")

    (passage,) = read_documents([file])

    assert passage["text"] == "the mill stands."
    assert passage["title"] == (name if name == "mill.tex" else f"harl {name}")
    with pytest.raises(DocumentError, match="name a file to have it read"):
        read_documents([tmp_path])


@pytest.mark.parametrize("name", ["pipe.txt", "pipe"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)

    with pytest.raises(DocumentError, match="expected a file or a folder, got something else, such as a pipe"):
        read_documents([tmp_path / name])


@pytest.mark.parametrize(
    ("written", "title", "text"),
    [
        ("LS(1)\t\tUser Commands\t\tLS(1)\n\nNAME\n", "LS(1)", "LS(1)\t\tUser Commands\t\tLS(1)\n\nNAME"),
        ("N\bNA\bAM\bME\bE\n\nls lists _\bf_\bi_\bl_\be_\bs.", "NAME", "ls lists files."),
        ("\x1b[1mNAME\x1b[0m\n\nls lists meth\u2010\n   ods.", "NAME", "ls lists methods."),
        ("Metadata-Version: 2.1\nName: srsly\nVersion: 2\n\nIt reads.", "srsly", None),
        ("Format: https://x.example\nUpstream-Name: harl\n\nFiles: *", "harl", None),
        ("#!/bin/sh\n\necho Kell", "notes", None),
    ],
)
def test_the_titles_of_technical_texts(tmp_path: Path, written: str, title: str, text: str | None) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(written)

    (passage,) = read_documents([file])

    assert (passage["title"], passage["text"]) == (title, text or written)


def test_data_without_spaces_is_cut_so_that_it_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "data.txt"
    data = "".join(f"{number:x}" for number in range(10_000))
    file.write_text(data)

    parts = [passage["text"] for passage in to_passages(read_documents([file]))]

    assert "".join(parts) == data
    assert max(map(ESTIMATED.count, parts)) <= 240


def test_a_page_that_is_xml_is_read_without_warnings(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text('<?xml version="1.0"?><page><p>The mill stands.</p></page>')

    with warnings.catch_warnings(action="error"):
        (passage,) = read_documents([file])

    assert passage["text"] == "The mill stands."


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("time: 12:30", "12:30"),
        ("zip: 01234", "01234"),
        ("version: 1.10", "1.10"),
        ("lang: no", "no"),
        ("on: 2031-01-05", "2031-01-05"),
        ("key: 0x1F", "0x1F"),
        ("size: 1_000", "1_000"),
        ("rate: 1e3", "1e3"),
        ("year: 2031", 2031),
        ("draft: true", True),
        ("tags: [yes, 3.0]", ["yes", "3.0"]),
        ("at: Kell: north", "Kell: north"),  # which is invalid YAML
        ("zip: 01234\nat: Kell: north\ntags:\n- no\nby:\n  name: Ada\n  code: 007",
         ["01234", "Kell: north", ["no"], {"name": "Ada", "code": "007"}]),
    ],
)  # fmt: skip
def test_front_matter_keeps_what_is_written(tmp_path: Path, written: str, kept: object) -> None:
    file = tmp_path / "mill.md"
    file.write_text(f"---\ntitle: No\n{written}\n---\nIt stands.\n")

    (document,) = read_documents(file)

    values = list(dict(document["metadata"]).values())  # type: ignore[call-overload]
    assert (document["title"], values) == ("No", kept if len(values) > 1 else [kept])


@pytest.mark.parametrize(
    ("front", "title", "fields"),
    [
        ("---\nTitle: true\nlang: no\n...\n", "true", {"lang": "no"}),
        ('+++\ntitle = "Mill"\nat = 2031-01-05T10:00:00Z\nkey = 0x1F\nyear = 2031\n[by]\nday = 2031-01-05\n+++\n',
         "Mill", {"at": "2031-01-05T10:00:00Z", "key": "0x1F", "year": 2031, "by": {"day": "2031-01-05"}}),
        ('{\n  "title": "Mill",\n  "version": 1.10\n}\n', "Mill", {"version": "1.10"}),
        ("Title: Mill\nDate: 2031-01-05 12:30\nSummary: Of\n  oak.\n\n", "Mill",
         {"Date": "2031-01-05 12:30", "Summary": "Of oak."}),
    ],
)  # fmt: skip
def test_front_matter_of_other_kinds_is_read_as_it_is_written(
    tmp_path: Path, front: str, title: str, fields: dict[str, object]
) -> None:
    file = tmp_path / "mill.md"
    file.write_text(f"{front}It stands.\n")

    (document,) = read_documents(file)

    assert (document["title"], document["text"], document["metadata"]) == (title, "It stands.", fields)


def test_a_sentence_with_a_colon_between_rules_is_no_front_matter(tmp_path: Path) -> None:
    file = tmp_path / "mill.md"
    file.write_text("---\nThis is what it is: a mill.\n---\nIt stands.\n")

    assert read_documents(file)[0]["text"] == "This is what it is: a mill.\n\nIt stands."


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("Costs ~~800~~ 950, ~~once~~ now.", "Costs 950, now."),
        ("Costs <del>800</del><ins>950</ins>, <s>or <b>so</b></s> more.", "Costs 950, more."),
        ("Costs <span style='text-decoration: line-through'>800</span> 950.", "Costs 950."),
        ("<p>Costs <strike>800</strike><ins>950</ins>.</p>", "Costs 950."),
        ("Costs {--800 --}{++*950*++}, {~~once~>again~~} {==now==}{>>Is it?<<}.", "Costs 950, again now."),
        ("- ~~gone~~\n- there", "- there"),
        ("- [x] ~~gone~~\n- [ ] there", "- there"),
        ("- ~~gone~~\n  - ~~too~~\n  - here\n- - there", "- here\n- there"),
        ("Costs ~800~ 950, some ~5 km off, H~2~O.", "Costs 950, some ~5 km off, H2O."),
        ("<del>\n\nIt was old.\n\n- It was.\n\n</del>\n\n<ins>\n\nIt is new.\n\n</ins>", "It is new."),
        ("<del>\n\nIt is old.", "It is old."),
        ("| Name | Year |\n|---|---|\n| ~~Kell~~ | ~~1870~~ |\n| Harl | ~~1882~~ 1883 |", "- Name: Harl; Year: 1883"),
        ("1. a\n1. b\n1. c", "- 1. a\n- 2. b\n- 3. c"),
        ("4. a\n5. b\n\nSo:\n\n6. c", "- 4. a\n- 5. b\n\nSo:\n\n- 6. c"),
        ("12. May 1870: born\n15. June 1931: died", "- 12. May 1870: born\n- 15. June 1931: died"),
    ],
)
def test_what_is_struck_is_left_out_and_items_are_counted(tmp_path: Path, markdown: str, text: str) -> None:
    assert passages_of(tmp_path, f"# Kell\n\n{markdown}") == [("Kell", text)]


def test_a_notebook_is_its_texts_and_its_code(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Mill\n", "It *stands*."]},
        {"cell_type": "code", "source": "turn()", "outputs": [{"text": ["printed"]}], "execution_count": 1},
        {"cell_type": "markdown", "source": "## Dam\n\nIt holds."},
        {"cell_type": "code", "source": [], "outputs": []},
    ]
    file = tmp_path / "mill.ipynb"
    file.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))

    read = [(part["title"], part["text"]) for part in read_documents(file)]
    assert read == [("Mill", "It stands.\n\n```\nturn()\n```"), ("Dam (Mill)", "It holds.")]

    file.write_text('{"no": "cells"}')
    assert read_documents(file)[0]["text"] == '{"no": "cells"}'
