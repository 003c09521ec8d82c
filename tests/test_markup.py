"""Texts whose names do not tell in what they are written, transcripts and mails."""

import re
from pathlib import Path

import pytest

from langgraph_rag.errors import UnknownNameError
from langgraph_rag.tools.documents.files import ending_of, read_documents
from langgraph_rag.tools.documents.markdown import Section, read_markdown
from langgraph_rag.tools.ingest.splitting import Splitter, Splitting, turns_of
from langgraph_rag.tools.ingest.stages import to_passages

WHEELS = " ".join(f"The wheel {n} turns slowly." for n in range(15))
DAMS = " ".join(f"The dam {n} holds well." for n in range(15))


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("Mill\n====\n\nIt stands.\n\nWheels\n------\n\nTwo.\n", ".rst"),
        ("The mill\n\n.. note::\n\n   It stands.\n", ".rst"),
        ("The mill is built by :class:`~mill.Renk`.\n", ".rst"),
        ("Mill\n====\n\nSet ``size`` to 5.\n", ".rst"),
        ("See `the dam <https://dam.example>`_ and::\n\n    x = 1\n", ".rst"),
        (".. _mill:\n\nThe mill stands.\n", ".rst"),
        ("# Mill\n\nIt stands.\n\n## Wheels\n\nTwo.\n", ".md"),
        ("# Mill\n\nIt **stands** by [the dam](https://dam.example/x).\n", ".md"),
        ("# Mill\n\n```python\nx = 1\n```\n", ".md"),
        ("Mills:\n\n| Name | Year |\n|---|---|\n| Harl | 1883 |\n", ".md"),
        ("- [x] built\n- [ ] **burned**\n", ".md"),
        ("<!DOCTYPE html>\n<title>Mill</title><p>It stands.", ".html"),
        ("  <html lang=en><p>It stands.", ".html"),
        ("The mill stands. It has two wheels.\n\n- Harl\n- Kell\n", ".txt"),
        ("# a remark\nsize = 5\n# another\nname = mill\n", ".txt"),
        ("# a remark\n\nsize = 5\n\n# another\n\nname = mill\n", ".txt"),
        ("Mill\n----\n\nIt stands at 5 * 3 and a[1](x).\n", ".txt"),
        ("From: Ada\nTo: Bo\nSubject: Mill\n\nIt stands.\n\n-- \nAda\n", ".txt"),
        ("0.1 %\n====================\nName\n====================\nx\n", ".txt"),
        ("Total:: 5 *items* and **kwargs, *args\n", ".txt"),
    ],
)
def test_a_text_tells_in_what_it_is_written(tmp_path: Path, text: str, ending: str) -> None:
    assert ending_of(text) == ending
    told, by_form = tmp_path / f"a{ending}", tmp_path / "b.txt"
    told.write_text(text)
    by_form.write_text(text)

    assert [part["text"] for part in read_documents(by_form)] == [part["text"] for part in read_documents(told)]


def test_a_text_whose_headings_are_underlined_keeps_its_lines_and_paths(tmp_path: Path) -> None:
    prose = "It is read at all times by those who have nothing else to read, and who read\nit twice a day."
    text = f"Harl Mill\n=========\n\nDam Lane 12\n4020 Kell\nD:\\mill\\*.txt\n\nUse\n---\n\n{prose}\n"
    (tmp_path / "mill.txt").write_text(text)

    assert [part["text"] for part in read_documents(tmp_path)] == [
        "Dam Lane 12\n4020 Kell\nD:\\mill\\*.txt",
        prose.replace("\n", " "),
    ]


def test_programs_and_settings_are_read_as_they_are(tmp_path: Path) -> None:
    text = '"""Mill\n====\n\n.. note:: ``x``\n"""\n\n# Turn\n\nx = 1\n\n## Stop\n\ny = 2'
    (tmp_path / "mill.py").write_text(text)

    assert [(part["title"], part["text"]) for part in read_documents(tmp_path / "mill.py")] == [("mill.py", text)]


def test_a_format_says_in_what_a_text_is_written(tmp_path: Path) -> None:
    file = tmp_path / "mill.txt"
    file.write_text("Mill\n====\n\nIt *stands* by the :term:`dam`.\n")
    page = tmp_path / "mill.html"
    page.write_text("<h1>Mill</h1><p>It *stands*.")

    def read(file: Path, format: str) -> list[tuple[object, object]]:
        return [(part["title"], part["text"]) for part in read_documents(file, format=format)]

    assert read(file, "rst") == [("Mill", "It stands by the dam.")]
    assert read(file, "markdown") == [("Mill", "It stands by the :term:dam.")]
    assert read(file, "text")[0][1] == "====\n\nIt *stands* by the :term:`dam`."
    assert read(page, "rst") == [("Mill", "It *stands*.")]  # its name tells it
    with pytest.raises(UnknownNameError, match="asciidoc.*html, markdown, rst, text"):
        read(file, "asciidoc")


@pytest.mark.parametrize(
    ("transcript", "labels"),
    [
        (f"Ada Moss: {WHEELS}\nBo Hale: {DAMS}\nAda Moss: Good.\n", ["Ada Moss:", "Bo Hale:"]),
        (f"ADA: {WHEELS}\n\n{WHEELS}\n\nBO: {DAMS}\n\n{DAMS}\n\nADA: Good.\n", ["ADA:", "BO:"]),
        (f"[00:01:12] Ada: {WHEELS}\n[00:02:10] Bo: {DAMS}\n[00:03:00] Ada: Good.\n",
         ["[00:01:12] Ada:", "[00:02:10] Bo:"]),
        (f"Ada (10:32 AM): {WHEELS}\nBo (host): {DAMS}\nAda (10:40 AM): Good.\n", ["Ada (10:32 AM):", "Bo (host):"]),
        (f"Ada Moss  10:32\n{WHEELS}\n\nBo Hale  10:33\n{DAMS}\n\nAda Moss  10:34\nGood.\n",
         ["Ada Moss  10:32", "Bo Hale  10:33"]),
        (f"**Ada:** {WHEELS}\n\n**Bo:** {DAMS}\n\n**Ada:** Good.\n", ["**Ada:**", "**Bo:**"]),
        (f"SPEAKER_00: {WHEELS}\nSPEAKER_01: {DAMS}\nSPEAKER_00: Good.\n", ["SPEAKER_00:", "SPEAKER_01:"]),
        (f"Q. {WHEELS}\nA. {DAMS}\nQ. Good?\nA. Yes.\n", ["Q.", "A."]),
        (f"12/03/2031, 10:32 - Ada Moss: {WHEELS}\n12/03/2031, 10:33 - Bo Hale: {DAMS}\n"
         "12/03/2031, 10:35 - Ada Moss: Good.\n",
         ["12/03/2031, 10:32 - Ada Moss:", "12/03/2031, 10:33 - Bo Hale:"]),
        (f"[Ada Moss] 10:00:01\n{WHEELS}\n\n[Bo Hale] 10:01:05\n{DAMS}\n\n[Ada Moss] 10:02:00\nGood.\n",
         ["[Ada Moss] 10:00:01", "[Bo Hale] 10:01:05"]),
        (f"Ada Moss\n0:03\n{WHEELS}\n\nBo Hale\n1:10\n{DAMS}\n\nAda Moss\n2:00\nGood.\n",
         ["Ada Moss\n0:03", "Bo Hale\n1:10"]),
        (f"**Ada Moss** (00:01)\n{WHEELS}\n\n**Bo Hale** (00:02)\n{DAMS}\n\n**Ada Moss** (00:03)\nGood.\n",
         ["**Ada Moss** (00:01)", "**Bo Hale** (00:02)"]),
        (f"ada.moss  [10:32 AM]\n{WHEELS}\nbo.hale  [10:33 AM]\n{DAMS}\nada.moss  [10:34 AM]\nGood.\n",
         ["ada.moss  [10:32 AM]", "bo.hale  [10:33 AM]"]),
        (f"ada \u2014 Today at 10:32 AM\n{WHEELS}\nbo \u2014 Today at 10:33 AM\n{DAMS}\n"
         "ada \u2014 Today at 10:34 AM\nGood.\n", ["ada \u2014 Today at", "bo \u2014 Today at"]),
        (f"1\n00:00:01,000 --> 00:00:04,000\nADA: {WHEELS}\n\n2\n00:00:04,500 --> 00:00:06,000\nBO: {DAMS}\n"
         "\n3\n00:00:07,000 --> 00:00:08,000\nADA: Good.\n", ["ADA:", "BO:"]),
        (f"ADA. {WHEELS}\n\nBO HALE. {DAMS}\n\nADA. Good.\n", ["ADA.", "BO HALE."]),
        (f"Ada \u2014 {WHEELS}\nBo \u2014 {DAMS}\nAda \u2014 Good.\n", ["Ada \u2014", "Bo \u2014"]),
        (f"Ada : {WHEELS}\nBo : {DAMS}\nAda : Bien.\n", ["Ada :", "Bo :"]),
        (f"\u827e\u8fbe\uff1a{WHEELS}\n\u535a\uff1a{DAMS}\n\u827e\u8fbe\uff1aGood.\n",
         ["\u827e\u8fbe\uff1a", "\u535a\uff1a"]),
        (f"<ada> {WHEELS}\n<bo> {DAMS}\n<ada> Good.\n", ["<ada>", "<bo>"]),
        (f"2031-03-02 10:32:05\tada\t{WHEELS}\n2031-03-02 10:33:05\t@bo\t{DAMS}\n2031-03-02 10:34:05\tada\tGood.\n",
         ["2031-03-02 10:32:05\tada", "2031-03-02 10:33:05\t@bo"]),
        (f"10:32 | Ada Moss | {WHEELS}\n10:33 | Bo | {DAMS}\n10:34 | Ada Moss | Good.\n",
         ["10:32 | Ada Moss |", "10:33 | Bo |"]),
        (f"INT. MILL - DAY\n\n    ADA\n  {WHEELS}\n\n    BO (O.S.)\n  {DAMS}\n\n    ADA\n  Good.\n",
         ["ADA", "BO (O.S.)"]),
        (f"WEBVTT\n\n00:01.000 --> 00:04.000\n<v Ada Moss>{WHEELS}\n\n00:05.000 --> 00:08.000\n<v Bo>{DAMS}\n",
         ["<v Ada Moss>", "<v Bo>"]),
        (f"From: Ada\nSent: Monday\nTo: Bo\nSubject: Wheels\n\n{WHEELS}\n\n-----Original Message-----\nFrom: Bo\n"
         f"Sent: Sunday\nTo: Ada\nSubject: Wheels\n\n{DAMS}\n",
         ["From: Ada", "From: Bo"]),
        (f"Ada Moss\n0 minutes 3 seconds\n{WHEELS}\n\nBo Hale\n1 minute 10 seconds\n{DAMS}\n\n"
         "Ada Moss\n2 hours 1 second\nGood.\n",
         ["Ada Moss\n0 minutes 3 seconds", "Bo Hale\n1 minute 10 seconds"]),
        (f"Ada Moss\n  10:32 AM\n{WHEELS}\n\nBo Hale\n  10:33 AM\n{DAMS}\n\nAda Moss\n  10:34 AM\nGood.\n",
         ["Ada Moss\n  10:32 AM", "Bo Hale\n  10:33 AM"]),
        (f"[05-Jan-31 10:32 AM] ada#1234\n{WHEELS}\n\n[05-Jan-31 10:33 AM] bo#0001\n{DAMS}\n\n"
         "[05-Jan-31 10:34 AM] ada#1234\nOK.\n",
         ["[05-Jan-31 10:32 AM] ada#1234", "[05-Jan-31 10:33 AM] bo#0001"]),
        (f"[SPEAKER_00]: {WHEELS}\n[SPEAKER_01]: {DAMS}\n[SPEAKER_00]: Good.\n", ["[SPEAKER_00]:", "[SPEAKER_01]:"]),
        (f"[0:01 --> 0:04] Ada: {WHEELS}\n[0:05 - 0:08] Bo: {DAMS}\n[0:09 --> 0:10] Ada: OK.\n",
         ["[0:01 --> 0:04] Ada:", "[0:05 - 0:08] Bo:"]),
        (f"10:32:05\t From Ada Moss : {WHEELS}\n10:33:05\t From Bo Hale : {DAMS}\n"
         "10:34:05\t From Ada Moss to Bo Hale(Privately) : Good.\n",
         ["10:32:05\t From Ada Moss :", "10:33:05\t From Bo Hale :"]),
        (f"You said:\n{WHEELS}\n\nChatGPT said:\n{DAMS}\n\nYou said:\nGood.\n", ["You said:", "ChatGPT said:"]),
        (f"user: {WHEELS}\n\nassistant: {DAMS}\n\nuser: Good.\n", ["user:", "assistant:"]),
        (f"Q   {WHEELS}\nA   {DAMS}\nQ   Good?\nA   Yes.\n", ["Q", "A"]),
        (f"  Mr. MOSS. {WHEELS}\n  Ms. HALE of Kell. {DAMS}\n  Mr. MOSS. Good.\n", ["Mr. MOSS.", "Ms. HALE of Kell."]),
        (f"**Von:** Ada\n**Gesendet:** Montag\n**An:** Bo\n\n{WHEELS}\n\n*From:* Bo\n*Sent:* Sunday\n"
         f"*To:* Ada\n\n{DAMS}\n",
         ["**Von:** Ada", "*From:* Bo"]),
        (f"From: Ada\nTo: Bo\n\n{WHEELS}\n\nOn 2 March 2031 Bo Hale\n<bo@mill.example> wrote:\n\n> {DAMS}\n",
         ["From: Ada", "On 2 March 2031 Bo Hale\n<bo@mill.example> wrote"]),
        (f"From: Ada\nTo: Bo\n\n{WHEELS}\n\nBo Hale wrote on 02.03.31:\n> {DAMS}\n", ["From: Ada", "Bo Hale wrote on"]),
        (f"From: Ada <ada@mill.example>\nTo: Bo\nSubject: Wheels\n\n{WHEELS}\n\n"
         f"On 2 March 2031, Bo Hale wrote:\n\n> {DAMS}\n",
         ["From: Ada <ada@mill.example>", "On 2 March 2031, Bo Hale wrote"]),
    ],
)  # fmt: skip
def test_every_part_of_a_turn_says_whose_it_is(transcript: str, labels: list[str]) -> None:
    parts = Splitter(how=Splitting(60)).split(transcript, "")

    assert len(parts) > 3
    for part in parts:
        for label, word in zip(labels, ("wheel", "dam"), strict=True):
            assert word not in part or label in part[: part.index(word)]


def test_answers_between_quoted_lines_are_of_the_writer_of_the_mail() -> None:
    mail = (
        f"From: Ada\nTo: Bo\n\nOn 2 March, Bo Hale wrote:\n> {DAMS}\n>\n> On 1 March, Cy wrote:\n>> It leaks.\n\n"
        f"{WHEELS}\n\n> Is it wet?\n\nNo.\n"
    )
    lines = {mail[place:].split("\n")[0][:12]: label for place, label in turns_of(mail).items()}

    assert lines == {
        "From: Ada": "From: Ada",
        "On 2 March, ": "On 2 March, Bo Hale wrote",
        "> On 1 March": "> On 1 March, Cy wrote",
        WHEELS[:12]: "From: Ada",
        "> Is it wet?": "On 2 March, Bo Hale wrote",
        "No.": "From: Ada",
    }
    page = re.sub("^(>+) ?", lambda found: "  " * len(found[1]), mail, flags=re.MULTILINE)  # as a quote of HTML is read
    assert [label.strip() for label in turns_of(page).values()] == [label.strip("> ") for label in lines.values()]
    parts = Splitter(how=Splitting(60)).split(mail, "")
    assert [part.split("\n")[0] for part in parts if WHEELS[-20:] in part] == ["From: Ada"]


@pytest.mark.parametrize(
    "text",
    [
        f"Default: 5\n\n{WHEELS}\n\n{DAMS}\n\nType: int\n\n{WHEELS}\n\n{DAMS}\n\nDefault: 7\n\n{WHEELS}\n",
        "Name: Harl\nYear: 1883\nOwner: Ada\n",
        "name: Harl\nyear: 1883\nname: Kell\nyear: 1901\nname: Tolm\n",
        f"As the poet wrote:\n\n{WHEELS}\n",
        f"> {WHEELS}\n\n{DAMS}\n",
        f"Note: it is wet.\n\n{WHEELS}\n\nNote: it is old.\n",
        "at 10:30: the mill\nand 10:40: the dam\n",
    ],
)
def test_labels_of_another_kind_are_no_turns(text: str) -> None:
    assert turns_of(text) == {}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("talk.txt", "Ada Moss  0:03\nIt turns.\n\nBo Hale  1:10\nIt holds.\n\nAda Moss  2:00\nGood."),
        ("talk.md", "Ada Moss\n\n0:03\n\nIt turns.\n\nBo Hale\n\n1:10\n\nIt holds.\n\nAda Moss\n\n2:00\n\nGood."),
    ],
)
def test_the_first_speaker_is_no_title(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(f"{text}\n")

    (document,) = read_documents(file)

    assert (document["title"], document["text"]) == ("talk", text)


@pytest.mark.parametrize(
    ("name", "subtitles", "text"),
    [
        (
            "talk.vtt",
            "WEBVTT - Mills\n\nNOTE old\nfile\n\n1\n00:01.000 --> 00:04.000 align:left\n"
            "<v Ada Moss>It <i>turns</i>\nand\n\n00:05.000 --> 00:06.000\n"
            "<v Ada Moss>grinds.</v>\n\n00:07.000 --> 00:08.000\n<v Bo>Q&amp;A</v>\n\n"
            "00:08.000 --> 00:09.000\n<v Ada Moss>Good.</v>\n",
            "Ada Moss: It turns and grinds.\nBo: Q&A\nAda Moss: Good.",
        ),
        (
            "talk.srt",
            "1\n00:00:01,000 --> 00:00:04,000\n \nthe wheel\nturns\n \n2\n00:00:04,000 --> 00:00:06,000\nturns\n"
            "all day.\n\n3\n00:00:07,000 --> 00:00:08,000\n- In 1883?\n- Yes.\n",
            "the wheel turns all day.\n- In 1883?\n- Yes.",
        ),
    ],
)
def test_subtitles_are_a_text_with_its_speakers(tmp_path: Path, name: str, subtitles: str, text: str) -> None:
    (tmp_path / name).write_text(subtitles)
    (tmp_path / "copy.txt").write_text(subtitles)

    assert [(one["title"], one["text"]) for one in read_documents([tmp_path / name, tmp_path / "copy.txt"])] == [
        (name, text),
        ("copy", text),
    ]


def test_a_talk_without_a_title_keeps_its_speakers_in_each_part() -> None:
    talk = f"Ada Moss  0:03\n{WHEELS}\n\nBo Hale  1:10\n{DAMS}\n\nAda Moss  2:00\nGood."
    passages = to_passages([{"text": talk}], Splitter(how=Splitting(60)))

    assert {passage["title"] for passage in passages} == {""}
    assert all(passage["text"].startswith(("Ada Moss", "Bo Hale")) for passage in passages)


def test_lines_of_a_transcript_in_markdown_stay_lines(tmp_path: Path) -> None:
    file = tmp_path / "talk.md"
    file.write_text("# Talk\n\n**Ada**: It turns.\n**Bo**: It holds,\nso far.\n**Ada**: Good.\n")

    assert read_documents(file)[0]["text"] == "Ada: It turns.\nBo: It holds,\nso far.\nAda: Good."


def test_spaces_without_end_take_no_time() -> None:
    assert turns_of("Ada" + " " * 100_000 + "x\n" + "> " * 50_000 + "Bo") == {}
    assert ending_of("`" * 100_000 + "=" * 100_000 + " |-" * 50_000 + "[" * 50_000) == ".txt"


BOXES = {
    "MkDocs": '!!! note "Hours"\n    It opens at nine.\n\n    - and closes at five\n\nAfter it.',
    "MkDocs, folded": "??? warning\n    Wet floor.\n\nAfter it.",
    "MkDocs, tabs": '=== "Linux"\n\n    Use apt.\n\n=== "Mac"\n\n    ```\n    brew install mill\n    ```',
    "in each other": '!!! tip "Outer"\n    Dry.\n\n    !!! danger "Inner"\n        Deep.',
    "in an item": "- one\n\n    !!! tip\n        Inside.\n\n- two",
    "Docusaurus": ":::tip[Useful]\nOil it.\n:::\n\nAfter it.",
    "Pandoc": "::: {.callout-note}\nOil it.\n:::",
    "GitHub": "> [!IMPORTANT]\n> Read this.\n\nAfter it.",
    "Obsidian": "> [!warning]- Folded\n> It is wet.\n> Very.",
    "MyST": "```{note}\nMind **it**.\n```\n\n:::{seealso} The dam\n:::",
    "after code": "- ```\n  a\n  ```\n\n> ```\n> b\n> ```\n\n```c``` d\n\n```{note}\nMind *it*.\n```",
    "no box": '```\n!!! note "code"\n    stays\n```\n\n!!! no box at all\n\n::: alone\n\nText',
}
READ_AS = {
    "MkDocs": "Hours: It opens at nine.\n\n- and closes at five\n\nAfter it.",
    "MkDocs, folded": "Wet floor.\n\nAfter it.",
    "MkDocs, tabs": "Linux: Use apt.\n\nMac:\n\n```\nbrew install mill\n```",
    "in each other": "Outer: Dry.\n\nInner: Deep.",
    "in an item": "- one\n  Inside.\n- two",
    "Docusaurus": "Useful: Oil it.\n\nAfter it.",
    "Pandoc": "Oil it.",
    "GitHub": "Read this.\n\nAfter it.",
    "Obsidian": "Folded: It is wet. Very.",
    "MyST": "Mind it.\n\nThe dam",
    "after code": "- ```\na\n```\n\n  ```\n  b\n  ```\n\nc d\n\nMind it.",
    "no box": '```\n!!! note "code"\n    stays\n```\n\n!!! no box at all\n\n::: alone\n\nText',
}


@pytest.mark.parametrize("kind", BOXES)
def test_boxes_of_page_generators_are_prose_after_their_titles(kind: str) -> None:
    assert "\n\n".join(part.text for part in read_markdown(BOXES[kind])[1]) == READ_AS[kind]


def test_a_label_with_a_wide_colon_is_one() -> None:
    ((_, text),) = read_markdown("- mill：\n\t- wheel：\n\t\t- oak。\n")[1]

    assert text == "- mill：\n- mill: wheel：\n- mill: wheel: oak。"


DIRECTIVES = {
    ":::{versionchanged} 3.1 It turns a {any}`wheel`.\n:::": "Changed in version 3.1: It turns a wheel.",
    "```{deprecated} 4.0\n\nUse the {term}`dam <dams>`.\n```\n\n```{versionadded} 2.0\n```":
        "Deprecated since version 4.0: Use the dam.\n\nNew in version 2.0.",
    ":::{glossary}\nMill\n    Grinds.\n\n    :::{seealso}\n    {doc}`dams`\n    :::\n\nDam\n  Holds.\n:::":
        "Mill:\n\n  Grinds.\n\n  dams\n\nDam: Holds.",
    "```{eval-rst}\n.. function:: turn(speed)\n\n   Turns :class:`~mill.Wheel` for $5 ^a^ or {{b}}.\n```":
        "turn(speed): Turns Wheel for $5 ^a^ or {{b}}.",
    "```{toctree}\n:maxdepth: 2\ndams\n```\n\n```{include} a.md\n```\n\n:::{contents}\n:::\n\nIt stands.": "It stands.",
    ":::{code-block} python\n:caption: A\n\na = {b}`c`\n:::\n\n```{r echo=FALSE}\nx\n```":
        "A\n\n```python\na = {b}`c`\n```\n\n```{r echo=FALSE}\nx\n```",
    "```{figure} a.png\n---\nalt: A mill\nname: x\n---\nIn *1883*.\n```": "A mill\n\nIn 1883.",
    "::::{tab-set}\n:::{tab-item} Linux\n:sync: a\nUse apt.\n:::\n:::{tab-item} Mac\nBy hand.\n:::\n::::":
        "Linux: Use apt.\n\nMac: By hand.",
    "```{list-table} Mills\n:header-rows: 1\n* - Name\n  - Year\n* - Harl\n  - in\n    1883\n```":
        "Mills\n\n- Name: Harl; Year: in 1883",
    '```{csv-table}\n:header: "Name", Year\n"Harl, old", 1883\n```': "- Name: Harl, old; Year: 1883",
    ":::{math}\n:label: x\na_1 * b_2\n+ c_1 * d\n:::": "a_1 * b_2\n+ c_1 * d",
    "::: outer\n::: {.callout-tip}\n## Oil\nIt helps.\n:::\n:::": "Oil: It helps.",
    ":::{py:function} turn(speed)\nTurns.\n:::\n\n::: mill.turn\n    options:\n      x: 1\n\nAfter.":
        "turn(speed): Turns.\n\nmill.turn\n\nAfter.",
}  # fmt: skip


@pytest.mark.parametrize("directive", DIRECTIVES)
def test_directives_of_myst_say_what_they_mean(directive: str) -> None:
    assert "\n\n".join(part.text for part in read_markdown(directive)[1]) == DIRECTIVES[directive]


MARKS = {
    "{class}`~mill.Wheel` of {py:func}`grind`, {cve}`2031-17`, {pep}`8`, H{sub}`2`O, 10{sup}`6`, {ref}`a *b* <c>`":
        "Wheel of grind, CVE-2031-17, PEP 8, H2O, 10^6, a *b*",
    "Mill\n: grinds\n\nDam *Harl*\n: holds\n: is old\n\nWheel?\n\n: turns\n\n  and turns":
        "Mill: grinds\n\nDam Harl: holds is old\n\nWheel?\n\n  turns\n\n  and turns",
    "$x_1 * y_1$ and \\(a_2\\), $5 and $6, $7 or 8$, $HOME/$USER, $$b * c * d$$, \\(so\\) \\[1\\]":
        "x_1 * y_1 and a_2, $5 and $6, $7 or 8$, $HOME/$USER, b * c * d, (so) [1]",
    "$$\na\n+ b_1\n- c_1\n$$ (eq)\n\n\\[\n\\frac{1}{2}\n\\]": "a\n+ b_1\n- c_1\n\n\\frac{1}{2}",
    "==very\n**old**== ++new++ 10^6^ 1^st^ H~2~O Na^+^Cl but a~b~c 2^3^4 x^2 a == b, C++ or G++ and `==x==`":
        "very old new 10^6 1st H2O Na+Cl but a~b~c 2^3^4 x^2 a == b, C++ or G++ and ==x==",
    "(mill)=\n% a remark\n\nIt is at 50\n% of [it](x){.a target=_b}, [very]{.b} ![big](y){ width=5% }.<!-- no -->\n\n"
    "{.lead}\nOld. {: .x }\n\n*[HTML]: Hyper\n\n+++":
        "It is at 50 % of it, very big.\n\nOld.",
    "---\nmyst:\n  substitutions:\n    mill: '*Harl*'\n---\n{{ mill }}, {{ dam }} and `{{ mill }}`":
        "Harl, {{ dam }} and {{ mill }}",
    "See [](dams.md), <project:#mill-x>, [](#how) and <https://dam.example>.":
        "See dams, mill-x, how and https://dam.example.",
    "It grinds^[Says *Ada* [@berg, p. 3].] rye [see @lind:20; -@berg]. @berg2031 [p. 1] and @ann, a@b2031.cc, @fig:a.":
        "It grinds rye [see lind:20; berg]. berg2031 [p. 1] and @ann, a@b2031.cc, fig:a.\n\nSays Ada [berg, p. 3].",
    "| Mill |\n|---|\n| Harl^[Old.] |\n\n- dam^[New.]": "- Mill: Harl\n\nOld.\n\n- dam\n\n  New.",
    "From $20, then $30 to $5-$10, **$20** or **$30**, $1k and $2k; $20=$30, ($4) or ($5); $5 < x < $6.":
        "From $20, then $30 to $5-$10, $20 or $30, $1k and $2k; $20=$30, ($4) or ($5); $5 < x < $6.",
    "{% include toc.html %}\n[a]({% link a.md %} \"A\") [b]({{ url }}{% post_url b %}){% if x %} c{% endif %} "
    "`{% d %}`\n{% comment %}\nno\n{% endcomment %}\n{% highlight sh %}\nls\n{% endhighlight %}\n\n"
    "```{=latex}\n\\x\n```\n":
        "a b c {% d %}\n\n```sh\nls\n```",
    "{% tabs %}\n{% tab title=\"Linux\" %}\nUse apt.\n{% endtab %}\n{{< tab \"Mac\" >}}\nUse brew.\n{{< /tab >}}":
        "Linux:\n\nUse apt.\n\nMac:\n\nUse brew.",
    "export const a = 1;\n\n<TabItem value=\"a\" label=\"Linux\">\n\nUse apt.\n\n</TabItem>\n"
    "<Step title='Oil'>Dry.</Step>":
        "Linux:\n\nUse apt.\n\nOil:\n\nDry.",
    "<table><tr><th></th><th>2031</th></tr>\n<tr><td>Rye</td><td>3 t</td></tr></table>\n<p>Old, <del>new</del>":
        "- Rye; 2031: 3 t\n\nOld,",
    "As told.[^a]\n\n[^a]: By Ada.\n\n    And Bo.": "As told.\n\nBy Ada.\n\nAnd Bo.",
}  # fmt: skip


@pytest.mark.parametrize("markup", MARKS)
def test_marks_of_dialects_of_markdown_are_no_text(markup: str) -> None:
    assert "\n\n".join(part.text for part in read_markdown(markup)[1]) == MARKS[markup]


DRAWN = """
  Mill     Wheels
  ------- -------
  Harl          2
  Kell |        3

+------+-------------+
| Mill | Grain       |
+:=====+:===========:+
| Harl | rye, `oats` |
|      | and barley  |
+------+-------------+
| none of both       |
+------+-------------+

---------------------------
  Mill   Built  Told of it
-------- ------ -----------
  Harl   1883   It burned
                in 1901.

  Kell   1890   It stands.
---------------------------
"""


def test_tables_that_pandoc_draws_are_rows() -> None:
    assert read_markdown(DRAWN)[1][0].text.split("\n") == [
        "- Mill: Harl; Wheels: 2",
        "- Mill: Kell |; Wheels: 3",
        "",
        "- Mill: Harl; Grain: rye, oats and barley",
        "- Mill: none of both; Grain: none of both",
        "",
        "- Mill: Harl; Built: 1883; Told of it: It burned in 1901.",
        "- Mill: Kell; Built: 1890; Told of it: It stands.",
    ]
    in_code = f"```\n{DRAWN}```"
    assert read_markdown(in_code)[1][0].text.split() == in_code.split()
    assert read_markdown("Mill\n----  ----\n\n- - -\n\n--- ---\n")[1][0].text  # nothing below, or no end


@pytest.mark.parametrize(
    ("markup", "title", "text"),
    [
        ("% Mills of\n  Tolmar\n% Ada; Bo\n% 2031\n\nThey grind.", "Mills of Tolmar", "They grind."),
        ("% a remark of MyST\n\n(mill)=\n# Mill\n\nIt grinds.", "Mill", "It grinds."),
        ("# Mill [![Build](b.svg)](ci.md) ![npm](n.svg)\n\nIt grinds.", "Mill", "It grinds."),
        ('<h1 align="center"><img alt="Logo"> Mill</h1>\n\nIt grinds.', "Mill", "It grinds."),
        ('+++\ntitle = "Mill"\nzip = 01234\n+++\nIt grinds.', "Mill", "It grinds."),
    ],
)
def test_a_title_is_what_the_writer_gave(markup: str, title: str, text: str) -> None:
    assert read_markdown(markup)[:2] == (title, [Section((), text)])


def test_boxes_without_end_take_no_time() -> None:
    read_markdown(":::note\n" * 20_000 + ":::\nx")
    read_markdown("$$a\n" * 5_000 + "\\(a " * 5_000 + "==a " * 5_000 + "{a}`" * 5_000 + "{{ a {.a" * 5_000)
    read_markdown("::: a" + " " * 50_000 + "{x")
    read_markdown("+--+--+\n|a|\n" * 500 + "---  ---\n" * 200 + "^[a" * 200 + "{% " * 500)
    read_markdown('!!! note "x"\n    y\n' * 5_000)


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("# Mill {#mill .big}", "Mill"),
        ("# Mill {: #mill }", "Mill"),
        ('# Mill { data-x="1" }', "Mill"),
        ("# Set {a, b}", "Set {a, b}"),
        (
            "# {.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z!",
            "{.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z!",
        ),
    ],
)
def test_attributes_of_headings_are_no_title(heading: str, title: str) -> None:
    assert read_markdown(f"{heading}\n\nIt stands. {{: .lead}}\n")[:2] == (title, [Section((), "It stands.")])
