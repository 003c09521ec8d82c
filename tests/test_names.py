"""The other names that a passage gives, and which of them are joined where all that bear them are known."""

import pytest
from test_entity_graph import built

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.records import Fact, Naming, Record
from langgraph_rag.tools.facts.names import kinds_told, other_names, with_whole_names
from langgraph_rag.tools.knowledge_base import KnowledgeBase


def given(title: str, *sentences: str) -> dict[str, str]:
    return {one.name: one.entity for one in other_names(title, sentences) if one.name != one.entity}


@pytest.mark.parametrize(
    ("title", "sentence", "names"),
    [
        ("Nine Tides (1931 film)", "Nine Tides is a film.", ["Nine Tides"]),
        ("Nine Tides (1931 film)", "Nine Tides (also known as Neun Fluten) is a film.", ["Nine Tides", "Neun Fluten"]),
        ("Arun Kell", "S. R. Arun Kell (born 3 May 1931) was a director.", ["S. R. Arun Kell"]),
        ("S. R. Arun Kell", "S. R. Arun Kell was a director.", ["Arun Kell"]),
        ("Ida Strand", 'Ida "Ink" Strand (1903–1950) was a printer.', ['Ida "Ink" Strand']),
        ("Ada Renk", "Ada Renk (born Ada Maria Moss; 2 May 1900) was a builder.", ["Ada Maria Moss"]),
        ("Ada Renk", "Ada Renk (born 2 May 1900 in Ost) was a builder.", []),
        ("Ada Renk", "Ada Renk (born New Ost, 1900) was a builder.", ["New Ost"]),
        ("Vint", "Karl Vinter (1900–1950), better known by his stage name Vint, was a singer.", []),
        ("Karl Vinter", "Karl Vinter, better known by his stage name Vint, was a singer.", ["Vint"]),
        ("Old Mill", "The Old Mill, formerly known as Hale Works, is a museum.", ["Hale Works"]),
        (
            "Old Mill",
            'The Old Mill, also called "The Wheel for Ost" or "Rad", is a mill.',
            ["The Wheel for Ost", "Rad"],
        ),
        ("Karl Hale", "Karl Hale, best known as the Captain in Nine Tides, was an actor.", []),
        ("Karl Hale", "Karl Hale is the brother of Ida Hale, also known as Ink.", []),
        ("Ida Hale", "Karl Hale was the father of Ida Hale.", []),
        ("Kestrel Holdings", "Kestrel Holdings (KH) is a firm.", ["KH"]),
        ("Kestrel Holdings", "Kestrel Holdings (abbreviated as KH) is a firm.", ["KH"]),
        ("Kestrel Holdings", "Kestrel Holdings (AG) is a firm.", []),
        ("Nine Tides (disambiguation)", "Nine Tides may refer to:", []),
    ],
)
def test_a_passage_says_the_other_names_of_its_topic(title: str, sentence: str, names: list[str]) -> None:
    assert list(given(title, sentence)) == names
    assert all(entity == title for entity in given(title, sentence).values())


def test_a_later_sentence_may_say_another_name_of_the_topic_and_abbreviations_of_others() -> None:
    names = given(
        "Old Mill",
        "The Old Mill is a museum of the Board of Old Trades (BOOT).",
        "It is also known as Hale Works.",
        "It uses structured light imaging (SLI) and the Kell scanner (XK).",
    )

    assert names == {
        "Hale Works": "Old Mill",
        "BOOT": "Board of Old Trades",
        "SLI": "structured light imaging",
    }


def test_a_sentence_tells_the_year_and_kind_of_a_name() -> None:
    sentences = ["He directed the 1931 film Nine Tides and the opera “Sund”.", "He saw Kell (1920) and met Ada Renk."]
    ends = [("directed", "Nine Tides", 0), ("directed", "Sund", 0), ("saw", "Kell", 1), ("met", "Ada Renk", 1)]
    facts = [Fact(triple=["A. K. Senn", relation, name], sentences=[place]) for relation, name, place in ends]

    told = kinds_told(facts, sentences)

    said = [("Nine Tides", "1931 film"), ("Sund", "word"), ("Sund", "opera"), ("Kell", "word"), ("Kell", "1920")]
    assert [(one.name, one.kind) for one in told] == said


@pytest.mark.parametrize(
    ("title", "text", "name", "whole"),
    [
        ("Nine Tides (1931 film)", "Nine Tides was shot in Ost.", "Nine Tides", True),
        ("Mathilde of Sund", "She married Karl. Mathilde lived in Ost.", "Mathilde", True),
        ("Mathilde of Sund", "She married Karl. His sister Mathilde Vint lived in Ost.", "Mathilde", False),
        ("Karl Senn", "He lived in Ost. Ida Moss married Senn there.", "Senn", True),
        ("Karl Senn", "He lived in Ost. Ida Senn married Bo Ray.", "Senn", False),
        ("University of Ost", "The university lies in Ost.", "Ost", False),
        ("Kell Bridge", "It was built in 1900 near Kell.", "Kell", False),
        ("King Karl of Sund", "He fought King Bo.", "King", False),
    ],
)
def test_the_end_of_a_fact_that_means_the_topic_is_its_whole_title(
    title: str, text: str, name: str, whole: bool
) -> None:
    sentences = [f"{sentence}." for sentence in text.removesuffix(".").split(". ")]

    passage = Record(id="a", title=title, text=text, hash="", sentences=sentences, phrases=[])
    (fact,) = with_whole_names([Fact(triple=["Bo Ray", "met", name], sentences=[0])], passage)

    assert fact == Fact(triple=["Bo Ray", "met", title if whole else name], sentences=[0])


@pytest.mark.parametrize(
    ("end", "name"),
    [
        ("director Ilse Tarrant", "Ilse Tarrant"),
        ("the actor and singer Bo Ray", "Bo Ray"),
        ("mayor of Ost Brenn", "mayor of Ost Brenn"),
        ("river Ost", "river Ost"),
    ],
)
def test_a_role_before_a_name_is_no_part_of_it(end: str, name: str) -> None:
    passage = Record(id="a", title="Sund", text="", hash="", sentences=[f"Sund met {end}."], phrases=[])

    (fact,) = with_whole_names([Fact(triple=["Sund", "met", end], sentences=[0])], passage)

    assert fact["triple"] == ["Sund", "met", name]


def test_a_fact_about_the_topic_keeps_its_other_end() -> None:
    title, text = "Nine Tides (1931 film)", "Nine Tides is a film."
    fact = Fact(triple=[title, "based on novel", "Nine Tides"], sentences=[0])
    passage = Record(id="a", title=title, text=text, hash="", sentences=[text], phrases=[])

    assert with_whole_names([fact], passage) == [fact]


# --- in the graph ----------------------------------------------------------------------------------------------------
FILMS = [
    ("p31", "Nine Tides (1931 film)", "directed by", "Ilse Tarrant"),
    ("p88", "Nine Tides (1988 film)", "directed by", "Bo Ray"),
]
TITLES = [
    ("p31", Naming("Nine Tides (1931 film)", "Nine Tides (1931 film)", "title")),
    ("p31", Naming("Nine Tides", "Nine Tides (1931 film)")),
    ("p88", Naming("Nine Tides (1988 film)", "Nine Tides (1988 film)", "title")),
    ("p88", Naming("Nine Tides", "Nine Tides (1988 film)")),
]


@pytest.mark.parametrize(
    ("question", "linked"),
    [
        ("Who directed Nine Tides?", ["nine tides 1931 film", "nine tides 1988 film"]),
        ("who directed nine tides", ["nine tides 1931 film", "nine tides 1988 film"]),
        ("Who directed the 1988 film Nine Tides?", ["nine tides 1988 film"]),
        ("Who made Nine Tides (1931 film)?", ["nine tides 1931 film"]),
        ("Who made Nine Tides in 1931?", ["nine tides 1931 film"]),
    ],
)
def test_a_question_links_to_all_that_bear_a_name_or_to_the_one_that_its_words_tell(
    question: str, linked: list[str]
) -> None:
    assert built(FILMS, TITLES).link(question) == linked


def test_two_with_one_name_are_never_joined_and_a_third_passage_tells_which_it_means() -> None:
    facts = [
        *FILMS,
        ("renk", "Ada Renk", "saw", "Nine Tides"),
        ("moss", "Ida Moss", "starred in", "Nine Tides"),
    ]
    graph = built(facts, [*TITLES, ("moss", Naming("Nine Tides", "", "1931 film"))])

    assert graph.joins().meant("renk", "nine tides") == "nine tides"
    assert graph.joins().meant("moss", "nine tides") == "nine tides 1931 film"
    assert graph.entities["nine tides 1931 film"] != graph.entities["nine tides 1988 film"]
    assert graph.spread(graph.entities["nine tides 1931 film"]) == 2
    assert graph.link("Who saw Nine Tides?") == ["nine tides", "nine tides 1931 film", "nine tides 1988 film"]


@pytest.mark.parametrize(
    ("fact", "said", "meant"),
    [
        (("Ada Renk", "saw", "Nine Tides"), "", False),  # it may be another
        (("Ada Renk", "saw", "Nine Tides"), "film", True),
        (("Ada Renk", "saw", "Nine Tides"), "1931", True),
        (("Ada Renk", "wrote", "Nine Tides"), "novel", False),
        (("Ada Renk", "saw", "Nine Tides"), "1940 film", False),
        (("Ilse Tarrant", "directed", "Nine Tides"), "", True),  # as its own page says
        (("Ilse Tarrant", "directed", "Nine Tides"), "novel", False),
        (("Ilse Tarrant", "wrote", "Nine Tides"), "", False),  # which may be the book
        (("Bo Ray", "directed", "Nine Tides"), "", False),
        (("Ilse Tarrant", "directed opera", "Nine Tides"), "", False),
    ],
)
def test_a_part_of_a_title_means_it_elsewhere_only_if_the_passage_tells(
    fact: tuple[str, str, str], said: str, meant: bool
) -> None:
    names = [*TITLES[:2], *([("renk", Naming("Nine Tides", "", said))] if said else [])]
    graph = built([FILMS[0], ("renk", *fact)], names)

    assert graph.joins().meant("renk", "nine tides") == ("nine tides 1931 film" if meant else "nine tides")
    expected = ["nine tides 1931 film"] if meant else ["nine tides", "nine tides 1931 film"]
    assert graph.link("Who directed Nine Tides?") == expected


def test_a_relation_tells_the_kind_of_a_person() -> None:
    facts = [("li", "Ada Li (director)", "lives in", "Ost"), ("sund", "Sund", "is film directed by", "Ada Li")]
    names = [("li", Naming("Ada Li (director)", "Ada Li (director)", "title"))]
    names.append(("li", Naming("Ada Li", "Ada Li (director)")))

    assert built(facts, names).joins().meant("sund", "ada li") == "ada li director"
    assert (
        built([facts[0], ("sund", "Sund", "was sold to", "Ada Li")], names).joins().meant("sund", "ada li") == "ada li"
    )


def test_a_page_that_has_the_name_alone_is_a_bearer_too() -> None:
    facts = [*FILMS[:1], ("ship", "Nine Tides", "is", "ship"), ("renk", "Ada Renk", "saw", "Nine Tides")]
    graph = built(facts, [*TITLES[:2], ("ship", Naming("Nine Tides", "Nine Tides", "title"))])

    assert graph.joins().meant("renk", "nine tides") == "nine tides"
    assert graph.link("Where is Nine Tides?") == ["nine tides"]
    assert graph.link("Who directed the film Nine Tides?") == ["nine tides 1931 film"]


def test_a_single_word_is_joined_only_if_it_is_in_no_other_name() -> None:
    facts = [("vint", "Karl Moss", "lived in", "Ost"), ("sund", "Ada Renk", "met", "Vint")]
    names = [("vint", Naming("Karl Moss", "Karl Moss", "title")), ("vint", Naming("Vint", "Karl Moss"))]

    assert built(facts, names).joins().meant("sund", "vint") == "karl moss"
    other = ("moss", "Ida Vint", "lived in", "Sund")
    assert built([*facts, other], names).joins().meant("sund", "vint") == "vint"
    assert built([*facts, other], names).joins().meant("vint", "vint") == "karl moss"


def test_an_abbreviation_is_joined_in_all_passages_unless_it_stands_for_two_things() -> None:
    facts = [
        ("kh", "Kestrel Holdings", "owns", "Ost"),
        ("b", "KH Pumps", "supplies", "KH"),
        ("c", "KH", "sold", "Sund"),
    ]
    one = ("kh", Naming("KH", "Kestrel Holdings", "abbreviation"))
    other = ("c", Naming("KH", "Kell Haulage", "abbreviation"))

    assert built(facts, [one]).joins().meant("b", "kh") == "kestrel holdings"
    word = ("b", Naming("KH", "", "word"))
    assert built(facts, [one, word]).joins().meant("b", "kh") == "kh"
    both = built(facts, [one, other]).joins()
    assert [both.meant(id_, "kh") for id_ in ("kh", "b", "c")] == ["kestrel holdings", "kh", "kell haulage"]


def test_an_abbreviation_that_is_often_used_but_explained_once_may_mean_another_thing() -> None:
    facts = [
        ("kh", "Kestrel Holdings", "owns", "Ost"),
        *((f"p{n}", f"Firm {n}", "was sold to", "KH") for n in range(20)),
    ]
    one = ("kh", Naming("KH", "Kestrel Holdings", "abbreviation"))

    assert built(facts, [one]).joins().meant("p1", "kh") == "kh"
    assert built(facts, [one, ("p2", one[1])]).joins().meant("p1", "kh") == "kestrel holdings"


def test_initials_before_a_title_mean_it_unless_others_have_other_initials() -> None:
    facts = [("kell", "Arun Kell", "lived in", "Ost"), ("film", "Sund", "directed by", "S. R. Arun Kell")]
    names = [
        ("kell", Naming("Arun Kell", "Arun Kell", "title")),
        ("film", Naming("S. R. Arun Kell", "Arun Kell", "initials")),
    ]

    assert built(facts, names).link("Who is S. R. Arun Kell?") == ["arun kell"]
    other = ("x", Naming("T. Arun Kell", "Arun Kell", "initials"))
    assert (
        built([*facts, ("x", "T. Arun Kell", "is", "actor")], [*names, other]).joins().meant("film", "s r arun kell")
        == "s r arun kell"
    )
    assert built(facts, names[1:]).joins().meant("film", "s r arun kell") == "s r arun kell"


# --- in the knowledge base -------------------------------------------------------------------------------------------
def test_names_come_and_go_with_the_passages_that_give_them(empty_kb: KnowledgeBase) -> None:
    kb = empty_kb
    kb.add([{"id": "film", "title": "Sund", "text": "Sund was directed by Ada Maria Moss."}], progress=False)
    assert kb.entities.link("Ada Renk") == []

    kb.add(
        [{"id": "renk", "title": "Ada Renk", "text": "Ada Renk (born Ada Maria Moss; 1900) lived in Ost."}],
        progress=False,
    )

    assert kb.entities.link("What did Ada Maria Moss direct?") == ["ada renk"]
    assert ["Sund", "was directed by", "Ada Maria Moss"] in kb.graph.neighbours("Ada Renk")
    assert kb.graph.neighbours("Ada Maria Moss") == kb.graph.neighbours("Ada Renk")
    assert kb.graph.networkx.nodes["ada renk"]["name"] == "Ada Renk"
    assert "ada maria moss" not in kb.graph.networkx

    kb.delete(["renk"])

    assert kb.entities.link("What did Ada Maria Moss direct?") == ["ada maria moss"]
    assert kb.graph.neighbours("Ada Renk") == []


def test_two_films_with_one_name_stay_apart_in_facts_and_graphs(empty_kb: KnowledgeBase) -> None:
    empty_kb.add(
        [
            {"id": "p31", "title": "Nine Tides (1931 film)", "text": "Nine Tides was directed by Ilse Tarrant."},
            {"id": "p88", "title": "Nine Tides (1988 film)", "text": "Nine Tides was directed by Bo Ray."},
        ],
        progress=False,
    )

    facts = [entry["triple"] for entry in empty_kb.triples(["p31", "p88"])]

    assert facts == [
        ["Nine Tides (1931 film)", "was directed by", "Ilse Tarrant"],
        ["Nine Tides (1988 film)", "was directed by", "Bo Ray"],
    ]
    assert empty_kb.graph.neighbours("Nine Tides (1931 film)") == facts[:1]
    assert empty_kb.near_entities(["Who directed Nine Tides in 1988?"])[0]["id"] == "p88"


# --- given by people -------------------------------------------------------------------------------------------------
KH = [
    {"id": "kh", "title": "KH", "text": "KH was founded by Ada Moss."},
    {"id": "firm", "title": "Kestrel Holdings", "text": "Kestrel Holdings was sold to Bo Ray."},
]


def heads(kb: KnowledgeBase) -> list[str]:
    return [entry["triple"][0] for entry in kb.triples(["kh", "firm"])]


def test_given_names_hold_in_facts_graphs_and_searches_until_they_are_taken_back(empty_kb: KnowledgeBase) -> None:
    kb = empty_kb
    kb.add(KH, progress=False)
    before, graph = kb.triples(["kh", "firm"]), set(kb.graph.networkx.edges)
    kb.embed_triples(progress=False)

    kb.add_names({"KH": "Kestrel Holdings"})

    assert kb.names() == {"KH": "Kestrel Holdings"}
    assert heads(kb) == ["Kestrel Holdings", "Kestrel Holdings"]
    assert kb.search_triples("who founded it", 1)[0]["triple"][0] == "Kestrel Holdings"
    assert kb.entities.link("What is KH?") == ["kestrel holdings"]
    assert kb.graph.neighbours("KH") == kb.graph.neighbours("Kestrel Holdings")
    assert len(kb.graph.neighbours("KH")) == 2
    assert {found["id"] for found in kb.near_entities(["kh"])} == {"kh", "firm"}
    assert kb.passages(["kh"])[0]["text"] == "KH was founded by Ada Moss."

    kb.remove_names(["KH", "unknown"])

    assert kb.names() == {}
    assert kb.triples(["kh", "firm"]) == before
    assert set(kb.graph.networkx.edges) == graph
    assert kb.entities.link("What is KH?") == ["kh"]
    assert kb.search_triples("who founded it", 2)


def test_names_hold_for_passages_that_come_later_and_after_opening_again(empty_kb: KnowledgeBase) -> None:
    empty_kb.add_names({"KH": "Kestrel Holdings"})
    empty_kb.add(KH, progress=False)

    assert heads(empty_kb) == ["Kestrel Holdings", "Kestrel Holdings"]
    empty_kb.update([{**KH[0], "text": "KH was founded by Ida Vint."}], progress=False)
    assert ["Kestrel Holdings", "was founded by", "Ida Vint"] in empty_kb.graph.neighbours("KH")
    with KnowledgeBase.open(empty_kb.path, empty_kb.embeddings, read_only=True) as other:
        assert other.entities.link("What is KH?") == ["kestrel holdings"]
    fingerprint = empty_kb.fingerprint()
    empty_kb.remove_names(["kh"])
    assert empty_kb.fingerprint() != fingerprint


def test_names_of_names_lead_to_the_last_and_may_change(empty_kb: KnowledgeBase) -> None:
    empty_kb.add(KH, progress=False)
    empty_kb.add_names({"KH": "Kestrel Holdings", "Kestrel Holdings": "Kestrel Group"})
    assert heads(empty_kb) == ["Kestrel Group", "Kestrel Group"]

    empty_kb.add_names({"kh": "Kell Haulage"})
    assert heads(empty_kb) == ["Kell Haulage", "Kestrel Group"]
    empty_kb.remove_names(["Kestrel Holdings"])
    assert heads(empty_kb) == ["Kell Haulage", "Kestrel Holdings"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"KH": "k-h", "Kell Ost": "KELL-OST"}, "expected another name of 'KELL-OST', got 'Kell Ost'"),
        ({"KH": " ?"}, "expected words as names and entities, got ' \\?'"),
        ({"": "Kell"}, "expected words as names and entities, got ''"),
        ({"KH": "Kell", "kh": "Sund"}, "expected each name once, got 'KH' and 'kh'"),
        ({"KH": "Kell", "Kell": "KH"}, "in a circle"),
    ],
)
def test_names_that_mean_nothing_are_refused(empty_kb: KnowledgeBase, names: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        empty_kb.add_names(names)
    assert empty_kb.names() == {}


def test_names_are_a_mapping_and_only_the_writer_adds_them(empty_kb: KnowledgeBase) -> None:
    with pytest.raises(TypeError, match="the entity of each name"):
        empty_kb.add_names(["KH"])  # type: ignore[arg-type]
    reading = KnowledgeBase.open(empty_kb.path, empty_kb.embeddings, read_only=True)
    with reading, pytest.raises(KnowledgeBaseError, match="read_only"):
        reading.add_names({"KH": "Kestrel Holdings"})
