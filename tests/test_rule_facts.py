"""Facts that the rules read: what a sentence states, each part whole, and nothing else."""

import pytest

from langgraph_rag.tools.facts.reading import extract_triples
from langgraph_rag.tools.ingest.text import RULES, text_pipeline


def stated(title: str, text: str) -> list[str]:
    return [" | ".join(fact) for fact in extract_triples(title, text_pipeline(RULES).sentences(text))]


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        ("Ada Renk", "She designed the Tolmar Bridge.", ["Ada Renk | designed | Tolmar Bridge"]),
        ("Ada Renk", "Her father taught in Kell.", ["Ada Renk | father taught in | Kell"]),
        (
            "Ada Renk",
            "Ada Renk lived in Kell. Casper Holm founded the Tolmar Company in 1950.",
            [
                "Ada Renk | lived in | Kell",
                "Casper Holm | founded | Tolmar Company",
                "Casper Holm | founded Tolmar Company in | 1950",
            ],
        ),
        (
            "Ada Renk",
            "Ada Renk was born in Kell. Her husband was Karl Senn. He died in Ost. She died in Orsby.",
            ["Ada Renk | was born in | Kell", "Ada Renk | husband was | Karl Senn", "Ada Renk | died in | Orsby"],
        ),
        ("Ada Renk", "Ada Renk met Karl Senn. He died in Ost. She died in Orsby.", ["Ada Renk | met | Karl Senn"]),
        (
            "Ada Renk",
            "Ada Renk was born in Ost. His uncle Otto died in 1901, and he was raised in Lund.",
            ["Ada Renk | was born in | Ost", "Ada Renk | uncle | Otto", "Otto | died in | 1901"],
        ),
        (
            "Nils Brask",
            "Nils Brask is old. His uncle Otto died in 1901, and he was raised in Lund.",
            ["Nils Brask | uncle | Otto", "Otto | died in | 1901"],
        ),
        (
            "Nils Brask",
            "Nils Brask is old. His wife Ada died in 1901, and he married Vera Holm.",
            ["Nils Brask | wife | Ada", "Ada | died in | 1901", "Nils Brask | married | Vera Holm"],
        ),
        (
            "Nine Tides (1931 film)",
            "Nine Tides is a film. The film was shot in Ost. It stars Bo Ray.",
            [
                "Nine Tides (1931 film) | was shot in | Ost",
                "Nine Tides (1931 film) | stars | Bo Ray",
            ],
        ),
        (
            "Notes of May",
            "The Sarl Bridge was built by Egon Elster. It was sold in 1920.",
            ["Sarl Bridge | was built by | Egon Elster"],
        ),
        ("Notes of May", "It was built by Egon Elster. The mill was sold to Karl Senn.", []),
        (
            "Tolm Quay",
            "Tolm Quay is a quay. Tolm Quay Road was opened in 1960. The pier was built by Karl Senn.",
            ["Tolm Quay | is | quay", "Tolm Quay Road | was opened in | 1960"],
        ),
        ("Dance by Night", "Dance by Night is a film by Karl Senn.", ["Dance by Night | is film by | Karl Senn"]),
        ("Conn mac Airt", "Conn mac Airt ruled Kell.", ["Conn mac Airt | ruled | Kell"]),
        ("", "Ada Renk sailed to Kell. She met Ida Strand.", ["Ada Renk | sailed to | Kell"]),
        ("Timeline of the life of Bo Ray", "Bo Ray was the mayor of Ost.", ["Bo Ray | was mayor of | Ost"]),
        ("Kell", "Positional parameters are used in Ost. Work began in 1920. Points were set by Bo Ray.", []),
    ],
)
def test_the_subject_is_the_sentences_own_or_the_topic_where_something_refers_to_it(
    title: str, text: str, facts: list[str]
) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        (
            "Ost Bank",
            "Ost Bank is a bank. Its CFO is Li Warren. Its CEO, Li Warren, was born in Ferl.",
            [
                "Ost Bank | is | bank",
                "Ost Bank | CFO is | Li Warren",
                "Ost Bank | CEO | Li Warren",
                "Li Warren | was born in | Ferl",
            ],
        ),
        (
            "Ada Renk",
            "Her brother, Orlo Renk, painted the Kell Mill.",
            ["Ada Renk | brother | Orlo Renk", "Orlo Renk | painted | Kell Mill"],
        ),
        (
            "Ada Renk",
            "Her first novel The Long Road won the Kell Prize.",
            ["Ada Renk | first novel | Long Road", "Long Road | won | Kell Prize"],
        ),
        (
            "Ada Renk",
            "Her parents Orlo and Ida moved to Kell.",
            [
                "Ada Renk | parents | Orlo",
                "Ada Renk | parents | Ida",
                "Orlo | moved to | Kell",
                "Ida | moved to | Kell",
            ],
        ),
        (
            "Ada Renk",
            "Her friends included Orlo Renk, Ida Strand and Kell Ashby.",
            [
                "Ada Renk | friends included | Orlo Renk",
                "Ada Renk | friends included | Ida Strand",
                "Ada Renk | friends included | Kell Ashby",
            ],
        ),
        ("Kell", "The wife of Karl Senn was born in Ost.", ["Karl Senn | wife was born in | Ost"]),
        ("Kell", "Karl Senn's wife, Orla Vint, left Ost.", ["Karl Senn | wife | Orla Vint", "Orla Vint | left | Ost"]),
        (
            "Kell",
            "The wife of Karl Senn, Orla Vint, left Ost.",
            ["Karl Senn | wife | Orla Vint", "Orla Vint | left | Ost"],
        ),
        ("Kell", "The village of Hale, Brenn, was sold in 1920.", ["Hale | was sold in | 1920"]),
        ("Kell", "The Danish painter Ida Brack was born in Ost.", ["Ida Brack | was born in | Ost"]),
        (
            "Low Tide",
            "Low Tide is Ada Renk's third novel, published in 1982.",
            ["Low Tide | is third novel of | Ada Renk", "Low Tide | published in | 1982"],
        ),
        ("Low Tide", "Low Tide became Karl Hales’ best work.", ["Low Tide | became best work of | Karl Hales"]),
        (
            "Low Tide",
            "Low Tide is a film. The music was written by Ida Vint. Karl Senn composed the score.",
            [
                "Low Tide | is | film",
                "Low Tide | music was written by | Ida Vint",
                "Karl Senn | composed the score of | Low Tide",
            ],
        ),
        (
            "Orla Vint",
            "Orla Vint (born 3 May 1900) was a painter. A fund paid for her schooling at Quist School.",
            [
                "Orla Vint | born on | 3 May 1900",
                "Orla Vint | was | painter",
                "Orla Vint | schooling at | Quist School",
            ],
        ),
        (
            "Orla Vint",
            "The daughter of a smith, Orla Vint won the Ost Prize. Designed by Bo Ray, the Ost Mill was sold in 1920.",
            [
                "Orla Vint | is daughter of | smith",
                "Orla Vint | won | Ost Prize",
                "Ost Mill | designed by | Bo Ray",
                "Ost Mill | was sold in | 1920",
            ],
        ),
    ],
)
def test_what_belongs_to_a_name_is_told_of_that_name(title: str, text: str, facts: list[str]) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        ("Bo Ray", "Bo Ray is the CEO of Skell Lines.", ["Bo Ray | is CEO of | Skell Lines"]),
        (
            "Ida Vint",
            "Ida Vint was the Minister of Trade of Norland and a member of the Ost Council.",
            ["Ida Vint | was Minister of Trade of | Norland", "Ida Vint | was member of | Ost Council"],
        ),
        (
            "Ada Renk",
            "Ada Renk is an Ostrellan singer, lute player, and songwriter.",
            ["Ada Renk | is | Ostrellan singer, lute player, and songwriter"],
        ),
        (
            "Ada Renk",
            "Ada Renk was a lens maker and chemist born in Kell.",
            ["Ada Renk | was | lens maker and chemist", "Ada Renk | born in | Kell"],
        ),
        (
            "Nine Tides",
            "Nine Tides is a 1931 Norlandic comedy film written and directed by Ilse Tarrant and starring Bo Ray.",
            [
                "Nine Tides | is film of | 1931",
                "Nine Tides | is | Norlandic comedy film",
                "Nine Tides | written and directed by | Ilse Tarrant",
                "Nine Tides | starring | Bo Ray",
            ],
        ),
        (
            "Kell",
            "Kell is an inland town on Ostrel, 31 kilometres (19 mi) south of Ellowick in Brenn.",
            ["Kell | is inland town on | Ostrel", "Kell | is 31 kilometres south of | Ellowick"],
        ),
        (
            "Kell",
            "Kell is about 312 metres (1,024 ft) long and 20 m wide.",
            ["Kell | is long | 312 metres", "Kell | is wide | 20 m"],
        ),
        ("Kell", "Kell is a public, free town library.", ["Kell | is | public, free town library"]),
        (
            "Orla Vint",
            "Orla Vint (born 3 May 1900) was a Norlandic painter. The 21st Ost Regiment bought her mill.",
            ["Orla Vint | born on | 3 May 1900", "Orla Vint | was | Norlandic", "Orla Vint | was | painter"],
        ),
        (
            "Nine Tides",
            "Tides of Nine, also known as Nine Tides, is a 44-gun frigate. It was designed by engineer Bo Ray.",
            [
                "Nine Tides | known as | Tides of Nine",
                "Nine Tides | is | 44-gun frigate",
                "Nine Tides | was designed by engineer | Bo Ray",
            ],
        ),
        (
            "Hugh Roe",
            "Hugh Roe, 2nd Earl of Ost, was the son of Bo Roe, 1st Earl of Ost and Ida Vint.",
            ["Hugh Roe | was son of | Bo Roe, 1st Earl of Ost", "Hugh Roe | was son of | Ida Vint"],
        ),
    ],
)
def test_what_something_is_stands_whole(title: str, text: str, facts: list[str]) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        (
            "Skell Light",
            "In 1907 the Skell Light was built by Karl Senn.",
            ["Skell Light | was built by | Karl Senn", "Skell Light | was built in | 1907"],
        ),
        (
            "Skell Light",
            "Until 1920, the Skell Light was owned by Ost AG.",
            ["Skell Light | was owned by | Ost AG", "Skell Light | was owned until | 1920"],
        ),
        (
            "Skell Light",
            "From 1920 to 1930 the Skell Light was closed.",
            ["Skell Light | was closed from | 1920 to 1930"],
        ),
        (
            "Skell Light",
            "Between 1920 and 1930, the Skell Light was closed.",
            ["Skell Light | was closed between | 1920 and 1930"],
        ),
        (
            "Skell Light",
            "During the Long War the Skell Light was owned by Ida Vint.",
            ["Skell Light | was owned by | Ida Vint", "Skell Light | was owned during | Long War"],
        ),
        (
            "Skell Light",
            "By 1950, Ost AG had sold the Skell Light.",
            ["Ost AG | had sold | Skell Light", "Ost AG | had sold Skell Light by | 1950"],
        ),
        (
            "Skell Light",
            "On 3 May 1907, the Skell Light was sold to Bo Ray.",
            ["Skell Light | was sold to | Bo Ray", "Skell Light | was sold to Bo Ray on | 3 May 1907"],
        ),
        (
            "Skell Light",
            "The Skell Light was built in 450 BC. It holds 10 000 litres. It was sold for 23,406 crowns.",
            [
                "Skell Light | was built in | 450 BC",
                "Skell Light | holds | 10 000 litres",
                "Skell Light | was sold for | 23,406 crowns",
            ],
        ),
        ("Skell Light", "The Skell Light was cooled to -12 °C.", ["Skell Light | was cooled to | -12 °C"]),
        ("Ada Renk", "She swam from 06:00 to 22:30.", ["Ada Renk | swam from | 06:00 to 22:30"]),
        (
            "Ada Renk",
            "She employed 120 workers and sold twenty-nine boats.",
            ["Ada Renk | employed | 120 workers", "Ada Renk | sold | twenty-nine boats"],
        ),
        (
            "Bo Ray",
            "He succeeded Karl Senn as Mayor of Ost in 1920.",
            [
                "Bo Ray | succeeded | Karl Senn",
                "Bo Ray | succeeded Karl Senn as | Mayor of Ost",
                "Bo Ray | succeeded Karl Senn in | 1920",
            ],
        ),
    ],
)
def test_dates_and_numbers_belong_to_what_happened_then(title: str, text: str, facts: list[str]) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        ("Ada Renk", "She lived in Kell and Orsby.", ["Ada Renk | lived in | Kell", "Ada Renk | lived in | Orsby"]),
        ("Ada Renk", "She met Karl near Orsby.", ["Ada Renk | met | Karl", "Ada Renk | met Karl near | Orsby"]),
        ("Ada Renk", "She wrote for New Kell director Karl Senn.", ["Ada Renk | wrote for | Karl Senn"]),
        (
            "Ada Renk",
            "She died of a fever in Ost.",
            ["Ada Renk | died of | fever", "Ada Renk | died of a fever in | Ost"],
        ),
        (
            "Ada Renk",
            "She won the Kell Prize for Best Novel in 1920.",
            [
                "Ada Renk | won | Kell Prize for Best Novel",
                "Ada Renk | won Kell Prize for Best Novel in | 1920",
            ],
        ),
        (
            "Ada Renk",
            "She was born in Ost, Norland, on 3 May 1900.",
            ["Ada Renk | was born in | Ost, Norland", "Ada Renk | was born on | 3 May 1900"],
        ),
        (
            "Ada Renk",
            "She was born in Ost and died in Brenn in 1970.",
            ["Ada Renk | was born in | Ost", "Ada Renk | died in | Brenn", "Ada Renk | died in Brenn in | 1970"],
        ),
        ("Ada Renk", "She was known for her novels about life in Ost.", []),
        (
            "Ada Renk",
            "She moved to the Ministry of Trade and Industry in Ost.",
            [
                "Ada Renk | moved to | Ministry of Trade and Industry",
                "Ada Renk | moved to the Ministry of Trade and Industry in | Ost",
            ],
        ),
        (
            "Ada Renk",
            "She bought the firm Stackwell, and Bo Ray sold the Ost Mill to Li Warren; Ida Vint left Ost.",
            [
                "Ada Renk | bought firm | Stackwell",
                "Bo Ray | sold | Ost Mill",
                "Bo Ray | sold Ost Mill to | Li Warren",
                "Ida Vint | left | Ost",
            ],
        ),
        (
            "Ost Mill",
            "Ost Mill was raised in 1907, at a height of 60 metres, by the engineer Karl Senn.",
            [
                "Ost Mill | was raised in | 1907",
                "Ost Mill | was raised at | height of 60 metres",
                "Ost Mill | was raised by engineer | Karl Senn",
            ],
        ),
        ("Kell", "Kell lies four miles (6 km) west of Ost.", ["Kell | lies four miles west of | Ost"]),
        ("Hale", "Hale, 12 km north of the mill, was founded in 1900.", ["Hale | was founded in | 1900"]),
        (
            "Ada Renk",
            "Ada Renk, also known as Ink, and later the mayor of Ost, was born in Kell.",
            ["Ada Renk | known as | Ink", "Ada Renk | was born in | Kell"],
        ),
    ],
)
def test_each_object_is_whole_and_has_its_own_preposition(title: str, text: str, facts: list[str]) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        (
            "Karl Senn",
            "He met Orla Vint, who died in Ost, Brenn, in 1999.",
            [
                "Karl Senn | met | Orla Vint",
                "Orla Vint | died in | Ost, Brenn",
                "Orla Vint | died in Ost, Brenn in | 1999",
            ],
        ),
        (
            "Karl Senn",
            "Karl Senn, who was born in Ost, left Brenn.",
            ["Karl Senn | was born in | Ost", "Karl Senn | left | Brenn"],
        ),
        (
            "Karl Senn",
            "Karl Senn was a smith from Ost who lived in Brenn.",
            ["Karl Senn | was smith from | Ost", "Karl Senn | lived in | Brenn"],
        ),
        ("Karl Senn", "He wrote a book about Ost, which was sold in Brenn.", []),
        ("Karl Senn", "He left the Ost Mill, which Ida Strand sold to Brenn.", ["Karl Senn | left | Ost Mill"]),
        ("Karl Senn", "He knew a woman who was a painter.", ["Karl Senn | knew | woman who was a painter"]),
    ],
)
def test_a_relative_clause_is_about_the_name_before_it_or_about_nobody(title: str, text: str, facts: list[str]) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        ("Skell Light", "It is untrue that the Skell Light was built by Karl Senn.", []),
        ("Skell Light", "There is no evidence that the Skell Light was sold to Bo Ray.", []),
        ("Skell Light", "Bo Ray denied that the Skell Light was built by Karl Senn.", []),
        ("Skell Light", "The Skell Light was not built by Karl Senn. The Skell Light was never sold to Ost AG.", []),
        (
            "Skell Light",
            "The Skell Light was built not by Karl Senn but by Bo Ray.",
            ["Skell Light | was built by | Bo Ray"],
        ),
        ("Skell Light", "The Skell Light was reportedly built in 1907. According to Bo Ray, it was sold in 1920.", []),
        ("Skell Light", "Bo Ray is said to have built Ost Mill. Bo Ray claimed that Ost Mill was sold in 1920.", []),
        ("Skell Light", "If Karl Senn left Ost, Bo Ray bought Ost AG. Bo Ray sold Ost AG if Karl Senn left.", []),
        (
            "Skell Light",
            "Was the Skell Light built by Karl Senn? Neither Karl Senn nor Bo Ray built the Skell Light.",
            [],
        ),
        (
            "Skell Light",
            "Ost Mill may be sold to Bo Ray. Bo Ray would have bought Ost Mill. Bo Ray tried to buy Ost AG.",
            [],
        ),
        ("Skell Light", "Set SKELL_LIGHT to True. Use Ost Mill instead. You can sell the Skell Light to Bo Ray.", []),
        ("Skell Light", "Ada Renk: It was sold to Karl Senn.", []),
        ("Skell Light", '"I was born in Ost," said Karl Senn. Karl Senn said: "I was born in Ost."', []),
    ],
)
def test_what_is_denied_doubted_reported_asked_conditional_or_told_to_do_is_not_stated(
    title: str, text: str, facts: list[str]
) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        (
            "Lease",
            '"Tenant" means Karl Senn Ltd. "Landlord" means Ost AG.',
            ["Tenant | means | Karl Senn Ltd", "Landlord | means | Ost AG"],
        ),
        (
            "Lease",
            'The term "Premises" means the Ost Mill and its yard. "Rent" means 400 crowns a month.',
            ["Premises | means | Ost Mill", "Rent | means | 400 crowns a month"],
        ),
        (
            "Settings",
            "The MAX_LAMPS setting defaults to 12. The --dry-run option was deprecated in version 4.2.",
            ["MAX_LAMPS | defaults to | 12", "--dry-run | was deprecated in | version 4.2"],
        ),
        (
            "Settings",
            "LampStore is a subclass of store.base.Store. The `lamp_size` field was added in Skell 2.1.",
            ["LampStore | is subclass of | store.base.Store", "lamp_size | was added in | Skell 2.1"],
        ),
        ("MAX_LAMPS (settings, Core)", "Default: 12", ["MAX_LAMPS (settings, Core) | default | 12"]),
        (
            "Leak of June",
            "- Reporter: Ada Renk\n- Fixed by: Orla Vint in v3.2",
            ["Leak of June | reporter | Ada Renk", "Leak of June | fixed by | Orla Vint in v3.2"],
        ),
        (
            "Prices",
            "- Product: HX-100; Price (EUR): 1,250; Designer: Ilka Brandt",
            ["HX-100 | price (eur) | 1,250", "HX-100 | designer | Ilka Brandt"],
        ),
        ("Sights", "- Mill of Kell: owner: Ada Renk", ["Mill of Kell | owner | Ada Renk"]),
        ("Kell", "Note: Kell lies in Norrland.\n\nExample: print it", ["Kell | lies in | Norrland"]),
    ],
)
def test_definitions_settings_and_fields_are_facts(title: str, text: str, facts: list[str]) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        ("Ada Renk", "She directed the film. She sold it in 1920. She had many others.", []),
        ("Ada Renk", "She took part in the same race. She was one of the best.", []),
        ("Ada Renk", "She met his brother. She wrote several kinds.", []),
    ],
)
def test_what_says_nothing_of_itself_is_no_fact(title: str, text: str, facts: list[str]) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        (
            "Bo Ray",
            "The eldest son of Count Emil Ray of Ost and Queen Ida of Brenn, he was the first King of Norland.",
            [
                "Bo Ray | is eldest son of | Count Emil Ray of Ost",
                "Bo Ray | is eldest son of | Queen Ida of Brenn",
                "Bo Ray | was first King of | Norland",
            ],
        ),
        (
            "Ada Renk",
            "Very private about her life, she was married to photographer and writer Karl Senn.",
            ["Ada Renk | was married to photographer and writer | Karl Senn"],
        ),
        (
            "Ada Renk",
            "Ada Renk (born 3 May 1900 in Kell, Norland) was a painter. Lady Ada lived in Ost.",
            [
                "Ada Renk | born on | 3 May 1900",
                "Ada Renk | born in | Kell, Norland",
                "Ada Renk | was | painter",
                "Ada Renk | lived in | Ost",
            ],
        ),
        (
            "Ada Renk",
            "Ada Renk (b. 1127 – d. Ost (now Kell), 7 May 1201) was a queen.",
            ["Ada Renk | born on | 1127", "Ada Renk | died on | 7 May 1201", "Ada Renk | was | queen"],
        ),
        (
            "Ada Renk",
            "Ada Renk (1–9 March 1157 – 25 April 1196) was a queen.",
            ["Ada Renk | died on | 25 April 1196", "Ada Renk | was | queen"],
        ),
        (
            "Ada Renk",
            "Ada Renk (Ada Ida Maria of Ost; born 3 May 1900) was a painter.",
            ["Ada Renk | born on | 3 May 1900", "Ada Renk | was | painter"],
        ),
        (
            "Ada Renk",
            "Ada Renk (born Ida Moss; 1947 in Ost) was a painter.",
            ["Ada Renk | born on | 1947", "Ada Renk | born in | Ost", "Ada Renk | was | painter"],
        ),
        (
            "Ada Renk",
            "Ada Maria Renk III (January 14, 1909 June 22, 1984) was a painter.",
            ["Ada Renk | born on | January 14, 1909", "Ada Renk | died on | June 22, 1984", "Ada Renk | was | painter"],
        ),
        (
            "Jon-ah Senn",
            "Jon- ah Senn (25 June 1884 – 19 May 1947) was a painter.",
            [
                "Jon-ah Senn | born on | 25 June 1884",
                "Jon-ah Senn | died on | 19 May 1947",
                "Jon-ah Senn | was | painter",
            ],
        ),
        (
            "Nine Tides",
            "Die neun Fluten, internationally released as Nine Tides, is a film directed by Ilse Tarrant.",
            [
                "Nine Tides | known as | Die neun Fluten",
                "Nine Tides | is | film",
                "Nine Tides | directed by | Ilse Tarrant",
            ],
        ),
        (
            "Bo Ray",
            "Emil Ray, best known as Bo Ray (30 January 1932 – 3 October 2009) was a painter.",
            [
                "Bo Ray | known as | Emil Ray",
                "Bo Ray | born on | 30 January 1932",
                "Bo Ray | died on | 3 October 2009",
                "Bo Ray | was | painter",
            ],
        ),
        (
            "Bo Ray",
            "Bo Ray, aka Ink (born 1900), is a painter.",
            ["Bo Ray | known as | Ink", "Bo Ray | born on | 1900", "Bo Ray | is | painter"],
        ),
        (
            "Low Tide",
            "Low Tide is a song written by Ida Vint (lyrics) and Karl Senn (music).",
            ["Low Tide | is | song", "Low Tide | written by | Ida Vint", "Low Tide | written by | Karl Senn"],
        ),
        (
            "Ada Renk",
            "She wrote Low Tide, for which Karl Senn received the Kell Prize for Best Novel, and the Ost Medal.",
            [
                "Ada Renk | wrote | Low Tide",
                "Karl Senn | received | Kell Prize for Best Novel",
                "Karl Senn | received | Ost Medal",
            ],
        ),
    ],
)
def test_lives_and_other_names_and_relatives_are_read_where_they_are_told(
    title: str, text: str, facts: list[str]
) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        (
            "Kell School",
            "Kell School is an independent early learning, primary and secondary day school in the east of Ost, Brenn.",
            [
                "Kell School | is | independent early learning, primary and secondary day school",
                "Kell School | is school in east of | Ost, Brenn",
            ],
        ),
        (
            "Bo Ray",
            "Bo Ray was inducted into the Rock and Roll Hall of Fame. He joined Senn and Sons. He led the Science and "
            "Engineering Council.",
            [
                "Bo Ray | was inducted into | Rock and Roll Hall of Fame",
                "Bo Ray | joined | Senn and Sons",
                "Bo Ray | led | Science and Engineering Council",
            ],
        ),
        ("Low Tide", "Low Tide is a 16th-century play by Bo Ray.", ["Low Tide | is 16th-century play by | Bo Ray"]),
        (
            "Kell",
            "Kell only appeared on pay TV. Python's file API is slow.",
            ["Kell | only appeared on | pay TV", "Python | file API is | slow"],
        ),
        (
            "Kell",
            "Kell supports optional case-insensitive matching for names.",
            ["Kell | supports | optional case-insensitive matching for names"],
        ),
        ("Kell", "Kell lies between Ost and Brenn.", ["Kell | lies between | Ost and Brenn"]),
        ("Kell", "Kell provides a number of array variables.", ["Kell | provides | array variables"]),
        ("Kell", "Kell enters safe mode when the lamp fails. With this option, Kell stops the main pump.", []),
        ("Kell", "By default, Kell writes to pump.log.", ["Kell | by default writes to | pump.log"]),
        (
            "Kell",
            "Kell uses the disk as follows. Kell uses as few lamps as possible. Kell reads at least one line.",
            [],
        ),
        ("Kell", "Kell indicates that other options apply. Fields which are set to Kell do not stop.", []),
        ("Kell", "Use Kell Tools to open files. Run the Kell mill. Built-in modified Bessel functions.", []),
        (
            "Kell",
            "Kell is a tool that saves files. MO files are often named domain.mo.",
            ["Kell | is | tool that saves files", "MO files | are often named | domain.mo"],
        ),
    ],
)
def test_nothing_is_cut_off_what_it_belongs_to(title: str, text: str, facts: list[str]) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        (
            "count()",
            "Returns the largest lamp size. Uses kell.db.Store to read lamps. Uses of it are rare.",
            ["count() | returns | largest lamp size", "count() | uses | kell.db.Store"],
        ),
        ("Counting", "Returns the largest lamp number.", []),
        (
            "Errors",
            "- lamp_size: An alias for lamp.width.\n- lamp.E006: The lamp <name> has no glass.\n- Note: It is old.",
            ["lamp_size | is | alias for lamp.width", "lamp.E006 | means | The lamp <name> has no glass"],
        ),
        (
            "Tools",
            "numpy was made by Ida Vint in 2005. water is sold in Ost. scikit is a library.",
            ["numpy | was made by | Ida Vint", "numpy | was made in | 2005", "scikit | is | library"],
        ),
        (
            "",
            "القاهرة was founded by Jawhar Siqilli. 東京 was founded by Ota Dokan.",
            ["القاهرة | was founded by | Jawhar Siqilli", "東京 | was founded by | Ota Dokan"],
        ),
    ],
)
def test_identifiers_and_names_without_capitals_have_facts(title: str, text: str, facts: list[str]) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        (
            "Veld",
            "Ost is the state capital and Ferl, with some 171,000 people, is Veld's largest city.",
            ["Ost | is | state capital"],
        ),
        (
            "Ada Renk",
            "Ada Renk shows the influence of Spin Vint and Otto Moll.",
            ["Ada Renk | shows influence of | Spin Vint", "Ada Renk | shows influence of | Otto Moll"],
        ),
        ("Skell March", "The Skell March began on Tuesday, 6 June 1944.", ["Skell March | began on | 6 June 1944"]),
        (
            "Sea Farers",
            "Sea Farers is a game for three to four players.",
            ["Sea Farers | is game for | three to four players"],
        ),
    ],
)
def test_parts_that_belong_together_stay_together(title: str, text: str, facts: list[str]) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        ("Kell", "Kell requires ostdb 1.4.3 or later.", ["Kell | requires | ostdb 1.4.3 or later"]),
        (
            "Kell",
            "Kell supports lamps since ost version 0.99.beta17.",
            ["Kell | supports lamps since | ost version 0.99.beta17"],
        ),
        ("Ost Rovers", "The Ost Rovers compiled an 11–1 record.", ["Ost Rovers | compiled | 11–1 record"]),
        (
            "Kell",
            "Kell provides several functions that work on strings.",
            ["Kell | provides | functions that work on strings"],
        ),
        ("Kell", "Kell supports many different lamps. Kell has several modes. Slow is the default.", []),
        ("Kell", "Kell includes a builtin for this purpose. Kell has two modes which you can choose.", []),
        (
            "Kell",
            "Kell uses the lamp table as the basis for lamp control.",
            [
                "Kell | uses | lamp table as the basis for lamp control",
                "Kell | uses the lamp table as | basis for lamp control",
            ],
        ),
        (
            "Kell",
            "Kell accepts positive numbers for the start argument and negative numbers for the end argument.",
            [
                "Kell | accepts | positive numbers for the start argument and negative numbers for the end argument",
                "Kell | accepts positive numbers for | start argument",
            ],
        ),
        (
            "Kell",
            "Kell returns True or False. Kell is limited to the lamps available on the market.",
            ["Kell | is limited to | lamps available on the market"],
        ),
        ("Kell", "Kell introduced a new variable: KELL_MODE.", ["Kell | introduced new variable | KELL_MODE"]),
        (
            "Kell Pub",
            "Kell Pub is owned by Ost–Brenn Inns. It now stops when it rains.",
            ["Kell Pub | is owned by | Ost–Brenn Inns"],
        ),
        (
            "Kell",
            "Kell holds the number of lamps that burned. It shows the lamps that's lit.",
            ["Kell | holds | number of lamps that burned"],
        ),
        (
            "Kell Inn",
            "Kell Inn is located at 9 Ost Street. It is owned by the Minister responsible for inns.",
            ["Kell Inn | is located at | 9 Ost Street", "Kell Inn | is owned by | Minister responsible for inns"],
        ),
        ("FontSize", "FontSize is the font size, in points. Ost 5 is the final version for which this holds.", []),
        (
            "Orlo Senn",
            "Orlo Senn became the first Norlander to fly over the Ost Range.",
            ["Orlo Senn | became | first Norlander to fly over the Ost Range"],
        ),
        (
            "Orlo Senn",
            "Orlo Senn became lead singer of the rock band Kell in 2009. In 2014, he appeared in the series "
            '"Nine Tides". He made his twelfth Ost Fair. He made it into a film.',
            [
                "Orlo Senn | became lead singer of rock band | Kell",
                "Orlo Senn | became lead singer of Kell in | 2009",
                "Orlo Senn | appeared in series | Nine Tides",
                "Orlo Senn | appeared in the series Nine Tides in | 2014",
            ],
        ),
        (
            "Ost College",
            "Ost College is run by the Ost Council for Technical Training. It is a 2000 acre campus.",
            ["Ost College | is run by | Ost Council for Technical Training", "Ost College | is | 2000 acre campus"],
        ),
        (
            "Nine Tides",
            "Nine Tides features the voices of Bo Ray, Ida Strand and Karl Senn.",
            [f"Nine Tides | features voices of | {name}" for name in ("Bo Ray", "Ida Strand", "Karl Senn")],
        ),
        (
            "Ida Ray",
            "Ida Ray was a daughter of Orlo Ray and his wife Ada.",
            ["Ida Ray | was daughter of | Orlo Ray", "Ida Ray | was daughter of | Ada"],
        ),
        (
            "lamp_filter()",
            "lamp_filter(colour=0):\n\n  colour:\n\n    Of the lamp. Defaults to 0.\n\n    Later version: alamp()",
            ["lamp_filter() | colour defaults to | 0"],
        ),
    ],
)
def test_an_end_has_what_belongs_to_it_or_is_none(title: str, text: str, facts: list[str]) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        (
            "Kell",
            "Kell defines a family of lamps in which color (hue) varies. Kell means oils that are sold, as tar.",
            [],
        ),
        ("Kell", "Kell tells Ostline that the lamp is lit. Orlo Senn told OTV:", []),
        (
            "Ost Rovers",
            "Ost Rovers is a team. In 1910, the team played at the arena. In 1911 the team played home games in Kell. "
            "Ost Rovers won the Kell Cup on 5 July that year.",
            ["Ost Rovers | is | team", "Ost Rovers | played home games in | Kell", "Ost Rovers | won | Kell Cup"],
        ),
        ("Bo Ray", "Bo Ray (born c. 1933) lived in Ost.", ["Bo Ray | born on | c. 1933", "Bo Ray | lived in | Ost"]),
        ("KELL", "On Ostix and BRX/2, KELL is used for the lamp command.", []),
        ("KELL", "KELL takes the same lamps as the Ost command except that oil is free.", []),
        (
            "KELL",
            "When used with the lamp command, KELL is evaluated as a lamp number. KELL clears the oil in ost mode.",
            [],
        ),
        ("Kell", "Kell uses lamp_ost or lamp_brenn to test it.", ["Kell | uses | lamp_ost or lamp_brenn"]),
        (
            "Ida Ray",
            "Ida Ray is the leader and also the oldest member of Kell. It was a brighter, more open sound. "
            "Kell has a similar sound.",
            [],
        ),
        ("Kell (song)", '"Kell" is a song recorded by Bo Ray.', ["Kell (song) | recorded by | Bo Ray"]),
        (
            "Ida Ray",
            'Ida Ray played Ada Vint in "Nine Tides" (1980), Gundel in "Ten Tides" (1981). '
            "Guest stars in the film included Bo Ray and Orlo Senn.",
            ["Ida Ray | played | Ada Vint", "Ida Ray | played Ada Vint in | Nine Tides"],
        ),
        (
            "Bo Ray",
            "Bo Ray has a controlling interest in the Kell Mill in Ost and the Brenn Mill in Ferl.",
            ["Bo Ray | has controlling interest in | Kell Mill"],
        ),
        (
            "kell_check",
            "kell_check\n\n--lamps LAMPS\n\nSpecifies the lamp file to use.\n\nDefaults to lamps.txt.",
            ["kell_check | --lamps specifies | lamp file to use", "kell_check | --lamps defaults to | lamps.txt"],
        ),
    ],
)
def test_what_limits_a_statement_or_belongs_to_its_end_is_not_left_out(title: str, text: str, facts: list[str]) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        (
            "Marl 40 garden pump",
            "The Marl 40 is a garden pump. It weighs 3 kg. The price is 90 euros.",
            ["Marl 40 | is | garden pump", "Marl 40 | weighs | 3 kg", "Marl 40 | price is | 90 euros"],
        ),
        (
            "Restoring Tolm Castle",
            "Tolm Castle was built in 1612. The castle burned down in 1743.",
            ["Tolm Castle | was built in | 1612", "Tolm Castle | burned down in | 1743"],
        ),
        (
            "Murder of Otto Brandt",
            "Otto Brandt was shot in Ferl. Brandt was a smith from Ost.",
            ["Otto Brandt | was shot in | Ferl", "Otto Brandt | was smith from | Ost"],
        ),
        (
            "Notes of May",
            "Rook AG charged 45 GBP. Rook AG pays EUR 0.52 per litre. Rook AG has 300 MW.",
            ["Rook AG | charged | 45 GBP", "Rook AG | pays | EUR 0.52 per litre", "Rook AG | has | 300 MW"],
        ),
        (
            "Notes of May",
            "Rook AG and Kestrel GmbH have agreed on a fine. Rook AG and Kestrel GmbH were founded in Ost.",
            ["Rook AG | were founded in | Ost", "Kestrel GmbH | were founded in | Ost"],
        ),
        (
            "Notes of May",
            "ABC-2025-118 was reported by Una Holt. The council repealed it. Una Holt repealed the Mills Act 1974.",
            ["ABC-2025-118 | was reported by | Una Holt", "Una Holt | repealed | Mills Act 1974"],
        ),
        ("Notes of May", "On Sarl, the Lind family owns two farms.", ["Lind family | on Sarl owns | two farms"]),
        (
            "Notes of May",
            "Rook AG runs 20 shops (except in Ost). Rook AG chose Ferl instead of Ost.",
            ["Rook AG | runs | 20 shops", "Rook AG | chose | Ferl"],
        ),
        (
            "Notes of May",
            "The Sarl Race is a race founded in 1990 that takes place on Lake Sarl.",
            ["Sarl Race | is | race", "Sarl Race | founded in | 1990", "Sarl Race | takes place on | Lake Sarl"],
        ),
        (
            "Una Holt",
            "Una Holt is a singer. She won the 2004 Games. She called her book Low Water.",
            ["Una Holt | is | singer", "Una Holt | won | 2004 Games", "Una Holt | book | Low Water"],
        ),
        (
            "Kell Inn",
            "The Kell Inn is a film featuring old lamps. It is a 1950 version of Low Water.",
            ["Kell Inn | is | film", "Kell Inn | featuring | old lamps", "Kell Inn | is version of | Low Water"],
        ),
        (
            "Notes of May",
            "Bo Ray was a member of the Kell Club and Commander-in-Chief of the Ost Navy.",
            ["Bo Ray | was member of | Kell Club", "Bo Ray | was | Commander-in-Chief of the Ost Navy"],
        ),
        (
            "Notes of May",
            "The Kell Saga follows two owls, known as the Twins. In Ost, Rook AG is the only maker of pumps.",
            ["Kell Saga | follows | two owls", "Rook AG | in Ost is | only maker of pumps"],
        ),
        (
            "Notes of May",
            "The Kell Mill is deprecated in favor of the Ost Mill and the Sarl Mill.",
            ["Kell Mill | is deprecated in favor of | Ost Mill", "Kell Mill | is deprecated in favor of | Sarl Mill"],
        ),
    ],
)
def test_subjects_amounts_and_lists_are_whole(title: str, text: str, facts: list[str]) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        ("Skell Bank", "Its CFO is Li Warren.", ["Skell Bank | CFO is | Li Warren"]),
        ("Mill Bridge", "It was designed by Ada Moss.", ["Mill Bridge | was designed by | Ada Moss"]),
        ("Ferry", "It was bought by Bo Ray.", []),  # a heading, perhaps
        (
            "Lights",
            "Skell Light and Ost Light were built by Karl Senn and Ada Moss, respectively.",
            ["Skell Light | were built by | Karl Senn", "Ost Light | were built by | Ada Moss"],
        ),
        ("Lights", "Skell Light and Ost Light were built by Karl Senn and Ada Moss.", []),  # by both, or each by one
        ("Vela", "The Vela pump is sold in version 1.1.X by Rook AG.", ["Vela pump | is sold in | version 1.1.X"]),
    ],
)
def test_who_is_meant_first_and_who_belongs_to_whom(title: str, text: str, facts: list[str]) -> None:
    assert [fact for fact in stated(title, text) if "Rook AG" not in fact] == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        (
            "Ost Inn",
            "Ost Inn is one of the oldest houses in the valley of the Kell.",
            ["Ost Inn | is | one of the oldest houses in the valley of the Kell"],
        ),
        ("Kell", "Kell is the only town in Norland.", ["Kell | is only town in | Norland"]),
        ("Kell", "Kell is the oldest town.", ["Kell | is | oldest town"]),
        ("Kell Hound", "It is a dog with a fine looking, curly coat.", ["Kell Hound | is | dog"]),
        ("Kell Mill", "Kell Mill has a large, heavy door.", ["Kell Mill | has | large, heavy door"]),
        ("Ada Renk", "She joined a noted (Kell) troupe.", []),
        ("Quist", "Quist is concerned with the Sound and Light part of the norm.", []),
        (
            "Quist Key",
            "It is placed in the upper right inside corner.",
            ["Quist Key | is placed in | upper right inside corner"],
        ),
        (
            "Low Water",
            "It was written by its star and keeper, Ida Vint, in 1979.",
            ["Low Water | was written by | Ida Vint", "Low Water | was written in | 1979"],
        ),
        ("Quist", "Quist is the Commission on the Kell Trade.", ["Quist | is | Commission on the Kell Trade"]),
        ("Tom Berg", "Tom Berg was elected treasurer.", ["Tom Berg | was elected | treasurer"]),
        (
            "Low Water (film)",
            "Low Water is a film. The script by Ann Lee and Bo Ray is based on the 1928 play by Carl Orr.",
            [
                "Low Water (film) | script by | Ann Lee",
                "Low Water (film) | script by | Bo Ray",
                "Low Water (film) | script is based on | 1928 play",
                "Low Water (film) | script is based on the 1928 play by | Carl Orr",
            ],
        ),
    ],
)
def test_what_singles_out_and_who_did_it_are_whole(title: str, text: str, facts: list[str]) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        (
            "Brenn Inn",
            "It has one of the best views among inns.",
            ["Brenn Inn | has | one of the best views among inns"],
        ),
        (
            "Brenn Inn",
            "Brenn Inn is one of the most visited inns in Norland trade history.",
            ["Brenn Inn | is | one of the most visited inns in Norland trade history"],
        ),
        (
            "Quist Act",
            "The Quist Act was one of three acts drafted to end the war.",
            ["Quist Act | was | one of three acts drafted to end the war"],
        ),
        ("Quist Act", "The Quist Act is the oldest law in Norland.", ["Quist Act | is oldest law in | Norland"]),
        (
            "Rook",
            "Rook is the most common cause of fever in dogs. Rook is the fastest pump of all until the next one.",
            ["Rook | is | most common cause of fever in dogs"],
        ),
        ("Rook Pump", "It closes the valve after the tank has been filled.", []),
        ("Rook Pump", "It now silently drops the Ost Log when the disk is full.", []),
        ("Rook Pump", "It stores the Ost Log as long as the disk is present.", []),
        ("Rook Pump", "It uses the Ost Dam, and stops once it is full.", ["Rook Pump | uses | Ost Dam"]),
        ("Rook Pump", "It closed the Ost Dam after the war ended.", ["Rook Pump | closed | Ost Dam"]),
        ("Rook Pump", "Rook Pump empties the list of such letters.", []),
        ("Rook", "Rook brings great gains over lead for roofs.", ["Rook | brings | great gains over lead for roofs"]),
        ("Rook", "Rook is sold as a cheap cure for coughs.", ["Rook | is sold as | cheap cure for coughs"]),
        (
            "Ada Renk",
            "Ada Renk is a painter and singer mainly famous for short songs.",
            [
                "Ada Renk | is | painter and singer mainly famous for short songs",
                "Ada Renk | is famous for | short songs",
            ],
        ),
        ("Rook", "Rook is a pill similar to chalk.", ["Rook | is | pill similar to chalk"]),
        ("Rook", "Rook is a plant native to Kell.", ["Rook | is plant native to | Kell"]),
        (
            "Ada Renk",
            "Ada Renk is a poet best known for Low Water.",
            ["Ada Renk | is | poet", "Ada Renk | known for | Low Water"],
        ),
        (
            "Kell Post",
            "Kell Post has been printed by Rook AG since 1998.",
            ["Kell Post | has been printed by | Rook AG", "Kell Post | has been printed by Rook AG since | 1998"],
        ),
        (
            "Ost",
            "Ost is a town across the Brenn River from Vint.",
            ["Ost | is town across | Brenn River", "Ost | is town across the Brenn River from | Vint"],
        ),
        ("Quist", "Quist lists a few of the reasons. Quist gives several ways to change the system.", []),
        ("Quist", "Quist gives several ways to cook fish.", ["Quist | gives | ways to cook fish"]),
    ],
)
def test_what_limits_a_fact_is_told_or_the_fact_is_none(title: str, text: str, facts: list[str]) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        ("Low Water", 'Low Water was written by Karl "Kid" Senn.', ['Low Water | was written by | Karl "Kid" Senn']),
        ("Kid Senn", 'Karl "Kid" Senn lived in Ost.', ["Kid Senn | lived in | Ost"]),
        ("Kell Song", 'It rose on the U.S. "Hot" Chart.', ["Kell Song | rose on | Chart"]),
        ("Ost House", "The younger Senn sold the mill in 1906.", []),
        (
            "Bo Senn",
            "Bo Senn was old. He sang in Ost. The younger Senn died in Kell.",
            ["Bo Senn | sang in | Ost", "Bo Senn | died in | Kell"],
        ),
        (
            "Low Water",
            "It was shown on Easter Monday 1916 in Ost.",
            ["Low Water | was shown on | Easter Monday 1916", "Low Water | was shown in | Ost"],
        ),
        (
            "Bo Ray",
            "In 1990, Bo Ray was a member of the noted duo the Reds.",
            ["Bo Ray | was member of noted duo | Reds", "Bo Ray | was member of Reds in | 1990"],
        ),
        (
            "Low Water",
            "Low Water is an album by jazz and folk band The Owls.",
            ["Low Water | is album by jazz and folk band | Owls"],
        ),
        ("Vela tools", "The Vela backend uses Ost & Kell keys.", ["Vela backend | uses | Ost & Kell keys"]),
        ("Sizes", "Ost and Brenn are similar in size. Bo Ray and Ida Vint were married in 1920.", []),
        (
            "Sizes",
            "Ost and Brenn are similar to Kell.",
            ["Ost | are similar to | Kell", "Brenn | are similar to | Kell"],
        ),
        (
            "Sizes",
            "Instead, Ost and Brenn saw similar gains in 1920.",
            ["Ost | saw similar gains in | 1920", "Brenn | saw similar gains in | 1920"],
        ),
        ("Sizes", "In all, fires in Ost, Kell, and Brenn killed 48 people.", []),
        ("Quist", "The Quist tool which reads files stored in Ost.", []),
        ("Quist", "Quist is a clinic which treats dogs held in Ost.", ["Quist | is | clinic"]),
        ("Norm", "The short names of Kell, Ost, and Brenn now allow spaces.", []),
        (
            "Norm",
            "The owners of Kell, Ost and Brenn signed the Rook Deed.",
            [f"{name} | owners signed | Rook Deed" for name in ("Kell", "Ost", "Brenn")],
        ),
        (
            "Quist 2",
            'Quist 2 has a pump with grade "mild", a new lamp, and a valve in red.',
            ["Quist 2 | has pump with | grade mild"],
        ),
        (
            "Quist",
            "Quist is a port of the Kell game (2001) which was a copy of the Ost game.",
            ["Quist | is | port of the Kell game"],
        ),
        (
            "Bo Ray",
            "Bo Ray is a guard who worked for the Vint family, also known as the Mill Owners.",
            ["Bo Ray | is | guard", "Bo Ray | worked for | Vint family"],
        ),
        ("Ink (writer)", "Ida Vint, better known by her pen name Ink, is a poet.", ["Ink (writer) | is | poet"]),
        (
            "Ida Vint",
            "Ida Vint, also known by the name Red, is a poet.",
            ["Ida Vint | known as | Red", "Ida Vint | is | poet"],
        ),
        (
            "Ida Vint",
            "Ida Vint is tall. Vint and her uncle Bo sued Rook AG.",
            ["Ida Vint | uncle | Bo", "Ida Vint | sued | Rook AG", "Bo | sued | Rook AG"],
        ),
        (
            "Rivers",
            "Soon, Ada Moss and Bo Ray were held in Ost.",
            ["Ada Moss | were held in | Ost", "Bo Ray | were held in | Ost"],
        ),
        ("Kel Inn", "Kel Inn or Kell Inn is a house.", ["Kel Inn | is | house"]),
    ],
)
def test_names_are_whole_and_what_is_told_of_one_is_not_told_of_another(
    title: str, text: str, facts: list[str]
) -> None:
    assert stated(title, text) == facts


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        ("Ida Vint", "Vint died on Feb. 29, 2012.", ["Ida Vint | died on | Feb. 29, 2012"]),
        ("Ost", "Ost was bombed on 3/4 May 1941.", ["Ost | was bombed on | 3/4 May 1941"]),
        (
            "Ida Vint",
            "Vint was born c. 1920 in Ost.",
            ["Ida Vint | was born c. | 1920", "Ida Vint | was born in | Ost"],
        ),
        (
            "Ida Vint",
            "Vint works at Kell Inc. in Ost.",
            ["Ida Vint | works at | Kell Inc", "Ida Vint | works at Kell Inc in | Ost"],
        ),
        ("Kell Clock", "Kell Clock was made by Rook & Co. of Ost.", ["Kell Clock | was made by | Rook & Co"]),
        ("Bo Ray", "Bo Ray was replaced by Lt. Gov. Ida Vint.", ["Bo Ray | was replaced by | Ida Vint"]),
        ("Deeds", "Mr. and Mrs. Karl Senn bought Kell Inn.", ["Mr. and Mrs. Karl Senn | bought | Kell Inn"]),
        ("Cases", "Kell v. Ost was decided in 1990.", ["Kell v. Ost | was decided in | 1990"]),
        ("Rook AG", "Rook AG's CEO is Mara Voss.", ["Rook AG | CEO is | Mara Voss"]),
        ("Mill House", "It was Karl Senn who built Mill House.", ["Karl Senn | built | Mill House"]),
        ("Rook AG", "Rook AG almost bought Plover Inc. in 2012.", []),
        ("Bo Ray", "Bo Ray was to marry Ida Vint. Ray was about to buy Kell Inn.", []),
        ("News", "Sources say Bo Ray fled to Ost. Neighbours claim Bo Ray moved to Ferl.", []),
        ("Rook AG", "Rook AG was nearly bankrupt in 1990.", []),
        ("News", "Ada Moss says Bo Ray sold Kell Inn.", []),
        ("Rook AG", "Rook AG was sold in Q3 2019.", ["Rook AG | was sold in | Q3 2019"]),
        ("FC Ost", "FC Ost beat FC Ferl 3–1.", ["FC Ost | beat | FC Ferl"]),
        ("Kell Inn", "Kell Inn is five minutes from the station.", []),
        ("Ida Vint", "Vint was arrested in Ost and released two days later.", ["Ida Vint | was arrested in | Ost"]),
        ("Rook AG", "Rook AG paid Ida Vint EUR 300.", ["Rook AG | paid Ida Vint | EUR 300"]),
        ("Rook AG", "Rook AG granted Bo Ray and Ida Vint a licence.", []),
        (
            "Ost",
            "Ost has plants in Lund, Sweden, and Kiel, Norland.",
            ["Ost | has plants in | Lund", "Ost | has plants in | Kiel"],
        ),
        ("Kell Inn", "Kell Inn is 12 m wide and up to 40 m high.", ["Kell Inn | is wide | 12 m"]),
        ("Kell Ltd", "The company's headquarters are in Ost.", ["Kell Ltd | headquarters are in | Ost"]),
        ("Kell Ltd", "The Norland-based firm bought Kell Inn.", ["Kell Ltd | bought | Kell Inn"]),
        ("Deals", "The Norland-based firm bought Kell Inn.", []),
        ("Kell Ltd", "Kell Ltd repairs clocks in Ost. It was founded in 1990.", ["Kell Ltd | was founded in | 1990"]),
        ("Settings", "The default value of CACHE_SIZE is 512 MB.", ["CACHE_SIZE | default value is | 512 MB"]),
        ("Settings", "KELL_HOME defaults to /var/lib/kell.", ["KELL_HOME | defaults to | /var/lib/kell"]),
    ],
)
def test_abbreviations_amounts_and_what_nearly_happened(title: str, text: str, facts: list[str]) -> None:
    assert stated(title, text) == facts
