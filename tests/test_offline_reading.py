"""What the offline model reads in sentences, with small invented facts."""

import os
import subprocess
import sys

import pytest

from langgraph_rag.offline.answer import conclude
from langgraph_rag.offline.compare import compare, judge, look_up
from langgraph_rag.offline.descriptions import ask_for, descriptions
from langgraph_rag.offline.model import SKILLS, as_question, with_capitals
from langgraph_rag.offline.pages import Line, Pages, pages_of
from langgraph_rag.offline.question import analyse
from langgraph_rag.offline.reading import read
from langgraph_rag.offline.words import stem
from langgraph_rag.tools.facts.reading import extract_triples

TEXTS = [
    (
        "Tolmar Bridge",
        [
            "The Tolmar Bridge is a road bridge in Veld, 310 metres long.",
            "It was designed by the engineer Ada Holm and opened on 4 May 1931 with 48 bronze lamps.",
        ],
    ),
    (
        "Ada Holm",
        [
            "Ada Holm (3 March 1890 – 1 June 1961) was a Kellish engineer and painter born in Orrick.",
            "In 1920 she married the novelist Peder Lunt.",
            "Her mother kept an inn.",
        ],
    ),
    ("Peder Lunt", ["Peder Lunt was a Veldian novelist who wrote The Salt Road.", "He died in 1967."]),
    ("Ida Korr", ["Ida Korr is a singer.", "Ida Korr is to study under Jon Brenn."]),
    ("Brack", ["Brack is a folk band from Orrick, known for the album Low Water."]),
]
PAGES = Pages(Line(title, text, place == 0) for title, texts in TEXTS for place, text in enumerate(texts))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who designed the Tolmar Bridge?", "Ada Holm"),
        ("When did the Tolmar Bridge open?", "4 May 1931"),
        ("In what year did the Tolmar Bridge open?", "1931"),
        ("How long is the Tolmar Bridge?", "310 metres"),
        ("How many lamps does the Tolmar Bridge have?", "48"),
        ("Where was Ada Holm born?", "Orrick"),
        ("Who studied under Jon Brenn?", "Ida Korr"),
        ("When did Ada Holm die?", "1 June 1961"),
        ("Which band is known for the album Low Water?", "Brack"),
        ("What novelist did the engineer who designed the Tolmar Bridge marry?", "Peder Lunt"),
        ("When did the novelist that the engineer who designed the Tolmar Bridge married die?", "1967"),
    ],
)
def test_the_answer_is_the_span_of_the_kind_asked_for(question: str, answer: str) -> None:
    reading = read(question, PAGES)

    assert reading is not None
    assert reading.answer == answer
    assert any(answer in f"{line.title} {line.text}" for line in reading.lines)


@pytest.mark.parametrize(
    ("question", "written"),
    [
        ("who built kell mill", "who built Kell Mill"),
        ("where was ada renk born?", "where was Ada Renk born?"),
        ("who owns the mill?", "who owns the mill?"),
        ("Who met ada renk in Ost?", "Who met ada renk in Ost?"),
    ],
)
def test_names_in_small_letters_are_written_as_they_are_shown(question: str, written: str) -> None:
    told = "Kell Mill is a mill. The Mill was built by Ada Renk."

    assert (
        with_capitals(question, {"question": question, "passages": [{"title": "Kell Mill", "text": told}]}) == written
    )


@pytest.mark.parametrize("words", ["study studies studied", "sell sells sold", "win winner won", "tall high height"])
def test_forms_of_one_word_have_one_stem(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == 1


@pytest.mark.parametrize(
    "question",
    [
        "Who painted the ceiling of the Quarne Palace?",
        "What is the boiling point of tellurium?",
        "Where did Peder Lunt die?",
        "What is the name of the sister of the engineer who designed the Tolmar Bridge?",
    ],
)
def test_nothing_is_answered_where_nothing_matches(question: str) -> None:
    assert not conclude(question, PAGES, least=2.0)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Are Ada Holm and Peder Lunt both painters?", "no"),
        ("Which person was an engineer, Ada Holm or Peder Lunt?", "Ada Holm"),
        ("Are Ada Holm and Quentin Marr both novelists?", ""),
    ],
)
def test_two_things_are_compared_by_what_is_written_of_each(question: str, answer: str) -> None:
    assert judge(analyse(question), PAGES)[0] == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Are Ada Renk and Ida Korr both poets?", "yes"),
        ("Are Ada Renk and Ida Korr both painters?", "no"),
        ("Did both Ada Renk and Ida Korr study under Per Dahl?", "yes"),
        ("Did Ada Renk and Ida Korr both win the Tull Prize?", ""),
        ("Were Ada Renk and Ida Korr both from Saltby?", "yes"),
        ("Were Ada Renk and Ida Korr both from Norra?", ""),
    ],
)
def test_what_is_not_told_of_both_is_denied_only_of_what_they_are(question: str, answer: str) -> None:
    texts = [
        {"title": "Ada Renk", "text": "Ada Renk is a poet. She grew up in Saltby. She studied under Per Dahl."},
        {"title": "Ida Korr", "text": "Ida Korr is a poet born in Saltby. She was to study under Per Dahl in Ost."},
    ]

    assert conclude(question, pages_of(texts), least=2.5).answer == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which bridge is longer, Tolmar Bridge or Orrick Bridge?", "Orrick Bridge"),
        ("Which bridge is shorter, Tolmar Bridge or Orrick Bridge?", "Tolmar Bridge"),
    ],
)
def test_lengths_that_rules_read_are_compared(question: str, answer: str) -> None:
    facts = extract_triples("Tolmar Bridge", ["The Tolmar Bridge is 310 metres long and 12 metres wide."])
    facts += extract_triples("Orrick Bridge", ["The Orrick Bridge is 1.2 kilometres long and 9 metres wide."])
    asked = analyse(question)

    sides = [look_up(asked, name, facts) for name in asked.pair]

    assert compare(asked, sides) == answer


@pytest.mark.parametrize(
    ("question", "wants", "kinds"),
    [
        ("What Kellish football club did he play for?", "thing", {"kellish", "football", "club"}),
        ("The bridge was built by an engineer born in what city?", "place", {"city"}),
        ("When did the band which Ada left split?", "date", set()),
        ("What is Ada Renk known for?", "thing", set()),
        ("What is Ada's population?", "number", {"ada", "inhabitants"}),
        ("The film in which she played was directed by whom?", "person", set()),
    ],
)
def test_a_question_tells_what_kind_of_thing_it_wants(question: str, wants: str, kinds: set[str]) -> None:
    analysed = analyse(question)
    assert analysed.wants == wants
    assert analysed.kinds == kinds


@pytest.mark.parametrize(
    ("question", "described"),
    [
        ("Who is the wife of Ada Holm's brother in law?", ["Ada Holm's brother"]),
        ("When was the teacher of Ada Holm's mother born?", ["Ada Holm's mother", "the teacher of Ada Holm's mother"]),
        ("When did Ada Holm, 2nd Countess of Kell's father die?", ["Ada Holm, 2nd Countess of Kell's father"]),
        ("How long is the bridge that Ada Holm built?", ["the bridge that Ada Holm built"]),
        ("When did the painter of the bridge that Ada Holm built die?", ["the bridge that Ada Holm built"]),
        ("Where was the wife of the man who built the Gull born?", ["the man who built the Gull"]),
        ("Who was the painter of the bridge that Ada Holm opened?", ["the bridge that Ada Holm opened"]),
        ("How old was the engineer who built the Tolmar Bridge?", ["the engineer who built the Tolmar Bridge"]),
        ("What borders the county in which Veld is located?", ["the county in which Veld is located"]),
        ("When did the Gull open in the town where Veld Mill is located?", ["the town where Veld Mill is located"]),
        ("When did the land where Veld is located become part of Norland?", ["the land where Veld is located"]),
        ("When was the mill built in the town where Ada Holm died?", ["the town where Ada Holm died"]),
        ("What is the seat of the county containing Veld?", ["the county containing Veld"]),
        ("What is the anthem of the land that Ada Holm is from?", ["the land that Ada Holm is from"]),
        ("Who is the wife of the finder of comet 9 (Holm)?", ["the finder of comet 9 (Holm)"]),
    ],
)
def test_a_description_is_whole(question: str, described: list[str]) -> None:
    assert set(described) <= set(descriptions(question))


@pytest.mark.parametrize(
    ("description", "question"),
    [
        ("the engineer of the Tolmar Bridge", "Who is the engineer of the Tolmar Bridge?"),
        ("the birthplace of Ada Holm's mother", "What is the birthplace of Ada Holm's mother?"),
        ("the painter who left the town of Kell", "Who is the painter who left the town of Kell?"),
        ("Ada Holm's mother", "Who is Ada Holm's mother?"),
        ("the one who built the Gull", "Who is the one who built the Gull?"),
        ("Ada Taylor's town", "What is Ada Taylor's town?"),
        ("the river that the Singer Dam holds", "What is the river that the Singer Dam holds?"),
        ("the land where the River Ister is found", "What is the land where the River Ister is found?"),
    ],
)
def test_who_is_asked_for_only_where_the_description_is_of_a_person(description: str, question: str) -> None:
    assert ask_for(description) == question


MORE = [
    (
        "Karl Senn",
        ["Karl Senn (4 May 1890 – 1961) was a poet, painter and the son of a judge.", "He was born in Tarn."],
    ),
    (
        "Ost Bridge",
        ["The Ost Bridge was designed by Ben Vale, a pupil of Anna Korr.", "It was not painted by Ida Brack."],
    ),
    (
        "Anna Korr",
        ["Anna Korr was the mayor of Tarn from 1899 to 1906.", "Her mother was a singer.", "She died in Norra."],
    ),
    ("Ida Brack", ["Ida Brack was born on 3 May 1880.", "She married Anton Senn."]),
    ("Anton Senn", ["Anton Senn was born on 1 June 1871."]),
    ("Lena Brack", ["Lena Brack was born on 9 July 1875."]),
    ("Tarn", ["Tarn is a town."]),
    ("Quarn", ["Quarn is a town."]),
]
MORE_PAGES = Pages(Line(title, text, place == 0) for title, texts in MORE for place, text in enumerate(texts))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Was Karl Senn a painter?", "yes"),
        ("Was Karl Senn a judge?", ""),
        ("Was Karl Senn a painter in Go?", ""),
        ("Was Karl Senn born in Tarn?", "yes"),
        ("Was Karl Senn born in 1890?", "yes"),
        ("Was Karl Senn born in 1891?", "no"),
        ("Was Karl Senn born in Quarn?", "no"),
        ("Was Karl Senn born in Norland?", ""),  # Tarn may lie there
        ("Did Ben Vale design the Ost Bridge?", "yes"),
        ("Was the Ost Bridge designed by Ben Vale?", "yes"),
        ("Did Anna Korr design the Ost Bridge?", ""),
        ("Did Lena Brack design the Ost Bridge?", "no"),
        ("Did Ida Brack paint the Ost Bridge?", ""),
        ("Did Anton Senn marry Ida Brack?", "yes"),
        ("Was Anna Korr the first mayor of Tarn?", ""),
        ("Was Anna Korr mayor of Tarn?", "yes"),
        ("Was Anna Korr president of Tarn?", ""),
        ("Was Anna Korr a singer?", ""),
        ("Was Pim Dole a painter?", ""),
        ("Who was born first, Ida Brack, Anton Senn or Lena Brack?", "Anton Senn"),
        ("Who was born last, Anton Senn, Ida Brack, or Lena Brack?", "Ida Brack"),
        ("Who was born first, Ida Brack, Pim Dole or Lena Brack?", ""),
    ],
)
def test_yes_no_and_which_of_several_are_answered_only_for_sure(question: str, answer: str) -> None:
    assert conclude(question, MORE_PAGES, least=2.0).answer == answer


@pytest.mark.parametrize(("year", "winner"), [(2019, ""), (2021, "Ada Renk"), (2023, "Jon Brenn")])
def test_what_happened_in_another_year_is_not_answered_with(year: int, winner: str) -> None:
    texts = [
        {"title": "Jon Brenn", "text": "Jon Brenn is a poet. Jon Brenn won the Tull Prize in 2023."},
        {"title": "Ada Renk", "text": "Ada Renk is a painter. She won the Tull Prize in 2021."},
    ]

    assert conclude(f"Who won the Tull Prize in {year}?", pages_of(texts), least=2.5).answer == winner


def test_a_numbered_title_is_part_of_a_name() -> None:
    assert analyse("Who is the mother of Ada Renk, 2nd Countess of Kell?").names == ("Ada Renk, 2nd Countess of Kell",)


def test_a_place_that_is_not_of_the_kind_asked_for_leads_to_one_that_is() -> None:
    doubted = {"question": "What is the county where Jon Brenn was born?", "answer": "Sarn — He was born in Sarn. [1]"}
    sources = [{"title": "Jon Brenn", "text": "Jon Brenn is a poet. He was born in Sarn."}]
    reviewed = SKILLS["review"]({**doubted, "sources": sources})
    wider = {"question": reviewed["question"], "answer": "Dolm County — Sarn is a town in Dolm County. [1]"}

    assert reviewed["question"] == "What is the county where Sarn is located?"
    assert SKILLS["review"]({**wider, "sources": sources})["status"] == "PASS"
    assert SKILLS["refine"](
        {
            "question": "",
            "following": "What borders the county where Jon Brenn was born?",
            "found": [doubted, wider],
        }
    ) == {"question": "What borders Dolm County?"}


def test_a_pronoun_in_a_planned_question_means_what_an_earlier_step_found() -> None:
    found = [
        {"question": "Who leads the Heron team?", "answer": "Jon Brenn — It is led by Jon Brenn. [1]"},
        {"question": "Whom did Jon Brenn marry?", "answer": "Ada Renk — He married Ada Renk. [1]"},
    ]

    assert SKILLS["refine"]({"question": "", "following": "Whom did he marry?", "found": found[:1]}) == {
        "question": "Whom did Jon Brenn marry?"
    }
    assert SKILLS["refine"]({"question": "", "following": "Where was she born?", "found": found}) == {
        "question": "Where was Ada Renk born?"
    }


def test_a_count_stands_next_to_what_is_counted_though_that_has_a_capital() -> None:
    texts = [{"title": "Tull Bank", "text": "Tull Bank is a bank. It has 4,600 branches and 15,900 ATMs in Ost."}]

    assert conclude("How many atms does Tull Bank have in Ost?", pages_of(texts), least=2.0).answer == "15,900"


def test_how_many_years_is_not_answered_by_a_year() -> None:
    assert conclude("How many years was Anna Korr mayor of Tarn?", MORE_PAGES, least=2.0).answer not in ("1899", "1906")


@pytest.mark.parametrize(
    ("imperative", "question"),
    [
        ("Name the president of Norra", "What is the president of Norra?"),
        ("Please tell me when the Vale Bridge was opened.", "when the Vale Bridge was opened?"),
        ("Can you tell me who painted it?", "who painted it?"),
        ("Please tell me: is it red?", "is it red?"),
        ("Do you know when it was opened?", "when it was opened?"),
        ('"Who painted it?"', "Who painted it?"),
        ('Who painted "It"?', 'Who painted "It"?'),
        ("So, who painted it?", "who painted it?"),
        ("Q: Who painted it?", "Who painted it?"),
        ("Find Nemo is a film by whom?", "Find Nemo is a film by whom?"),
        ("Who painted it?", "Who painted it?"),
    ],
)
def test_an_imperative_asks_a_question(imperative: str, question: str) -> None:
    assert as_question(imperative) == question


@pytest.mark.parametrize(
    ("question", "answer"), [("Who wrote Amber Road?", "Tom Avery"), ("Who produced it?", "Ian Blair")]
)
def test_who_something_is_by_did_not_do_what_another_sentence_tells(question: str, answer: str) -> None:
    text = "Amber Road is a song by Lise Vang. It was written by Tom Avery and produced by Ian Blair."
    lines = pages_of([{"title": "Amber Road", "text": text}])

    assert conclude(question, lines, least=1.0).answer == answer
    assert conclude("Who performed Amber Road?", lines, least=1.0).answer == "Lise Vang"


@pytest.mark.parametrize("trailing", ["", "? Thanks!", "?!", "!", "?**"])
def test_what_follows_the_question_is_no_part_of_an_alternative(trailing: str) -> None:
    assert analyse(f"Which is longer, the Sarl or the Hale Brook{trailing}").pair == ("the Sarl", "the Hale Brook")


@pytest.mark.parametrize(
    ("one", "other", "longer"),
    [("320 km", "900 m", "320 km"), ("200 ft", "100 m", "100 m"), ("1.2km", "100 metres", "1.2km")],
)
def test_lengths_are_compared_in_one_unit(one: str, other: str, longer: str) -> None:
    question = analyse("Which is longer, Sarl or Hale?")
    facts = [["Sarl", "is long", one], ["Hale", "is long", other]]

    assert compare(question, [look_up(question, name, facts) for name in ("Sarl", "Hale")]) == (
        "Sarl" if longer == one else "Hale"
    )


@pytest.mark.parametrize(
    ("one", "other", "first"),
    [
        ("1900", "5 March 1900", ""),
        ("May 1900", "5 May 1900", ""),
        ("1900", "5 March 1901", "Ada Renk"),
        ("1900-03-04", "5 March 1900", "Ada Renk"),
        ("4/3/1900", "5 March 1900", ""),
    ],
)
def test_dates_are_compared_as_far_as_both_are_known(one: str, other: str, first: str) -> None:
    question = analyse("Who was born first, Ada Renk or Emil Varn?")
    facts = [["Ada Renk", "born on", one], ["Emil Varn", "born on", other]]

    assert compare(question, [look_up(question, name, facts) for name in question.pair]) == first


def test_who_lived_longer_may_be_asked_of_directors() -> None:
    asked = "Which film has the director who lived longer, The Salt Road or Winter Tide?"
    question = analyse(asked)
    facts = [
        ["The Salt Road", "was directed by", "Ada Renk"],
        ["Winter Tide", "was directed by", "Emil Varn"],
        ["Ada Renk", "born on", "5 March 1900"],
        ["Ada Renk", "died on", "6 March 1960"],
        ["Emil Varn", "born on", "7 May 1910"],
        ["Emil Varn", "died on", "8 May 1990"],
    ]

    assert compare(question, [look_up(question, name, facts) for name in question.pair]) == "Winter Tide"
    assert look_up(question, "Winter Tide", facts[:2]).missing == "When was Emil Varn born and when did Emil Varn die?"
    assert [step["question"] for step in SKILLS["plan"]({"question": asked})["steps"]][:2] == [
        "Who is the director of The Salt Road?",
        "When was #1 born and when did #1 die?",
    ]


@pytest.mark.parametrize(
    ("told", "one", "other", "larger"),
    [
        ("is high", "1602 metres", "1450 metres", "Sarl"),
        ("is long", "1950", "1800", ""),
        ("was founded in", "1950", "1800", ""),
        ("was opened on", "5 May 1950", "4 May 1950", ""),
        ("has", "35 vineyards", "120 vineyards", "Hale"),
        ("has", "1,602 metres (5,256 ft)", "1,702 metres (5,584 ft)", "Hale"),
    ],
)
def test_a_number_that_may_be_a_year_is_compared_if_it_is_none(told: str, one: str, other: str, larger: str) -> None:
    question = analyse("Which is larger, Sarl or Hale?")
    facts = [["Sarl", told, one], ["Hale", told, other]]

    assert compare(question, [look_up(question, name, facts) for name in ("Sarl", "Hale")]) == larger


def test_names_that_differ_in_a_number_are_two() -> None:
    question = analyse("Which was released first, Chapter One or Chapter Two?")
    facts = [["Chapter Two", "was released in", "1991"], ["Chapter One", "was released in", "1990"]]

    assert compare(question, [look_up(question, name, facts) for name in question.pair]) == "Chapter One"


def test_a_sentence_is_cited_by_the_number_of_its_own_source() -> None:
    sources = [
        {"title": "Tolmar Bridge", "text": "Who it was that designed the bridge is often asked."},
        {"title": "Tolmar Bridge", "text": "It was designed by the engineer Ada Holm."},
    ]

    answer = SKILLS["act"]({"question": "Who designed the Tolmar Bridge?", "sources": sources})["answer"]

    assert answer == "Ada Holm \u2014 It was designed by the engineer Ada Holm. [2]"


def test_what_is_denied_of_somebody_is_not_compared() -> None:
    question = analyse("Who was born first, Ada Renk or Emil Varn?")
    facts = [
        ["Ada Renk", "was not born in", "1900"],
        ["Ada Renk", "was born in", "1910"],
        ["Emil Varn", "born on", "1905"],
    ]

    assert compare(question, [look_up(question, name, facts) for name in question.pair]) == "Emil Varn"


def test_a_name_with_a_comma_is_one_alternative() -> None:
    assert analyse("Which is larger, Kell, Norland or Ost?").pair == ("Kell, Norland", "Ost")
    assert analyse("Which is larger, Kell, Norland, or Ost, Norland?").pair == ("Kell, Norland", "Ost, Norland")
    assert analyse("Which is older, the Ost Mill, the Sarl Mill, or the Vale Mill?").pair == (
        "the Ost Mill",
        "the Sarl Mill",
        "the Vale Mill",
    )


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Was Mara Tull born in Sarn?", "Mara Tull was neither born in Sarn nor in Dolm."),
        ("Was Mara Tull born in Sarn?", "Mara Tull's father was born in Sarn."),
        ("Was Mara Tull born in Sarn?", "The father of Mara Tull was born in Sarn."),
        ("Was Mara Tull born in Sarn?", "Mara Tull pretended to have been born in Sarn."),
        ("Was Mara Tull born in Sarn?", "It is doubtful whether Mara Tull was born in Sarn."),
        ("Was Mara Tull born in Sarn?", "It is a legend that Mara Tull was born in Sarn."),
        ("Was Mara Tull born in 1871?", "Mara Tull was born after 1871."),
        ("Was Mara Tull born in 1874?", "Mara Tull was born between 1871 and 1874."),
        ("Was Mara Tull born in 1872?", "Mara Tull was born between 1871 and 1874."),
        ("Did Mara Tull marry Jon Brenn?", "Mara Tull's cousin married Jon Brenn."),
        ("Did Mara Tull marry Jon Brenn?", "Mara Tull declined to marry Jon Brenn."),
        ("Was the Sarn Mill built by Jon Brenn?", "The Sarn Mill was built by Jon Brenn's nephew."),
        ("Was the Sarn Mill built by Jon Brenn?", "The Sarn Mill was built by the nephew of Jon Brenn."),
        ("Was the Sarn Mill owned by the Tull guild?", "The Sarn Mill was owned by the Tull family."),
        ("Are Jon Brenn and Ada Renk married?", "Jon Brenn is married to the sister of Ada Renk."),
        ("Does the RT-5 support Zephyr?", "The RT-5 supports all systems except Zephyr."),
        ("Does the RT-5 support Zephyr?", "The RT-5 needs support for Zephyr."),
        ("Does the RT-5 support Zephyr?", "Does the RT-5 support Zephyr? Nobody has tried."),
        ("Is Sarn the capital of Tullen?", "Sarn is the former capital of Tullen."),
        ("Is Sarn the capital of Tullen?", "Sarn was the capital of Tullen until 1888."),
        ("When did the workshop in Dolm open?", "The Sarn workshop opened in May 2011."),
        ("Who leads the Bridges team?", "Jon Brenn leads the Tunnels team."),
        ("Why was the Sarn Mill closed?", "The Sarn Mill was closed for 44 days."),
        ("How many lathes does the Sarn workshop have?", "The Sarn workshop was built by Jon Brenn."),
        ("How many years after the Sarn Mill was the Dolm Mill built?", "The Dolm Mill and the Sarn Mill ran 9 years."),
    ],
)
def test_what_is_not_said_of_what_is_asked_about_answers_nothing(question: str, sentence: str) -> None:
    assert conclude(question, pages_of([{"title": "Notes", "text": sentence}]), least=2.0).answer == ""


@pytest.mark.parametrize(
    ("question", "sentence", "answer"),
    [
        ("Did Jon Brenn build the Sarn Mill?", "The Sarn Mill was built by Jon Brenn.", "yes"),
        ("Did Jon Brenn design the Sarn Mill?", "The Sarn Mill was designed by the engineer Jon Brenn.", "yes"),
        ("Was the Sarn Mill owned by the Tull family?", "The Sarn Mill was owned by the Tull family.", "yes"),
        ("Are Jon Brenn and Ada Renk married?", "Jon Brenn is married to the cellist Ada Renk.", "yes"),
        ("Who is the chief technical officer of Tull Ltd?", "Jon Brenn is the chief technical officer of Tull Ltd.",
         "Jon Brenn"),
        ("Why was the Sarn Mill closed?", "The Sarn Mill was closed because of a flood.", "a flood"),
        ("Which Tullish mill was built by Jon Brenn?", "The Sarn Mill was built by Jon Brenn.", "Sarn Mill"),
        ("Where was Ada Renk born?", "Ada Renk was not born in Ost. Ada Renk was born in Brenn.", "Brenn"),
        ("Where did Ada Renk die?", "Ada Renk did not die in Ost, but in Hale.", "Hale"),
        ("What is the province that contains Sarn?", "Sarn is a town in Dolm Province in Tullen.", "Dolm Province"),
        ("In which province is Sarn?", "Sarn is a village in Hale district, Moor, Dolm province, Tullen.", "Dolm"),
        ("In which country is Sarn?", "Sarn is a town in the Eastern Region of Tullen.", "Tullen"),
        ("Who sang Low Water with Jon Brenn?", "Jon Brenn sang Low Water with Ada Renk of Kellish folk band Brack.",
         "Ada Renk"),
        ("What was Ashby FC formerly called?",
         "Ashby FC is a football club. Ashby FC was formerly called Ashby Rovers. It plays at Moor Lane.",
         "Ashby Rovers"),
    ],
)  # fmt: skip
def test_what_is_said_of_it_does(question: str, sentence: str, answer: str) -> None:
    assert conclude(question, pages_of([{"title": "Notes", "text": sentence}]), least=2.0).answer == answer


TEAMS = [
    {"title": "Heron team", "text": "The Heron team is led by Jon Brenn. The team sits in Dolm. "
     "Before 2019 the team was led by Ada Renk."},
    {"title": "Outage", "text": "The outage was noticed by Klaxon at 06:12 and resolved by Mara Tull at 07:49."},
    {"title": "Tull Freight", "text": "Tull Freight is a company. In 2012 the company bought the firm Stackwell."},
    {"title": "Ada Renk", "text": "Ada Renk left Tull Freight in 2019 and founded Copperline."},
    {"title": "Services", "text": "- Service: Klaxon; Owner: Wren team; Language: Elixir; On call: Lise Orn"},
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who leads the Heron team?", "Jon Brenn"),
        ("Who led the Heron team before 2019?", "Ada Renk"),
        ("Where does the Heron team sit?", "Dolm"),
        ("Who noticed the outage?", "Klaxon"),
        ("Who resolved the outage?", "Mara Tull"),
        ("Who founded Copperline?", "Ada Renk"),
        ("When did Tull Freight buy Stackwell?", "2012"),
        ("In which language is Klaxon written?", "Elixir"),
    ],
)
def test_the_fact_that_states_the_answer_wins_over_what_stands_nearer(question: str, answer: str) -> None:
    assert conclude(question, pages_of(TEAMS), least=2.5).answer == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What nationality is Mara Tull?", "German"),
        ("What country is Obi Kerr from?", "Mali"),
        ("When was Mara Tull born?", "3 May 1890"),
        ("When did Mara Tull die?", "4 June 1951"),
        ("Where did Mara Tull die?", "Dolm"),
        ("What is the birthplace of Mara Tull?", "Sarn"),
        ("What is the city where Lise Orn died?", "Prolm"),
        ("What was the occupation of Mara Tull?", "poet and actress"),
        ("Where is the Tull House?", "Kirkwood"),
        ("In what state is the Tull House located?", "Missouri"),
        ("In which country is the Tull House located?", "United States"),
        ("What was the cause of death of Obi Kerr?", "heart attack"),
        ("Who was the paternal grandfather of Jon Brenn?", "Veit Brenn"),
        ("Who is Jon Brenn's paternal grandfather?", "Veit Brenn"),
        ("Who is the mother of Emile Lund?", "Ada Lund"),
    ],
)
def test_what_reference_works_tell_of_people_and_places_is_read(question: str, answer: str) -> None:
    told = {
        "Mara Tull": "Mara Tull (Grey Mara; 3 May 1890 in Sarn – 4 June 1951 in Dolm) was a German poet and actress.",
        "Lise Orn": "Lise Orn (3 May 1890, Varn – 4 June 1951, Prolm) was a painter in the Grand Duchy.",
        "Obi Kerr": "Obi Kerr is a singer from Mali. Kerr died of a heart attack in 1991.",
        "Tull House": "The Tull House is a stone house in Kirkwood, Missouri, United States.",
        "Jon Brenn": "Jon Brenn was a goaltender, the son of Aron Brenn. His father was Aron Brenn.",
        "Aron Brenn": "Aron Brenn was a miller. His father was Veit Brenn.",
        "Émile Lund": "Émile Lund is a painter. His mother was Ada Lund.",
    }
    pages = pages_of([{"title": title, "text": text} for title, text in told.items()])

    assert conclude(as_question(question), pages, least=2.0).answer == answer


def test_the_direction_of_a_comparison_is_not_read_in_the_names_compared() -> None:
    later = analyse("Which was released later, Before Dawn or First Light?")
    earlier = analyse("Which was released earlier, After Dark or The Last Mill?")

    assert (later.least, earlier.least) == (False, True)


def test_two_things_are_alike_only_in_all_that_is_named() -> None:
    told = {"Low Water": "Low Water is a Kellish magazine.", "High Water": "High Water is a Veldian magazine."}
    pages = pages_of([{"title": title, "text": text} for title, text in told.items()])

    assert judge(analyse("Are Low Water and High Water both Kellish magazines?"), pages)[0] == "no"


def test_where_somebody_was_born_is_told_by_a_birth_not_by_what_was_made() -> None:
    texts = [
        {"title": "Lantern", "text": "Lantern was written by Mara Tull in Sarn."},
        {"title": "Mara Tull", "text": "Mara Tull is an engineer who lives in Dolm."},
    ]
    life = {"title": "Mara Tull", "text": "Mara Tull (3 May 1871 in Orm – 4 June 1930 in Sarn) was an engineer."}

    assert conclude("Where was the person who wrote Lantern born?", pages_of(texts), least=2.0).answer == ""
    assert conclude("When was the person who wrote Lantern born?", pages_of([*texts, life]), least=2.0).answer == (
        "3 May 1871"
    )


_PATHS = """
from random import Random
from langgraph_rag.offline.search import find_paths

random = Random(0)
words = "album band group label record release music manage founder filmmaker businessman publisher".split()
names = [f"Kell {number}" for number in "One Two Three Four Five Six".split()]
facts = [(random.choice(names), " ".join(random.sample(words, 5)), random.choice(names)) for _ in range(60)]
print([path.facts for path in find_paths(names[:1], words, facts)][:40])
"""


def test_paths_are_the_same_in_every_process(capsys: pytest.CaptureFixture[str]) -> None:
    exec(_PATHS, {})
    seed = "1" if os.environ.get("PYTHONHASHSEED") == "0" else "0"  # another order of sets than here
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    other = subprocess.run([sys.executable, "-c", _PATHS], env=environment, capture_output=True, text=True, check=True)

    assert other.stdout == capsys.readouterr().out


@pytest.mark.parametrize(("title", "answer"), [("notes", "unanswerable"), ("Notes", "Notes")])
def test_a_title_without_a_capital_is_that_of_a_file_and_no_answer(title: str, answer: str) -> None:
    passages = [{"title": title, "text": "Ada Renk was born in \u0627\u0644\u0642\u0627\u0647\u0631\u0629."}]

    reply = SKILLS["answer_from_passages"]({"question": "Where was Ada Renk born?", "passages": passages})

    assert reply["answer"] == answer
