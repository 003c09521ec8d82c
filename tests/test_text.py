"""Sentences, phrases, spans and rule triples, read from a text without a model or from a spaCy parse."""

import random
from collections.abc import Iterator, Sequence
from inspect import unwrap
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.offline.pages import lines_of
from langgraph_rag.tools.language.rule_triples import extract_triples
from langgraph_rag.tools.language.spans import spot
from langgraph_rag.tools.language.text import TextPipeline, text_pipeline
from langgraph_rag.tools.language.topics import opening_of, topic_of


@pytest.fixture
def rules() -> TextPipeline:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    return TextPipeline("rules", nlp)


# --- sentences and phrases by rules ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Herons stand still. They wait.", ["Herons stand still.", "They wait."]),
        ("Dr. Renk met J. R. Holm. They left.", ["Dr. Renk met J. R. Holm.", "They left."]),
        ("She lived at St. Malo. He did not.", ["She lived at St. Malo.", "He did not."]),
        ("It cost $3.5 million. 1,200 came.", ["It cost $3.5 million.", "1,200 came."]),
        ("Who came? nobody knows! The end", ["Who came? nobody knows!", "The end"]),
        ("no full stop", ["no full stop"]),
        ("# Pellworth\n\nIt is a town.\n \nA list", ["# Pellworth", "It is a town.", "A list"]),
        ("It burned\ndown in 1927.", ["It burned down in 1927."]),
        ("Otto Falk was a chemist.\n\n iPhone sales rose.", ["Otto Falk was a chemist.", "iPhone sales rose."]),
        ("- He met (J.\n- eBay\n\nde Vries left.", ["- He met (J.", "- eBay", "de Vries left."]),
        (
            "It is set:\n```yaml\nborn: Kell. Sund.\n\n- x\n```\nIt works.",
            ["It is set:", "```yaml born: Kell. Sund. - x ```", "It works."],
        ),
        ("- ~~~\n  a\n  ```\n  b\n  ~~~\nIt works.", ["- ~~~ a ``` b ~~~", "It works."]),
        ("~~~~ {title='~/a'}\nx. Y\n~~~~\n\nOst.", ["~~~~ {title='~/a'} x. Y ~~~~", "Ost."]),
        ("Kell.\n\n~~~~~\n\nOst. Sund.\n\n~~~~~\n\nEnd.", ["Kell.", "~~~~~", "Ost.", "Sund.", "~~~~~", "End."]),
        ("~~~ Part 1 ~~~\n\nKell is dry. Ost is not.", ["~~~ Part 1 ~~~", "Kell is dry.", "Ost is not."]),
        ("Use ```x``` here.\n\n```never closed\n\nx", ["Use ```x``` here.", "```never closed x"]),
        ("It burned down in New\n  Kell. It was\nrebuilt.", ["It burned down in New Kell.", "It was rebuilt."]),
        ("Towns:\n- Pellworth\n- Skellby\n| 1911 | fire |", ["Towns:", "- Pellworth", "- Skellby", "| 1911 | fire |"]),
        (
            'It ran. (It was made in Tarn. It was cut in Ost.) "Low Tide" is new. «Ebb» too. ¿Y tú?',
            ["It ran.", "(It was made in Tarn. It was cut in Ost.)", '"Low Tide" is new.', "«Ebb» too.", "¿Y tú?"],
        ),
        (
            "Lunt Inc. (1950) is big. He said: “Go!” “No,” she said.",
            ["Lunt Inc. (1950) is big.", "He said: “Go!”", "“No,” she said."],
        ),
        ("他说：“走吧。”她走了。北京是首都！", ["他说：“走吧。”", "她走了。", "北京是首都！"]),
        ("It was off :( Ada went to Ost. (So. Did. She.", ["It was off :( Ada went to Ost.", "(So.", "Did.", "She."]),
        (
            "彼は「行く。」と言った。東京は首都（1868年。）である。",
            ["彼は「行く。」と言った。", "東京は首都（1868年。）である。"],
        ),
        (
            "[10:33] Pim: no, the\nlamps\n[10:34] Ada: ok\n12/01/2024, 10:35 - Pim: oh",
            ["[10:33] Pim: no, the lamps", "[10:34] Ada: ok", "12/01/2024, 10:35 - Pim: oh"],
        ),
        ("From: Ada\nSubject: Lamps\n>> What\nlamps?", ["From: Ada", "Subject: Lamps", ">> What lamps?"]),
        ("1. First item\n2. Second item", ["1. First item", "2. Second item"]),
        ("It was built in\n1911. At\n10:33 it fell.", ["It was built in 1911.", "At 10:33 it fell."]),
        (
            "See Fig. 3 (Renk et al. 2020), approx. 3.5 mg, ca. 5 by Mme. Brun.",
            ["See Fig. 3 (Renk et al. 2020), approx. 3.5 mg, ca. 5 by Mme. Brun."],
        ),
        (
            'Pim sailed.[4] Orla slept.[5][a] It ended in "Low Tide."[12] "No," she said.[b]',
            ["Pim sailed.[4]", "Orla slept.[5][a]", 'It ended in "Low Tide."[12]', '"No," she said.[b]'],
        ),
        ("It takes x.[0] and y.[1] too.", ["It takes x.[0] and y.[1] too."]),
        ("It works.[1]\n  ```\n  x. Y\n  ```\nOst.[2]\n- Kell", ["It works.[1]", "``` x. Y ```", "Ost.[2]", "- Kell"]),
        (
            "It was built under Karl V. The mill fell. Lena H. Brack and A. B. Dole met J. A. Holm.",
            ["It was built under Karl V.", "The mill fell.", "Lena H. Brack and A. B. Dole met J. A. Holm."],
        ),
        (
            "K. He sold it to Otto Vint Jr. His firm, Vint Inc. (Ost), fell.",
            ["K. He sold it to Otto Vint Jr.", "His firm, Vint Inc. (Ost), fell."],
        ),
        (
            "She said No. Pim slept. See No. 7 and No. VI.",
            ["She said No.", "Pim slept.", "See No. 7 and No. VI."],
        ),
        ("(It fell under Karl V. The mill, too.) It rained.", ["(It fell under Karl V. The mill, too.)", "It rained."]),
        (
            f"Ost {'!' * 40} It rained. Mills {'.' * 40} 12 Boats {'.' * 40} 13\n\n{'=' * 40} End",
            [f"Ost {'!' * 40}", "It rained.", f"Mills {'.' * 40} 12 Boats {'.' * 40} 13", f"{'=' * 40} End"],
        ),
        (" \n ", []),
    ],
)
def test_sentences(rules: TextPipeline, text: str, sentences: list[str]) -> None:
    assert rules.sentences(text) == sentences


ODD = [
    *"()[]\"'“”«»「」¿¡-–*_>#|$€…`\n\t\u00a0。",
    ". ",
    "! ",
    "? ",
    "\n\n",
    "Ada ",
    "low ",
    "1. ",
    "St. ",
    "```\n",
    "10:33 ",
    ".[1]",
    "No. ",
    "V. The ",
    "=" * 40,
]


@pytest.mark.parametrize("seed", range(20))
def test_sentences_are_a_text_cut_up(rules: TextPipeline, seed: int) -> None:
    chosen = random.Random(seed)
    text = "".join(chosen.choices(ODD, k=300))

    assert "".join("".join(rules.sentences(text)).split()) == "".join(text.split())
    assert all(sentence in " ".join(text.split()) for sentence in rules.sentences(text))


def test_no_text_is_given_to_spacy_with_a_long_row_of_marks(
    rules: TextPipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []
    nlp = rules.nlp

    class Listening:
        def __call__(self, text: str) -> Doc:
            given.append(text)
            doc: Doc = nlp(text)
            return doc

        def pipe(self, texts: Sequence[str]) -> Iterator[Doc]:
            return map(self, texts)

    pipeline, text = TextPipeline("rules", Listening()), f"Ost{'=' * 9000} fell. {'=-_' * 3000}\n\n{'*' * 9000} Kell."
    pipeline.sentences(text)
    list(pipeline.analyse([text]))

    assert [len(seen) for seen in given] == [len(text)] * 2
    assert all(len(word) < 50 for seen in given for word in seen.split())


def test_a_name_on_two_lines_is_one_phrase(rules: TextPipeline) -> None:
    (analysis,) = rules.analyse(["She was born in New\nPellworth."])

    assert analysis["phrases"] == ["New Pellworth"]


def test_texts_are_analysed_in_order_with_each_phrase_once(rules: TextPipeline) -> None:
    first, second = rules.analyse(["Ada Renk met Casper Holm in 1911. Ada Renk left.", "Herons wait."])

    assert first["sentences"] == ["Ada Renk met Casper Holm in 1911.", "Ada Renk left."]
    assert first["phrases"] == ["Ada Renk", "Casper Holm", "1911"]
    assert second == {"sentences": ["Herons wait."], "phrases": ["Herons"]}


def test_the_pipeline_in_use_says_its_name() -> None:
    expected = "en_core_web_sm" if spacy.util.is_package("en_core_web_sm") else "rules"
    assert text_pipeline().name == expected
    assert text_pipeline() is text_pipeline()


def test_rules_can_be_had_by_name_also_where_a_trained_pipeline_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy.util, "is_package", lambda _: True)

    assert unwrap(text_pipeline)("rules").name == "rules"


def test_the_offline_model_reads_alike_where_a_trained_pipeline_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy.util, "is_package", lambda _: True)
    monkeypatch.setattr(spacy, "load", lambda *_, **__: pytest.fail("the trained pipeline was loaded"))
    monkeypatch.setattr("langgraph_rag.offline.pages.text_pipeline", unwrap(text_pipeline))
    lines_of.cache_clear()

    assert [line.text for line in lines_of("Orsby", "The ferry left. It sank.")] == ["The ferry left.", "It sank."]


def test_a_trained_pipeline_that_is_missing_is_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy.util, "is_package", lambda _: False)

    with pytest.raises(
        KnowledgeBaseError, match=r"en_core_web_sm, which is not installed: install it \(`python -m spacy"
    ):
        unwrap(text_pipeline)("en_core_web_sm")


# --- sentences and phrases by a trained pipeline ---------------------------------------------------------------------
class ParsedByHand:
    """Stands in for a trained spaCy pipeline: hands out one document parsed by hand."""

    def __init__(self) -> None:
        self.doc = Doc(
            spacy.blank("en").vocab,
            words=["The", "old", "ferry", "linked", "Orsby", "in", "1911", ".", "It", "sank", "."],
            spaces=[True, True, True, True, True, True, False, True, True, False, False],
            pos=["DET", "ADJ", "NOUN", "VERB", "PROPN", "ADP", "NUM", "PUNCT", "PRON", "VERB", "PUNCT"],
            deps=["det", "amod", "nsubj", "ROOT", "dobj", "prep", "pobj", "punct", "nsubj", "ROOT", "punct"],
            heads=[2, 2, 3, 3, 3, 3, 5, 3, 9, 9, 9],
            ents=["O", "O", "O", "O", "B-GPE", "O", "B-DATE", "O", "O", "O", "O"],
        )

    def __call__(self, text: str) -> Doc:
        return self.doc

    def pipe(self, texts: Sequence[str]) -> Iterator[Any]:
        return (self.doc for _ in texts)


def test_a_trained_pipeline_gives_noun_chunks_that_name_something_and_entities_each_once() -> None:
    pipeline = TextPipeline("en_core_web_sm", ParsedByHand())

    (analysis,) = pipeline.analyse(["The old ferry linked Orsby in 1911. It sank."])

    assert analysis["sentences"] == ["The old ferry linked Orsby in 1911.", "It sank."]
    assert analysis["phrases"] == ["old ferry", "Orsby", "1911"]


def test_rules_do_not_look_at_the_parse() -> None:
    (analysis,) = TextPipeline("rules", ParsedByHand()).analyse(["The old ferry linked Orsby in 1911. It sank."])

    assert analysis["phrases"] == ["Orsby", "1911"]


# --- spans -----------------------------------------------------------------------------------------------------------
def found(sentence: str, kind: str) -> list[str]:
    return [span.text for span in spot(sentence) if span.kind == kind]


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("It was built by Brandt & Sons for Ada Renk.", ["Brandt & Sons", "Ada Renk"]),
        ("He met Leonardo da Vinci and Ludwig van Beethoven.", ["Leonardo da Vinci", "Ludwig van Beethoven"]),
        ("She sailed to the Isle of Kell.", ["Isle of Kell"]),
        ("Elizabeth II saw Apollo 11.", ["Elizabeth II", "Apollo 11"]),
        ("It needs Tull 2.4.1 and Kell 3.12.", ["Tull 2.4.1", "Kell 3.12"]),
        ("Then Ada Renk's boat sank.", ["Ada Renk"]),
        ("The ferry left.", []),
        ("Founded in Orsby, it grew.", ["Orsby"]),
        ("Initially the Tolmar Company failed.", ["Tolmar Company"]),
        ("During the Long War she wrote.", ["Long War"]),
        ("He moved to St. Malo with J. R. Holm.", ["St. Malo", "J. R. Holm"]),
        ("the sea was calm", []),
        ("It stars Will Renk in Then She Sailed.", ["Will Renk", "Then She Sailed"]),
        ("Will Renk left the US Navy, and The Hague.", ["Will Renk", "US Navy", "Hague"]),
        ("Will Ada Renk leave the WHO?", ["Ada Renk", "WHO"]),
        ("WHILE Ada Renk slept, it sank.", ["Ada Renk"]),
        ("But when was the First Kell Fair, he asked of Them?", ["First Kell Fair"]),
    ],
)
def test_names(sentence: str, names: list[str]) -> None:
    assert found(sentence, "name") == names


@pytest.mark.parametrize("quoted", ['"A Quiet Sea"', "“A Quiet Sea”", "«A Quiet Sea»", '"A Quiet Sea,"'])
def test_quotations_are_names(quoted: str) -> None:
    assert found(f"In 1911 she wrote {quoted} and left.", "name") == ["A Quiet Sea"]


def test_dates_inside_a_quotation_belong_to_it() -> None:
    assert [(span.text, span.kind) for span in spot('She wrote "Winter 1911" in 1912.')] == [
        ("Winter 1911", "name"),
        ("1912", "date"),
    ]


@pytest.mark.parametrize(
    "date",
    [
        "4 May 1911",
        "4th May, 1911",
        "May 4, 1911",
        "May 4",
        "21st June",
        "May 1911",
        "1911",
        "1990s",
        "December 31 2001",
        "1911-05-04",
        "4/5/1911",
        "4.5.1911",
    ],
)
def test_dates(date: str) -> None:
    assert found(f"It opened on {date} and closed.", "date") == [date]


def test_may_alone_is_not_a_date() -> None:
    assert found("It may rain, and 3000 ships may come.", "date") == []


@pytest.mark.parametrize(
    "number",
    [
        "7",
        "4,200",
        "3.14",
        "$3.5 million",
        "20%",
        "20 percent",
        "two",
        "£ 40",
        "06:30",
        "9:15 am",
        "9:15 p.m.",
        "2.4.1",
    ],
)
def test_numbers(number: str) -> None:
    assert found(f"it has {number} of them, or so.", "number") == [number]


def test_a_number_inside_a_word_is_none() -> None:
    assert found("the v2.0 of model x86", "number") == []


def test_spans_tell_where_they_are_in_reading_order_without_overlap() -> None:
    sentence = 'On 4 May 1911 Ada Renk sold 120 boats called "Tide 7" to Brandt & Sons.'
    spans = spot(sentence)

    assert [span.text for span in spans] == ["4 May 1911", "Ada Renk", "120", "Tide 7", "Brandt & Sons"]
    assert all(span.text in sentence[span.start : span.end] for span in spans)
    assert all(one.end <= other.start for one, other in zip(spans, spans[1:], strict=False))


@pytest.mark.parametrize(
    ("sentence", "spans"),
    [
        ("Ada Renk <a.renk@mail.example.org> wrote it.", ["Ada Renk", "a.renk@mail.example.org"]),
        ("See https://Kell.example/Mill?a=1&b=2, or Sund.", ["https://Kell.example/Mill?a=1&b=2", "Sund"]),
        ("Ada Renk, Fri, 03 Feb 2023 15:28:42 +0100", ["Ada Renk", "Fri, 03 Feb 2023 15:28:42 +0100"]),
    ],
)
def test_an_address_is_one_name_and_the_time_of_a_message_one_date(sentence: str, spans: list[str]) -> None:
    assert [span.text for span in spot(sentence)] == spans


# --- rule triples ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("sentence", "triple"),
    [
        ("Ada Renk married Casper Holm.", ["Ada Renk", "married", "Casper Holm"]),
        ("She designed the Tolmar Bridge.", ["Ada Renk", "designed", "Tolmar Bridge"]),
        ("The architect was born in Kell.", ["Ada Renk", "was born in", "Kell"]),
        ("Ada Renk is an architect from Kell.", ["Ada Renk", "is", "architect"]),
        ("Ada Renk (born 4 May 1911) is an architect.", ["Ada Renk", "born on", "4 May 1911"]),
        ("Ada Renk (4 May 1911 – 2 June 1980) was a judge.", ["Ada Renk", "died on", "2 June 1980"]),
        ("She employed 120 workers.", ["Ada Renk", "employed", "120 workers"]),
        ("She lived in Kell and Orsby.", ["Ada Renk", "lived in", "Orsby"]),
        ("Her father taught in Kell.", ["Ada Renk", "father taught in", "Kell"]),
        ("She swam from 06:00 to 22:30.", ["Ada Renk", "swam to", "22:30"]),
    ],
)
def test_a_sentence_states_a_fact_of_the_topic(sentence: str, triple: list[str]) -> None:
    assert triple in extract_triples("Ada Renk", [sentence])


@pytest.mark.parametrize(
    ("bracket", "life"),
    [
        ("born 12 May 1880; died 4 June 1951 in Ost", ["born on 12 May 1880", "died on 4 June 1951", "died in Ost"]),
        ("b. 12 May 1880, d. 4 June 1951", ["born on 12 May 1880", "died on 4 June 1951"]),
        ("born in Rosen; died 1951", ["born in Rosen", "died on 1951"]),
        ("born 1880 – died 1951", ["born on 1880", "died on 1951"]),
        ("painter; died 1951", ["died on 1951"]),
        ("née Lind, bef. 1880 – 1951", ["born on 1880", "died on 1951"]),
        ("1640–1685, r. 1660–1685", ["born on 1640", "died on 1685"]),
        (" 4 May 1911- 3 June 1980", ["born on 4 May 1911", "died on 3 June 1980"]),
        ("1911 -1960", ["born on 1911", "died on 1960"]),
        ("active 1702- 1730s", []),
        ("reigned 1660–1685", []),
        ("mayor 1990–1994", []),
        ("fl. 1347–1391", []),
    ],
)
def test_what_stands_in_brackets_tells_a_life(bracket: str, life: list[str]) -> None:
    triples = extract_triples("Otto Brandt", [f"Otto Brandt ({bracket}) was a painter."])

    assert [f"{relation} {tail}" for _, relation, tail in triples if relation.split()[0] in {"born", "died"}] == life


def test_the_first_sentence_may_give_the_topic_a_longer_name() -> None:
    triples = extract_triples("Senn Brewery", ["Senn Brewery Lager Ltd is a brewery founded by Ida Brack."])

    assert {head for head, _, _ in triples} == {"Senn Brewery"}


def test_a_clause_after_who_is_ruled_out_is_said_of_nobody() -> None:
    assert extract_triples("Ada Renk", ["It was Karl Senn, not Ada Renk, who built the mill in Ost."]) == []


@pytest.mark.parametrize(
    ("sentence", "tail"),
    [
        (
            "Ada Renk is an Ostrellan singer, lute player, and songwriter.",
            "Ostrellan singer, lute player, and songwriter",
        ),
        ("Ada Renk was a potter, born in 1903 and married in 1931.", "potter"),
        ("Ada Renk was a lens maker and chemist born in Kell.", "lens maker and chemist"),
        ("Ada Renk is a film written and directed by Karl Senn.", "film"),
        ("Ada Renk is a silent film starring Ida Brack.", "silent film"),
    ],
)
def test_what_something_is_ends_where_more_is_told_of_it(sentence: str, tail: str) -> None:
    assert tail in {end for _, relation, end in extract_triples("Ada Renk", [sentence]) if relation in {"is", "was"}}


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        (
            "Ada Renk sang with Ostrellan rock band Tin Gulls.",
            [["Ada Renk", "sang with Ostrellan rock band", "Tin Gulls"]],
        ),
        (
            "Ada Renk wrote for New Kell director Karl Senn.",
            [
                ["Ada Renk", "wrote for", "New Kell"],
                ["Ada Renk", "wrote for New Kell director", "Karl Senn"],
            ],
        ),
        (
            "Ada Renk was an Ostrellan singer from Kell.",
            [
                ["Ada Renk", "was", "Ostrellan singer"],
                ["Ada Renk", "was singer from", "Kell"],
            ],
        ),
        ("Ada Renk has four Ostrellan albums.", [["Ada Renk", "has", "four Ostrellan albums"]]),
        (
            "Ada Renk met Karl near Orsby.",
            [["Ada Renk", "met", "Karl"], ["Ada Renk", "near", "Orsby"]],
        ),
    ],
)
def test_a_word_that_tells_more_of_the_next_name_belongs_to_the_relation(sentence: str, facts: list[list[str]]) -> None:
    assert extract_triples("Ada Renk", [sentence]) == facts


def test_a_title_with_words_in_lower_case_is_the_whole_subject() -> None:
    assert extract_triples("Dance by Night", ["Dance by Night is a film by Karl Senn."]) == [
        ["Dance by Night", "is", "film"],
        ["Dance by Night", "is film by", "Karl Senn"],
    ]
    assert extract_triples("Conn mac Airt", ["Conn mac Airt ruled Kell."]) == [["Conn mac Airt", "ruled", "Kell"]]


def test_a_sentence_about_somebody_else_states_a_fact_of_theirs() -> None:
    triples = extract_triples(
        "Ada Renk", ["Ada Renk lived in Kell.", "Casper Holm founded the Tolmar Company in 1950."]
    )

    assert ["Casper Holm", "founded", "Tolmar Company"] in triples
    assert ["Casper Holm", "founded in", "1950"] in triples
    assert not any("Tolmar" in triple[2] for triple in triples if triple[0] == "Ada Renk")


@pytest.mark.parametrize("token", ["( ) ", "()", " ", '" ', ", ", "- "])
def test_a_form_to_be_filled_in_is_read_to_its_end(token: str) -> None:
    extract_triples("Survey", ["Satisfaction Survey " + token * 200 + "is rated by staff."])


def test_a_pronoun_of_the_other_gender_is_not_the_topic() -> None:
    sentences = ["Ada Renk was born in Kell.", "Her husband was Karl Senn.", "He died in Ost.", "She died in Orsby."]

    assert extract_triples("Ada Renk", sentences) == [
        ["Ada Renk", "was born in", "Kell"],
        ["Ada Renk", "husband was", "Karl Senn"],
        ["Ada Renk", "died in", "Orsby"],
    ]


def test_what_is_done_to_things_is_not_said_of_a_person() -> None:
    sentences = ["Ada Renk was a sailor.", "She lived in Kell.", "The pier was built by Karl Senn."]

    assert extract_triples("Ada Renk", sentences)[-1] == ["Ada Renk", "lived in", "Kell"]


def test_a_pronoun_after_somebody_else_may_mean_either() -> None:
    triples = extract_triples("Ada Renk", ["Ada Renk met Karl Senn.", "He died in Ost.", "She died in Orsby."])

    assert ["Ada Renk", "died in", "Orsby"] in triples


def test_a_fact_said_twice_is_one_triple() -> None:
    assert extract_triples("Ada Renk", ["Ada Renk lived in Kell.", "She lived in Kell."]) == [
        ["Ada Renk", "lived in", "Kell"]
    ]


@pytest.mark.parametrize(
    ("opening", "fact"),
    [
        ("The Gull of Kell (born 1903) was a sailor.", ["Gull of Kell", "was", "sailor"]),
        ("The Gull of Kell, alias Renk, sailed to Tolmar.", ["Ada Renk", "sailed to", "Tolmar"]),
        ("The Ferry Office burned down in 1921.", ["Ferry Office", "burned down in", "1921"]),
    ],
)
def test_what_opens_a_paragraph_is_the_topic_only_if_the_sentence_says_so(opening: str, fact: list[str]) -> None:
    assert fact in extract_triples("Ada Renk", [opening])


def test_without_a_title_named_subjects_still_have_facts() -> None:
    triples = extract_triples("", ["Ada Renk sailed to Kell.", "She met Ida Strand."])

    assert triples == [["Ada Renk", "sailed to", "Kell"], ["Ada Renk", "met", "Ida Strand"]]


@pytest.mark.parametrize(
    ("sentences", "facts"),
    [
        (
            ["The Sarl Bridge was built by Egon Elster."],
            [["Sarl Bridge", "was built by", "Egon Elster"], ["Sarl Bridge", "mentioned in", "Notes of May"]],
        ),
        (
            ["Kaspar Elster was a glassblower.", "He lived in Quarn."],
            [
                ["Kaspar Elster", "was", "glassblower"],
                ["Kaspar Elster", "mentioned in", "Notes of May"],
                ["Kaspar Elster", "lived in", "Quarn"],
            ],
        ),
        (
            ["In 2010 Anna Berg founded Solwind."],
            [["Anna Berg", "founded", "Solwind"], ["Anna Berg", "mentioned in", "Notes of May"]],
        ),
        (["It rained in Kell."], [["Notes of May", "rained in", "Kell"]]),
    ],
)
def test_a_title_that_the_text_is_not_about_is_the_subject_of_nothing_that_names_its_own(
    sentences: list[str], facts: list[list[str]]
) -> None:
    assert extract_triples("Notes of May", sentences) == facts


def test_what_somebody_does_is_done_to_the_topic_unless_something_else_is_named() -> None:
    triples = extract_triples(
        "The Salt Road", ["The Salt Road is a film.", "Orla Vint directed.", "Ada Renk was born in Kell."]
    )

    assert ["Orla Vint", "directed", "The Salt Road"] in triples
    assert ["Ada Renk", "mentioned in", "The Salt Road"] in triples
    assert ["Ada Renk", "was born in", "The Salt Road"] not in triples


def test_fields_are_facts_of_the_topic_and_those_of_a_row_of_its_first() -> None:
    assert extract_triples("Leak of June", ["- Reporter: Ada Renk", "- Fixed by: Orla Vint in v3.2"]) == [
        ["Leak of June", "reporter", "Ada Renk"],
        ["Leak of June", "fixed by", "Orla Vint in v3.2"],
    ]
    assert extract_triples("Prices", ["- Product: HX-100; Price (EUR): 1,250; Designer: Ilka Brandt"]) == [
        ["HX-100", "price (eur)", "1,250"],
        ["HX-100", "designer", "Ilka Brandt"],
    ]
    assert extract_triples("Sights", ["- Mill of Kell: owner: Ada Renk"]) == [["Mill of Kell", "owner", "Ada Renk"]]
    assert extract_triples("Kell", ["Note: Kell lies in Norrland."]) == [["Kell", "lies in", "Norrland"]]


@pytest.mark.parametrize(
    ("row", "facts"),
    [
        ("- Stock: 5", [["Kell", "stock", "5"]]),
        ("- Opens: 9:30; Maker: Acme Inc.; 2023: 7", [["9:30", "maker", "Acme Inc."], ["9:30", "2023", "7"]]),
        ("- Product: HX; Note: a, b: c; Price: 9", [["HX", "price", "9"]]),
        ("- Note: it closed in 1890 after a fire.", [["Note", "closed in", "1890"], ["Note", "mentioned in", "Kell"]]),
        ("Opens: 9:30", []),
    ],
)
def test_rows_have_values_of_all_kinds_but_are_no_sentences(row: str, facts: list[list[str]]) -> None:
    assert extract_triples("Kell", [row]) == facts


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        (
            "Her brother, Orlo Renk, painted the Kell Mill.",
            [["Ada Renk", "brother", "Orlo Renk"], ["Orlo Renk", "painted", "Kell Mill"]],
        ),
        (
            "Her first novel The Long Road won the Kell Prize.",
            [["Ada Renk", "first novel", "Long Road"], ["Long Road", "won", "Kell Prize"]],
        ),
        (
            "Her parents Orlo and Ida moved to Kell.",
            [["Ada Renk", "parents", "Orlo"], ["Ada Renk", "parents", "Ida"], ["Ada Renk", "parents moved to", "Kell"]],
        ),
        (
            "Her friends included Orlo Renk, Ida Strand and Kell Ashby.",
            [["Ada Renk", "friends included", name] for name in ("Orlo Renk", "Ida Strand", "Kell Ashby")],
        ),
        (
            "Her work in Norrland won the Kell Prize.",
            [["Ada Renk", "work in", "Norrland"], ["Ada Renk", "work won", "Kell Prize"]],
        ),
    ],
)
def test_what_is_said_of_somebody_of_the_topic_is_not_said_of_the_topic(sentence: str, facts: list[list[str]]) -> None:
    assert extract_triples("Ada Renk", ["Ada Renk was born in 1883.", sentence])[1:] == facts


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        ("Low Tide is Ada Renk's third novel, published in 1982.", [["Low Tide", "is third novel of", "Ada Renk"]]),
        ("It was Renk's first film, shot in Kell.", [["Low Tide", "was first film of", "Renk"]]),
        ("Low Tide became Karl Hales’ best work.", [["Low Tide", "became best work of", "Karl Hales"]]),
        ("Low Tide is not Ada Renk's third novel.", []),
        ("Low Tide was a hit because it was Ada Renk's last film.", []),
    ],
)
def test_whose_something_is_is_a_fact(sentence: str, facts: list[list[str]]) -> None:
    assert [fact for fact in extract_triples("Low Tide", [sentence]) if fact[1].endswith(" of")] == facts


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        (
            "Erik (Karl Hale) meets his wife Selma (Mia Bell).",
            [["Erik", "in brackets", "Karl Hale"], ["Selma", "in brackets", "Mia Bell"]],
        ),
        ("Renk joined the Kell Water Board (KWB) in 1920.", []),
        ("Andre and Charlotte (Nat Jones and Mia Bell) leave Kell.", []),
        ("Ada Renk (born in Kell) met Orlo Renk (1883).", []),
    ],
)
def test_a_full_name_in_brackets_is_tied_to_the_one_before(sentence: str, facts: list[list[str]]) -> None:
    assert [fact for fact in extract_triples("Low Tide", [sentence]) if fact[1] == "in brackets"] == facts


VERA = {"Vera Holm | left | Lund", "Vera Holm | left in | 1921"}


def read(title: str, text: str) -> set[str]:
    """Return the facts of a text but those that only say where somebody is mentioned."""
    facts = extract_triples(title, text_pipeline().sentences(text))
    return {" | ".join(fact) for fact in facts if fact[1] != "mentioned in"}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "He met Orla Vint, who died in Ost, Brenn, in 1999, and Ida Strand.",
            {"Karl Senn | met | Orla Vint", "Karl Senn | met | Ida Strand"}
            | {f"Orla Vint | died in | {tail}" for tail in ("Ost", "Brenn", "1999")},
        ),
        (
            "He met Orla Vint, who, in Ost, left Pim Dole, whose father was a smith.",
            {"Karl Senn | met | Orla Vint", "Orla Vint | left | Pim Dole", "Pim Dole | father was | smith"},
        ),
        (
            "Karl Senn (of Ost, which is a town of Kell) left Brenn.",
            {"Ost | is | town", "Ost | is town of | Kell", "Karl Senn | left | Brenn"},
        ),
        (
            "Karl Senn, whose father was a smith, left Ost.",
            {"Karl Senn | father was | smith", "Karl Senn | left | Ost"},
        ),
        ("Karl Senn, who was born in Ost, left Brenn.", {"Karl Senn | was born in | Ost", "Karl Senn | left | Brenn"}),
        (
            "Karl Senn was a smith from Ost who lived in Brenn.",
            {"Karl Senn | was | smith", "Karl Senn | was smith from | Ost", "Karl Senn | lived in | Brenn"},
        ),
        ("He wrote a book about Ost, which was sold in Brenn.", {"Karl Senn | wrote book about | Ost"}),
        ("He left the Ost Mill, which Ida Strand sold to Brenn.", {"Karl Senn | left | Ost Mill"}),
        ("He knew a woman who was a painter.", set()),
    ],
)
def test_a_relative_clause_is_about_the_name_before_it_or_about_nobody(text: str, facts: set[str]) -> None:
    assert read("Karl Senn", text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("The wife of Karl Senn was born in Ost.", {"Karl Senn | wife was born in | Ost"}),
        ("Karl Senn's wife was born in Ost.", {"Karl Senn | wife was born in | Ost"}),
        ("Karl Senn's wife, Orla Vint, left Ost.", {"Karl Senn | wife | Orla Vint", "Orla Vint | left | Ost"}),
        ("The wife of Karl Senn, Orla Vint, left Ost.", {"Karl Senn | wife | Orla Vint", "Orla Vint | left | Ost"}),
        ("The wife of Karl Senn's brother left Ost.", {"Karl Senn | wife of brother left | Ost"}),
        ("The village of Hale, Brenn, was sold in 1920.", {"Hale | was sold in | 1920"}),
        (
            "Its mayor was a smith and died in Ost; the mill burned in 1920.",
            {"Kell | mayor was | smith", "Kell | mayor was smith died in | Ost", "Kell | mill burned in | 1920"},
        ),
        ("The painter Ida Brack was born in Ost.", {"Ida Brack | was born in | Ost"}),
        ("The Danish painter Ida Brack was born in Ost.", {"Ida Brack | was born in | Ost"}),
        (
            "The heirs of the Carolingian dynasty left Ost.",
            {"Kell | heirs of | Carolingian", "Kell | dynasty left | Ost"},
        ),
        ("A colony of Ost, its port burned in 1920.", {"Kell | colony of | Ost", "Kell | port burned in | 1920"}),
        ("The mill was built by Ida Brack.", {"Kell | was built by | Ida Brack"}),
    ],
)
def test_what_belongs_to_a_name_is_not_that_and_a_name_after_a_description_is_meant(text: str, facts: set[str]) -> None:
    assert read("Kell", f"Kell is old. {text}") == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Orla Vint sold the mill.", {"Orla Vint | sold the mill | Kell"}),
        ("Pim Dole was born in the village of Hale nearby.", {"Pim Dole | was born in village of | Hale"}),
        ("Lena Dole died of a fever in Ost.", {"Lena Dole | died of fever in | Ost"}),
        ("Karl Örn was born in Évry.", {"Karl Örn | was born in | Évry"}),
        ("Lena Dole was killed.", set()),
        ("Lena Dole founded it in 1846.", {"Kell | founded in | 1846", "Lena Dole | founded | Kell"}),
        ("It was not sold by Lena Dole.", {"Kell | was not sold by | Lena Dole"}),
        ("Its mayor Łukasz Żak left Łódź.", {"Kell | mayor | Łukasz Żak", "Łukasz Żak | left | Łódź"}),
    ],
)
def test_what_somebody_does_is_done_to_the_topic_only_where_nothing_else_follows(text: str, facts: set[str]) -> None:
    assert read("Kell", f"Kell is old. {text}") == facts


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        (
            "Kell is an inland town on Ostrel, 31 kilometres (19 mi) south of Ellowick in Brenn.",
            {"Kell | is | inland town", "Kell | is inland town on | Ostrel", "Kell | is inland town in | Brenn"}
            | {"Kell | 31 kilometres south of | Ellowick"},
        ),
        (
            "Kell is a village, ten miles north-east of Ost.",
            {"Kell | is | village", "Kell | ten miles north-east of | Ost"},
        ),
        (
            "It is about 312 metres (1,024 ft) long and 20 m wide.",
            {"Kell | is long | 312 metres", "Kell | is wide | 20 m"},
        ),
        ("Its tower is 40 metres high.", {"Kell | tower is high | 40 metres"}),
        (
            "She has never been the elected chair of the board of Ost Mill.",
            {"Kell | has never been elected chair of board of | Ost Mill"},
        ),
        ("Hale, 12 km north of the mill, was founded in 1900.", {"Hale | was founded in | 1900"}),
        ("Was Kell sold to Ost in 1920?", set()),
        ('"Was Kell sold to Ost in 1920?"', set()),
        ("Neither Jon Vint nor Karl Senn was born in Ost.", set()),
        ('"I was born in Ost," said Karl Senn.', set()),
        ('"The town burned in 1920. It was sold to Ost," said Karl Senn.', {"Kell | town burned in | 1920"}),
        ('Karl Senn said: "I was born in Ost."', set()),
    ],
)
def test_distances_lengths_negations_and_what_is_only_reported(sentence: str, facts: set[str]) -> None:
    assert read("Kell", sentence) == facts


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        ("Was Tolm Quay flooded in 1931?", set()),
        ("No one believed that Tolm Quay was sold to Arno Falk.", set()),
        ("Reports claim that Arno Falk bought Tolm Quay.", set()),
        ("Few of the sheds on Tolm Quay survived in 1950.", set()),
        ("The heir of Tolm Quay and daughter of Arno Falk was born in Lund.", set()),
        ("No, Lund is the seat of Brask.", {"Lund | is | seat", "Lund | is seat of | Brask"}),
        ("A crane on Tolm Quay struck Arno Falk.", {"Tolm Quay | crane struck | Arno Falk"}),
        ("Nils Quay was opened in 1960.", {"Nils Quay | was opened in | 1960"}),
        ("Tolm Quay Road was opened in 1960.", {"Tolm Quay Road | was opened in | 1960"}),
        ("Unlike Lund Quay, which is 70 m long, the quay is 80 m long.", {"Tolm Quay | is long | 80 m"}),
        (
            "The quay was 20 years old when Arno Falk left Lund.",
            {"Tolm Quay | was old | 20 years", "Arno Falk | left | Lund"},
        ),
        ("Lund, 9 km south of the quay, was sold in 1801.", {"Lund | was sold in | 1801"}),
        ("It was sold in 1920; Vera Holm left Lund in 1921.", {"Tolm Quay | was sold in | 1920"} | VERA),
        ("It was sold in 1920, and Vera Holm left Lund in 1921.", {"Tolm Quay | was sold in | 1920"} | VERA),
        ("In 1921, Vera Holm left Lund.", {"Vera Holm | left | Lund"}),
        ("After Vera Holm left Lund in 1921, the quay was sold in 1920.", {"Tolm Quay | was sold in | 1920"} | VERA),
        ("Tolm Quay was built by Arno Falk (1801–1870).", {"Tolm Quay | was built by | Arno Falk"}),
    ],
)
def test_what_is_asked_denied_or_said_of_others_is_not_said_of_the_topic(sentence: str, facts: set[str]) -> None:
    assert read("Tolm Quay", f"Tolm Quay is old. {sentence}") == facts


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        ("His wife Ada died in 1901, and he married Vera Holm.", {"Nils Brask | married | Vera Holm"}),
        ("His wife died in 1901, and Nils Brask married Vera Holm.", {"Nils Brask | married | Vera Holm"}),
        ("His uncle Otto died in 1901, and he was raised in Lund.", set()),
        ("Nils Brask's aunt Ada died in 1901, and he left Lund.", set()),
    ],
)
def test_a_pronoun_after_somebody_of_the_topic_means_the_topic_or_nobody(sentence: str, facts: set[str]) -> None:
    told = read("Nils Brask", f"Nils Brask is old. {sentence}")

    assert {fact for fact in told if "1901" not in fact and not fact.endswith(("| Ada", "| Otto"))} == facts


@pytest.mark.parametrize(
    ("opening", "subject"),
    [
        ("Per Senn", "Per Senn"),
        ("May Senn", "May Senn"),
        ("But Karl Senn", "Karl Senn"),
        ("So Senn", "Senn"),
        ("However Karl Senn", "Karl Senn"),
        ("Per capita income", "Ada Renk"),
    ],
)
def test_who_acts_after_a_word_that_only_opens_a_sentence_is_its_subject(opening: str, subject: str) -> None:
    born = [
        fact for fact in read("Ada Renk", f"Ada Renk is old. {opening} was born in Ost.") if fact.endswith("in | Ost")
    ]

    assert [fact.split(" | ")[0] for fact in born] == [subject]


@pytest.mark.parametrize(
    ("opening", "head"),
    [
        ("Vera Holm was shot by Nils Brask in 1920.", "Vera Holm"),
        ("Otto Brask was born in 1920.", "Otto Brask"),
        ("Vera Holm, known as Nils Brask, was born in 1920.", "Nils Brask"),
        ('Nikolaus "Nils" Brask (born 1920) left Lund.', "Nils Brask"),
        ("Nils Otto Brask was born in 1920.", "Nils Brask"),
        ("Klokker sangen (released as Nils Brask) was shown in 1920.", "Nils Brask"),
    ],
)
def test_an_opening_is_about_the_topic_where_it_says_so(opening: str, head: str) -> None:
    assert {fact[0] for fact in extract_triples("Nils Brask", [opening]) if fact[2] == "1920"} == {head}


def test_a_sentence_of_clauses_without_end_states_nothing() -> None:
    assert extract_triples("Vera Holm", ["Vera Holm met " + "Nils Brask, who saw " * 500 + "Lund."]) == []


def test_code_states_no_facts() -> None:
    assert extract_triples("Otto Falk", ["```yaml born: Paris ```", "- ~~~ born: Paris ~~~", "He left Kell."]) == [
        ["Otto Falk", "left", "Kell"]
    ]


@pytest.mark.parametrize("line", ["~~~~~~~~~~", "~~~ Part 1 ~~~", "~~~~~ Part 1 ~~~~~"])
def test_a_line_drawn_of_tildes_does_not_make_code_of_what_follows(line: str) -> None:
    read = extract_triples("Otto Falk", [f"{line} He left Kell.", line])

    assert read == [["Otto Falk", "left", "Kell"]]


def test_what_only_tells_a_title_from_others_is_not_part_of_the_name() -> None:
    assert topic_of("Mercury (ship)") == "Mercury"
    assert topic_of("(untitled)") == "(untitled)"
    assert ["Mercury", "sailed to", "Kell"] in extract_triples("Mercury (ship)", ["It sailed to Kell."])


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        ("The Sarl Viaduct (1911) was designed by Matthis Orvane.", "Sarl Viaduct"),
        ("Out of the Harbour is a novel by Ida Strand.", "Out of the Harbour"),
        ("Kell Brask, known as the Gull, was a sailor.", "Kell Brask"),
        ('Ida "Ink" Strand( born 1903) was a poet.', 'Ida "Ink" Strand'),
        ("Nine Tides, Ten Ebbs was the first film of Ilse Tarrant.", "Nine Tides, Ten Ebbs"),
        ("Matthis Orvane built bridges.", "Matthis Orvane"),
        ("Notes on the harbour\n\nIt freezes in January.", "Notes on the harbour"),
        ("# Notes on the harbour\nIt freezes in January.", "Notes on the harbour"),
        ("**Notes on the harbour**\n\nIt freezes in January.", "Notes on the harbour"),
        ("Notes on the harbour\r\n\r\nIt freezes in January.", "Notes on the harbour"),
        ("Notes on the harbour.\n\nIt freezes in January.", ""),
        ("Harbour council, 7 June\nChair: Ida Strand", "Harbour council, 7 June"),
        ("Harbour council\n  Members of the board:\nIda Strand", "Harbour council"),
        ("Harbour council\n* Ida Strand", "Harbour council"),
        ("Harbour council\n1. Ida Strand", "Harbour council"),
        ("Skellby harbour\nSkellby harbour freezes in January.", "Skellby harbour"),
        ("Skellby!\nSkellby! is a novel by Ida Strand.", "Skellby!"),
        ("Life Is Short\nA novel about a year in the harbour of Skellby.", "Life Is Short"),
        ("Orvane, Matthis\n1911: he built the viaduct of Sarl, the longest.", "Orvane, Matthis"),
        ("冬の港\n港は一月に凍る。船は入れないので、島の人々は氷の上を歩く。", "冬の港"),
        ("The harbour was\nIda Strand's favourite place in all of the islands.", ""),
        ("The old harbour of\nSkellby freezes in January, and no ship can enter it.", ""),
        ("In the old harbour\nno ship can enter from January to March in most years.", ""),
        ("Dear Ida,\nI wrote to the council in January, and nobody answered.", ""),
        ("Kell\nAnstrey\nSkellby", ""),
        ("12\nIt freezes in January, and no ship can enter.", ""),
        ("12\n\nIt freezes in January.", ""),
        ("-----\n\nIt freezes in January.", ""),
        ("Chair: Ida Strand\nClerk: Otto Falk", ""),
        ("- Ida Strand\n- Otto Falk", ""),
        ("The harbour froze in the winter of\n1911: Ida Strand left.", ""),
        ("Skellby froze in the winter of 1911.\nChair: Ida Strand", "Skellby"),
        ("Hamnen ligger i Skellby och fryser varje vinter.", ""),
        ("Przystań zbudowano w Skellby. Zimą zamarza.", ""),
        ("In 1911 the Sarl Viaduct was the longest of all.", ""),
        ("He was an engineer.", ""),
        ("After the war she was a member of the council of Anstrey.", ""),
        ("Present: Matthis Orvane, Ida Strand.", ""),
        ("A heron is a bird.", ""),
        ("1911", ""),
        ("```\n\nMatthis Orvane built bridges.", ""),
        ("", ""),
    ],
)
def test_what_a_text_opens_with_is_a_line_of_its_own_or_its_subject(text: str, opening: str) -> None:
    assert opening_of(text) == opening


def test_a_wide_blank_after_an_article_is_read_to_its_end() -> None:
    assert opening_of("a" + " " * 20_000 + "b") == ""


def test_sentences_without_facts_and_passages_without_sentences_give_none() -> None:
    assert extract_triples("Grey heron", ["they wait for fish", "?!", ""]) == []
    assert extract_triples("Grey heron", []) == []
    assert extract_triples("", ["It sank in Kell."]) == []


def test_no_triple_lacks_a_part_or_says_something_of_itself() -> None:
    sentences = [
        "Ada Renk, Ada Renk and Kell.",
        "Kell (Orsby) 1911, 1912; 1913.",
        '"Tide" "Tide" was a film (1911) by Ada Renk.',
        "Ada Renk was Ada Renk.",
    ]
    triples = extract_triples("Ada Renk", sentences)

    assert triples
    assert all(all(part.strip() for part in triple) and len(triple) == 3 for triple in triples)
    assert all(triple[0].casefold() != triple[2].casefold() for triple in triples)


def test_of_a_sentence_without_end_the_first_subjects_are_read() -> None:
    scores = "; ".join(f"Ada{number} Renk was born in Ost" for number in range(10_000))

    assert extract_triples("Births", [f"{scores}."])[0] == ["Ada0 Renk", "was born in", "Ost"]
    extract_triples("Ost", [f"Ada Renk's results: {'; '.join(map(str, range(10_000)))}."])


@pytest.mark.parametrize("opening", ["However, ", "When Karl Senn died, ", "In Ost, In 1900, "])
def test_a_sentence_of_any_number_of_openings_is_read(opening: str) -> None:
    assert extract_triples("Mill Fair", [f"{opening}the mill burned in 1920."])[-1][-1] == "1920"
    extract_triples("Mill Fair", [f"{opening * 2_000}the mill burned in 1920."])
