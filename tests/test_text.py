"""Sentences, phrases, spans and rule triples, read from a text without a model or from a spaCy parse."""

import random
from collections.abc import Iterator, Sequence
from inspect import unwrap

import pytest
import spacy
from spacy.tokens import Doc

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.offline.pages import lines_of
from langgraph_rag.tools.facts.names import opening_of, topic_of
from langgraph_rag.tools.facts.reading import extract_triples
from langgraph_rag.tools.ingest.spans import spot
from langgraph_rag.tools.ingest.text import TextPipeline, text_pipeline


@pytest.fixture(scope="module")
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
        (
            "It flew the 111A. Kell Field fell. A. Vint left.",
            ["It flew the 111A.", "Kell Field fell.", "A. Vint left."],
        ),
        ('She sang "Who?", "When?" and "No." It rained.', ['She sang "Who?", "When?" and "No."', "It rained."]),
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


@pytest.mark.parametrize("token", ["( ) ", "()", " ", '" ', ", ", "- "])
def test_a_form_to_be_filled_in_is_read_to_its_end(token: str) -> None:
    extract_triples("Survey", ["Satisfaction Survey " + token * 200 + "is rated by staff."])


@pytest.mark.parametrize(
    ("opening", "head"),
    [
        ("Vera Holm was shot by Nils Brask in 1920.", "Vera Holm"),
        ("Otto Brask was born in 1920.", "Otto Brask"),
        ("Vera Holm, known as Nils Brask, was born in 1920.", "Nils Brask"),
        ('Nikolaus "Nils" Brask (born 1920) left Lund.', "Nils Brask"),
        ("Nils Otto Brask was born in 1920.", "Nils Brask"),
    ],
)
def test_an_opening_is_about_the_topic_where_it_says_so(opening: str, head: str) -> None:
    assert {fact[0] for fact in extract_triples("Nils Brask", [opening]) if fact[2] == "1920"} == {head}


def test_a_sentence_of_clauses_without_end_is_read() -> None:
    read = extract_triples("Vera Holm", ["Vera Holm met " + "Nils Brask, who saw " * 500 + "Lund."])

    assert read[0] == ["Vera Holm", "met", "Nils Brask"]


def test_code_states_no_facts() -> None:
    assert extract_triples("Otto Falk", ["```yaml born: Paris ```", "- ~~~ born: Paris ~~~", "He left Kell."]) == [
        ["Otto Falk", "left", "Kell"]
    ]


@pytest.mark.parametrize("line", ["~~~~~~~~~~", "~~~ Part 1 ~~~", "~~~~~ Part 1 ~~~~~"])
def test_a_line_drawn_of_tildes_does_not_make_code_of_what_follows(line: str) -> None:
    read = extract_triples("Otto Falk", [line, "He left Kell.", line])

    assert read == [["Otto Falk", "left", "Kell"]]


def test_what_tells_a_title_from_others_is_part_of_the_head_but_not_of_the_topic() -> None:
    assert topic_of("Mercury (ship)") == "Mercury"
    assert topic_of("(untitled)") == "(untitled)"
    assert extract_triples("Mercury (ship)", ["It sank.", "Mercury sailed to Kell."]) == [
        ["Mercury (ship)", "sailed to", "Kell"]
    ]


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
    assert "1920" in [tail for _, _, tail in extract_triples("Mill Fair", [f"{opening}the Mill Fair closed in 1920."])]
    extract_triples("Mill Fair", [f"{opening * 2_000}the Mill Fair closed in 1920."])
