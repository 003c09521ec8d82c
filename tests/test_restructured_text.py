"""reStructuredText as people write it: no mark of it stays in titles, names or texts, and nothing is lost."""

from pathlib import Path

import pytest

from langgraph_rag.tools.documents.files import read_documents
from langgraph_rag.tools.documents.restructured_text import restructured_text_to_html


def read(tmp_path: Path, text: str) -> list[tuple[object, object]]:
    file = tmp_path / "mill.rst"
    file.write_text(text)
    return [(document["title"], document["text"]) for document in read_documents(file)]


def text_of(tmp_path: Path, text: str) -> object:
    ((_, found),) = read(tmp_path, text)
    return found


def test_headings_with_a_line_above_and_without_are_different_levels(tmp_path: Path) -> None:
    text = "====\nMill\n====\n\nIt stands.\n\nWheels\n======\n\nTwo.\n\n====\nDam\n====\n\nIt holds.\n"

    assert read(tmp_path, text) == [
        ("Mill (mill)", "It stands."),
        ("Wheels (mill, Mill)", "Two."),
        ("Dam (mill)", "It holds."),
    ]


def test_a_heading_whose_rule_is_too_short_is_one_heading(tmp_path: Path) -> None:
    assert read(tmp_path, "Harl Mill\n=======\n\nIt stands.\n\nTwo wheels\n-----\n\nOf oak.\n") == [
        ("Harl Mill", "It stands."),
        ("Two wheels (Harl Mill)", "Of oak."),
    ]


def test_a_heading_that_skips_a_level_is_a_heading(tmp_path: Path) -> None:
    text = "Mill\n====\n\nIt stands.\n\nWheels\n------\n\nTwo.\n\nDam\n===\n\nSluice\n~~~~~~\n\nOf oak.\n"

    assert ("Sluice (mill, Dam)", "Of oak.") in read(tmp_path, text)


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (":class:`~mill.wheels.Wheel` turns", "Wheel turns"),
        (":py:meth:`~.Wheel.turn` and :meth:`.Wheel.stop`", "turn and Wheel.stop"),
        (":func:`!grind` by :ref:`the miller <miller>`", "grind by the miller"),
        ("See :cve:`2031-1234`, :rfc:`4001`, :pep:`8` and :cwe:`79`.",
         "See CVE-2031-1234, RFC 4001, PEP 8 and CWE-79."),
        ("Fixed in :ticket:`3410`, :pr:`7` and :bug:`12`.", "Fixed in ticket 3410, PR 7 and bug 12."),
        ("Press :kbd:`5` in :file:`{home}/mill.ini`.", "Press 5 in home/mill.ini."),
        (":menuselection:`&File --> Save`", "File → Save"),
        ("H\\ :sub:`2`\\ O, 10\\ :sup:`6` of them", "H2O, 10^6 of them"),
        ("A link_, `a mill`_, `the dam <https://dam.example>`_, one__.", "A link, a mill, the dam, one."),
        ("As Renk says [1]_, and Vint [Vin31]_.\n\n.. [1] In 1883.", "As Renk says, and Vint [Vin31].\n\nIn 1883."),
        ("|name| is at |place|.\n\n.. |name| replace:: *Harl* Mill", "Harl Mill is at place."),
        ("Its \\*old\\* name, lambda\\s and ``x_``", "Its *old* name, lambdas and x_"),
        ("Was :del:`800` 950 high.", "Was 950 high."),
        ("`Harl` and *two* **wheels**", "Harl and two wheels"),
        ("The ``size_`` of <b> & |x|.", "The size_ of <b> & x."),
    ],
)  # fmt: skip
def test_roles_links_and_escapes_leave_no_marks(tmp_path: Path, markup: str, text: str) -> None:
    assert text_of(tmp_path, markup) == text
    if "\n" not in markup:
        assert read(tmp_path, f"{markup}\n{'=' * 90}\n\nIt stands.\n\nDam\n{'=' * 90}\n\nx")[0][0] == f"{text} (mill)"


@pytest.mark.parametrize(
    ("directive", "text"),
    [
        (".. warning:: Do not\n   touch it.\n\n   It bites.", "Do not touch it.\n\nIt bites."),
        (".. note::\n\n   - one\n   - two", "- one\n- two"),
        (".. admonition:: How ``it`` is `done`\n\n   By hand.", "How it is done: By hand."),
        (".. admonition:: Do *not* **touch**\n\n   It bites.", "Do not touch: It bites."),
        (".. c:function:: int turn(char *a, char *b)\n\n   Turns.", "int turn(char *a, char *b): Turns."),
        (".. versionadded:: 5.1", "New in version 5.1."),
        (".. versionchanged:: 2.0\n\n   It turns.", "Changed in version 2.0: It turns."),
        (".. deprecated:: 3.2 Use :func:`dam`.", "Deprecated since version 3.2: Use dam."),
        (".. version-added:: 3.2\n   It grinds.", "New in version 3.2: It grinds."),
        (".. deprecated-removed:: 3.2 3.4\n   Use it.",
         "Deprecated since version 3.2, will be removed in version 3.4: Use it."),
        (".. availability:: Unix, not Tolmar.", "Availability: Unix, not Tolmar."),
        (".. program:: mill\n\n:pep:`8#names`, :rfc:`9110#section-9.2`, :numref:`Table %s <a>`",
         "PEP 8, RFC 9110 section 9.2, Table"),
        (".. code-block:: python\n   :caption: x\n\n   a = 1\n\n   b", "```\na = 1\n\nb\n```"),
        (".. sourcecode::\n\n   a = 1", "```\na = 1\n```"),
        (".. function:: turn(speed)\n              stop()\n   :module: mill\n\n   Turns *it*.",
         "turn(speed):\n\nstop(): Turns it."),
        (".. function:: turn(speed, wheel,\n              back)\n\n   Turns.", "turn(speed, wheel, back): Turns."),
        (".. mill:example::\n\n   import mill\n\n   @mill.wheel\n   def turn():\n       mill.go()",
         "```\nimport mill\n\n@mill.wheel\ndef turn():\n    mill.go()\n```"),
        (".. mill:remark::\n\n   It turns if it is wet.", "It turns if it is wet."),
        (".. option:: --size <n>\n\n   How large.", "--size <n>: How large."),
        (".. grinder:: coarse\n\n   Unknown, but read.", "coarse: Unknown, but read."),
        (".. tabs::\n\n   .. tab:: Linux\n\n      By apt.\n\n   .. tab:: Windows\n\n      By hand.",
         "Linux: By apt.\n\nWindows: By hand."),
        ("All.\n\n.. list-table:: Mills\n   :header-rows: 1\n   :unknown: x\n"
         "\n   * - Name\n     - Year\n   * - Harl\n     - 1883",
         "All.\n\nMills\n\n- Name: Harl; Year: 1883"),
        (".. csv-table::\n   :header: Name, Year\n\n   Harl, 1883", "- Name: Harl; Year: 1883"),
        (".. image:: mill.png\n   :alt: A mill", "A mill"),
        (".. figure:: mill.png\n\n   The mill in 1883.", "The mill in 1883."),
        (".. math:: a^2 + b", "a^2 + b"),
        (".. class:: small\n\nIt stands.", "It stands."),
        ("At:\n\n| Harl Mill\n| *12* Dam Lane\n|   Kell\n|\n| Tolm", "At:\n\nHarl Mill\n12 Dam Lane\n\nKell\n\nTolm"),
        (".. glossary::\n   :sorted:\n\n   dam\n   weir : of stone\n      Holds *water*.\n\n      It lasts.\n"
         "\n   mill\n      Grinds.",
         "dam, weir : of stone:\n\n  Holds water.\n\n  It lasts.\n\nmill: Grinds."),
        (".. class:: Wheel(size)\n\n   Turns.", "Wheel(size): Turns."),
        ("So:\n\n.. code-block:: sh\n   :caption: turn.sh\n\n   turn", "So:\n\nturn.sh\n\n```\nturn\n```"),
        (".. confval:: speed\n   :type: ``int``\n   :Default: *300* rpm\n   :no-index:\n\n   Of it.",
         "speed:\n\n  Type: int\n\n  Default: 300 rpm\n\n  Of it."),
        ("All.\n\n.. changelog::\n   :version: 1.4\n   :released: May 2023\n\n   .. change::\n\n      It turns.",
         "All.\n\nVersion: 1.4\n\nReleased: May 2023\n\nIt turns."),
        (".. function:: turn(\\*args, \\**kwargs)\n\n   Turns.", "turn(*args, **kwargs): Turns."),
        ("All.\n\n:param int size: long\n:type back: bool\n:returns: whether\n:rtype: bool\n:raises Stuck: at times",
         "All.\n\nParameter size (int): long\n\nType of back: bool\n\nReturns: whether\n\nReturn type: bool\n\n"
         "Raises Stuck: at times"),
    ],
)  # fmt: skip
def test_directives_say_what_they_mean(tmp_path: Path, directive: str, text: str) -> None:
    assert text_of(tmp_path, directive) == text


@pytest.mark.parametrize(
    "anchor",
    [
        ".. setting:: CACHES",
        ".. _caches:",
        ".. index:: caches; default",
        ".. module:: mill.caches\n   :synopsis: All.",
        ".. templatefilter:: add\n.. _x:",
        ".. toctree::\n   :maxdepth: 2\n\n   other",
        ".. contents::",
        ".. raw:: html\n\n   <b>",
        ".. include:: secret.txt",
        ".. literalinclude:: /etc/passwd",
        ".. csv-table::\n   :file: /etc/passwd",
        ".. a remark",
        ":orphan:",
    ],
)
def test_anchors_contents_and_files_are_no_text(tmp_path: Path, anchor: str) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    found = read(tmp_path, f"Mill\n====\n\nIt stands.\n\n{anchor}\n\n``CACHES``\n----------\n\nWhere.\n")

    assert found == [("Mill", "It stands."), ("CACHES (Mill)", "Where.")]


def test_tables_lists_and_terms(tmp_path: Path) -> None:
    text = """\
=====  =====  ======
Name   Year   Owner
=====  =====  ======
Harl   1883   Ada
              Renk
=====  =====  ======

+------+------+
| Name | Year |
+======+======+
| Kell | 1700 |
+      +------+
|      | 1701 |
+------+------+

c) third
d) fourth

size : int
   How *large*.

-v, --verbose=N  Say more.

:Author: Ada Renk
"""
    assert text_of(tmp_path, text) == (
        "- Name: Harl; Year: 1883; Owner: Ada Renk\n\n- Name: Kell; Year: 1700\n- Name: Kell; Year: 1701\n\n"
        "- c. third\n- d. fourth\n\nsize : int: How large.\n\n-v, --verbose=N: Say more.\n\nAuthor: Ada Renk"
    )


@pytest.mark.parametrize(
    "broken",
    [
        "=====  =====\nHarl is wider than its column\n=====  =====",
        "Mill *without end, and `another",
        "x\n==\n\ntext right\n   - below",
        ".. list-table::\n\n   * - Harl\n     - 1\n   * - Kell",
        ".. csv-table::\n\n   'Harl, 1",
        "|a|\n\n.. |a| replace:: |b| |b|\n.. |b| replace:: |a| Harl",
        "word " * 20_000,
        "".join(f"{' ' * n}deeper\n\n" for n in range(400)),
        "- " * 400 + "deeper",
    ],
)
def test_nothing_is_lost_of_what_cannot_be_parsed(broken: str) -> None:
    found = restructured_text_to_html(broken)

    words = {"Harl", "word", "deeper", "Mill", "below"}.intersection(broken.split())
    assert all(word in found for word in words)


def test_a_file_that_only_includes_others_is_no_problem(tmp_path: Path) -> None:
    (tmp_path / "a.rst").write_text(".. include:: b.rst\n")
    (tmp_path / "b.rst").write_text("It grinds.\n")

    assert [document["text"] for document in read_documents(tmp_path)] == ["It grinds."]


def test_substitutions_that_hold_each_other_end() -> None:
    text = "|a0|\n\n" + "\n".join(f".. |a{n}| replace:: |a{n + 1}| |a{n + 1}|" for n in range(40))

    assert len(restructured_text_to_html(text)) < 1_000_000


def test_a_role_that_a_file_declares_is_not_known_to_the_next(tmp_path: Path) -> None:
    assert text_of(tmp_path, ".. role:: red\n.. default-role:: math\n\nThe :red:`5` mills") == "The 5 mills"
    assert text_of(tmp_path, "The `old` mill") == "The old mill"
