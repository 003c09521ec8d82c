"""Words of a sentence with their classes, as the rules see them."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from langgraph_rag.tools.ingest.spans import spot

_PREFIX = re.compile(r"(?:co|re|self)-(?=\w)")
BE = frozenset("is are was were be been being am".split())
HAVE = frozenset("has have had having".split())
DO = frozenset("do does did".split())
MODAL = frozenset("can could may might must shall should will would ought needs".split())
NEGATION = frozenset("not never no nor neither cannot hardly barely without nobody nothing none".split())
ARTICLES = frozenset("a an the".split())
DETERMINERS = ARTICLES | frozenset(
    "this that these those each every some any all both several many most other another such either half".split()
)
POSSESSIVES = frozenset("his her its their my your our whose".split())
PRONOUNS = frozenset(
    "he she it they him them himself herself itself themselves i we you me us who whom which what this these "
    "those one there others another both".split()
)
PREPOSITIONS = frozenset(
    "of in on at by from to with for as into onto under over between among during through throughout within "
    "against about above below near across along around behind beside beyond inside outside toward towards upon "
    "via per c. ca. approx. alongside amid opposite off despite like unlike until till since after before following "
    "worth".split()
)
SUBORDINATORS = frozenset(
    "while whereas when whenever where because although though once due except if unless whether that than so "
    "how why".split()
)
ADVERBS = frozenset(
    "also then later now still once again already often sometimes always ever even just only too very soon "
    "today together currently however therefore thus hence moreover instead ago yet almost about approximately "
    "well prior worldwide twice otherwise thereafter afterwards abroad there here back away perhaps quite "
    "rather further elsewhere".split()
)
NOT_ADVERBS = frozenset(  # though they end in -ly
    "family early daily weekly monthly yearly only friendly elderly deadly lovely likely assembly supply reply "
    "rally ally anomaly butterfly holy ugly homily jelly belly bully july italy fly rely apply orderly costly "
    "quarterly hourly scholarly lonely lively".split()
)
NOT_PAST = frozenset(  # though they end in -ed
    "need seed feed speed breed weed deed reed hundred sacred cast red bed shed sled naked wicked rugged embed "
    "indeed exceed proceed succeed bleed greed creed steed unincorporated unified unused armed deceased "
    "qualified colored coloured undefined unchanged crooked ragged so-called biped kindred hatred".split()
)
IRREGULAR = frozenset(
    "became become began begun bought brought built came come chose chosen drew drawn drove driven fell fallen "
    "felt fought flew flown forbade found gave given got gone grew grown held hid hidden hit hung kept knew "
    "known laid led left lent lay lain lost made meant met overcame overtook paid put ran rang read rebuilt "
    "rode ridden rose risen said sang sung sank sunk sat saw seen sent set shot shown shut sold slept sought "
    "spent spoke spoken spread stood stole stolen strung struck sworn swore taken taught thought threw thrown "
    "told took undertook understood went won wore worn withdrew withdrawn wrote written woke overthrew "
    "overthrown oversaw underwent broke broken born borne beat beaten bore bound bred burnt caught broadcast "
    "done proven forbidden cut dealt dug ate fed fled forgot gotten heard leapt lit rewritten sped spun split "
    "swam swum swept tore torn won".split()
)
_STEMS = (
    "accept accompan achiev act add address adher adopt advis affect aim air allow allud announc appear appl "
    "apply appoint argu arriv ask assign assist assum attach attack attend attract avoid award base bear becom "
    "begin belong border break bring broadcast build bypass call captur carr catch caus celebrat center chang "
    "check choos cit clear clos collaborat collect combin come compar compet complet compris comput concern "
    "conduct connect consider consist constitut contain continu control convert correspond cover creat cross "
    "cultivat cut deal decid declar decreas default defin delet deliver demonstrat denot depend depict deriv "
    "describ design detect determin develop die differ direct disabl discover display distribut divid draw drop "
    "eat educat emphasi employ empt enabl encourag end enforc engag enhanc enjoy ensur enter establish exclud "
    "execut exist exit expand explain explor expos express extend face facilitat fail fall feature featur feed "
    "fight fill find finish flow focus follow forc form fulfil generat get give go govern grant grow guarantee "
    "handl happen have head help hold hous identif ignor illustrat impl implement import improv includ "
    "incorporat increas indicat inherit initiali insert inspir instal interact introduc invit involv issu join "
    "keep know lack last launch lead learn leav let lie like limit link list liv live locat look lose maintain "
    "make manag mark marr match mean measur meet merg migrat mov need normaliz not obtain occup occur offer "
    "open operat oppos organi originat own participat pass perform permit plac plant play point populat precede "
    "preced predict prefer present preserv prevent print process produc promot protect prov provid publish put "
    "raise rais rang rank reach read receiv recogni record reduc refer reflect register reject relat releas rel "
    "remain remov render replac report represent requir reserv resid resolv respond restrict result retain "
    "retriev return reveal revolv ris rul run satisf sav say scan search see seek seem sell send separat serv "
    "set shar show sign sit solv specif speak specializ speciali spend span stand star start stat stay stop "
    "stor store studi stud submit succeed suggest suppl support surround switch tak target teach tell terminat "
    "test throw tour track trad train transform translat transmit travel treat trigger turn typically undergo "
    "use us utili evaluat attempt tr select recount fix encompass calculat adjust resembl pos portray overrid "
    "rid collid instruct reset output validat var verif view visit wait want warn wear weigh win wish work wrap writ "
    "wrote yield".split()
)
PRESENT = frozenset(
    form for stem in _STEMS for form in (f"{stem}s", f"{stem}es", f"{stem}ies") if len(form) > 3
) - frozenset(
    "points results forms views tests tracks awards issues records limits attacks plants rules stories movies "
    "forces sites studies links addresses stats cities discoveries reserves heads treaties supplies wines trees "
    "lines parts states times names things items orders programs networks songs dies calls books lots bodies "
    "marks ranges".split()
)
"""Verbs in the third person; many of the forms mean nothing, and those that are mostly nouns are not among them."""
_BASES = frozenset(form for stem in _STEMS for form in (stem, f"{stem}e", f"{stem}y", stem.removesuffix("s")))
NOT_ACTING = frozenset(  # though they end in -ing
    "recording engineering racing opening building beginning mining handling publishing programming mapping "
    "editing string encoding anything something nothing everything filtering timing plotting scaling splitting "
    "painting housing marketing writing training processing setting meeting landing wedding ending morning "
    "evening shopping boxing wrestling cycling skiing sailing swimming fishing farming manufacturing banking "
    "broadcasting casting dancing singing acting wing spring during king ring thing bearing crossing drawing "
    "hearing ranking rating reading ruling spelling standing warning escaping quoting logging caching rendering "
    "routing testing debugging clustering indexing formatting parsing".split()
)
PERSONS = re.compile(
    r"(?:er|or|ist|ian|man|woman|ess|ant|ic|ee|ete|ef|king|queen|duke|earl|count|baron|prince|bishop|pope|saint|poet|judge"
    r"|pilot|spy|monk|nun|priest|clerk|wife|husband|son|daughter|child|noble|general|captain|host|star|hero|model"
    r"|rabbi|sheriff|agent|coach|magnate|sultan|scholar|youth|girl|boy|person|personality|character|figure|graduate)s?$"
)
"""The ends of nouns that mean people."""
PARTICLES = frozenset("up out off down over back away together apart forward".split())


def is_base(word: str) -> bool:
    """Return whether a word in lower case may be a command: "use", "set", "apply"."""
    return word in _BASES


def tag_of(word: str) -> str:
    """Return the class of a word in lower case: the one that it has in most places."""
    word = _PREFIX.sub("", word)
    for tag, words in _CLASSES:
        if word in words:
            return tag
    if word.endswith("n't") or word.endswith("n’t"):
        return "neg"
    if word.endswith("ly") and len(word) > 4 and word not in NOT_ADVERBS:
        return "adv"
    if "-" in word and word.endswith("ed"):
        return "word"  # "colon-separated"
    if (word.endswith("ed") and len(word) > 3 and word not in NOT_PAST) or word in IRREGULAR:
        return "past"
    if word.endswith("ing") and len(word) > 5 and word not in NOT_ACTING:
        return "ing"
    return "pres" if word in PRESENT else "word"


_CLASSES = (
    ("be", BE),
    ("have", HAVE),
    ("do", DO),
    ("modal", MODAL),
    ("neg", NEGATION),
    ("poss", POSSESSIVES),
    ("rel", frozenset({"who", "which", "whom"})),
    ("det", DETERMINERS),
    ("pron", PRONOUNS),
    ("and", frozenset({"and", "or", "&"})),
    ("but", frozenset({"but"})),
    ("sub", SUBORDINATORS),
    ("adv", ADVERBS),
    ("prep", PREPOSITIONS),
)
NOUNS = frozenset(  # that sentences often begin with, without an article
    "work music water children women men people support access police research development data text code input "
    "output food light power energy money land traffic trade labor labour film love war peace fire snow rain "
    "ice oil gold iron software hardware memory time space history art law life death health school part half "
    "example examples note "
    "default choice change changes control usage focus emphasis interest credit progress demand potential".split()
)


_WORD = re.compile(r"['’]s\b|\b(?:c|ca|approx)\.(?=\s?$)|\w+(?:['’/]\w+|-\s?\w+)*|\.\.\.|\S")
_MARKS = {
    ",": "comma",
    "(": "open",
    ")": "close",
    "[": "open",
    "]": "close",
    "'s": "gen",
    "’s": "gen",
    "'": "gen",
    "’": "gen",
}
_KINDS = {"name": "name", "date": "date", "number": "num"}
_QUOTE = re.compile(r"[\"“”«»`*]+")
_RANK = re.compile(r"\d+(?:st|nd|rd|th)")
_OF_RANK = re.compile(
    r"(?:(?:Grand |Arch)?(?:Earl|Duke|Duchess|Baron|Baroness|Marquess|Marquis|Viscount|Viscountess|Count|Countess"
    r"|Prince|Princess|King|Queen|Lord|Lady|Margrave|Elector|Emperor|Bishop)\b.* of "
    r"|Baron |Viscount |Baronet$|Jr\.?$|Sr\.?$)"
)
_OF_BODIES = re.compile(
    r"(?:.* )?(?:Academy|Ministry|Minister|Department|Secretary|Institute|School|College|University|Museum|Society"
    r"|Board|Bureau|Council|Cent(?:er|re)|Journal|Committee|Office) (?:of|for) "
)
_GLUED = re.compile(r"(?:(?:[,/×–-]|\.(?=[a-z\d]))\w+)+")  # "0.99.beta17", "5in,3in", "11–1"
_HEADS_BODY = re.compile(
    r"(?:.* )?(?:Academy|Association|Board|Bureau|Cent(?:er|re)|College|Commission|Committee|Council|Department"
    r"|Foundation|Fund|Institute|Ministry|Museum|Office|School|Society|Trust|Union)"
)
_BODY = re.compile(r"\b(?:Institute|University|College|Museum|Society|Association|Council|Commission|Committee)$")
_AWARD = re.compile(r"(?:Award|Prize|Medal|Oscar|Emmy|Grammy|Globe)s?$")
_FOR_WHAT = re.compile(r"(?:Best|Outstanding|Excellence|Lifetime|Most|Achievement)\b")
_SHORTENED = re.compile(r"(?:They|You|We|I|He|She|It|That|There|What|Who|Here|Let)['’](?:re|s|ve|ll|d|m)")
_AMOUNT = re.compile(r"[A-Z]{2,4} \d[\d.,]*\d|[A-Z]{3} \d")  # "EUR 0.52"
_OF_NAME = re.compile(r"\b(?:Inc|Ltd|Co|Corp|Bros|Cie|Pty|Pvt|Jr|Sr|Esq|Bt|Ph\.?D|M\.D|[BM]\.(?:A|Sc))$")
_RANKED = re.compile(r"(?:Lt\. |Sgt\. )?(?:Gov|Sen|Rep|Hon|Adm|Maj|Sgt|Cpl|Cmdr|Brig|Prof|Pres|Messrs)")
_OWNED_ROLE = re.compile(
    r"(?P<owner>.+?)['’]s (?P<role>(?:(?:Vice|Deputy) )?"
    r"(?:C[EFTOI]O|Chairm[ae]n|Chairwoman|President|Mayor|Governor))\b(?P<name> .+)?"
)
_UNIT = re.compile(r"[A-Z]{3}|[kMGTm]?(?:W|Wh|Hz|B|V|A|Ah|Pa|J|N|Nm|M|mol|bit)")
_CODED = re.compile(r"[A-Z][A-Z\d]+(?:-[A-Z\d]*\d[A-Z\d]*)+(?!\w)")  # "CVE-2026-6907"
_OF_YEAR = re.compile(
    r"\b(?:Act|Regulations?|Order|Directive|Ordinance|Protocol|Olympics|Games|Cup|Expo|Fair|Eve|Day|Christmas|Easter"
    r"|(?:Easter|Good|Black|Holy|Bloody|Palm) [A-Z]\w+day)$"
)
_GIVEN = re.compile(r"(?:[^\W\d_A-Z]|(?<![.\w])[A-Z]\.)$")
_NICKNAME = re.compile(r" [\"“][^\"“”]{1,30}[\"”] (?=[^\W\d_a-z])")
_WEEKDAYS = frozenset("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())
_QUOTES = frozenset('"“”«»‘`*_')


class Token(NamedTuple):
    """A part of a sentence, `sentence[start:end]`, with its class; the text of a quotation is what it quotes."""

    start: int
    end: int
    text: str
    tag: str


END = Token(0, 0, "", "stop")


class Parsed(NamedTuple):
    """What a trained pipeline says of a token: its part of speech, its role, and the place of what it depends on."""

    tag: str
    role: str
    head: int


UNPARSED = Parsed("", "", -1)


class Tokens:
    """The tokens of a sentence; beyond its end there are only stops."""

    def __init__(self, sentence: str) -> None:
        """Cut the sentence."""
        self.sentence = sentence
        self.parsed: list[Parsed] = []  # of each token, if the sentence was parsed
        self._tokens = list(_with_titles(sentence, list(_without_weekdays(list(_adjusted(list(_cut(sentence))))))))
        if self.is_(0, "name") and self.is_(1, "comma") and tag_of(self[0].text.lower()) == "adv":
            self.retag(0, "adv")  # "Instead, Ada and Bo"
        for place in range(1, len(self._tokens) - 1):
            if self._is_verb(place):
                self.retag(place, "pres")

    def __len__(self) -> int:
        """Count the tokens."""
        return len(self._tokens)

    def __getitem__(self, place: int) -> Token:
        """Return a token, or a stop beyond the end."""
        return self._tokens[place] if 0 <= place < len(self._tokens) else END

    def _is_verb(self, place: int) -> bool:
        """Return whether an unknown word has the place and form of a verb: "Kell mills the flour"."""
        word = self[place].text
        acts = self.is_(place - 1, "name") or self[place - 1].text.lower() in {"he", "she", "it"}
        verbal = self.is_(place, "word") and word.islower() and word.endswith("s") and not word.endswith(("ss", "us"))
        return verbal and acts and self.is_(place + 1, "det", "poss", "num") and self[place + 1].text != "that"

    def retag(self, place: int, tag: str) -> None:
        """Give a token another class."""
        self._tokens[place] = self._tokens[place]._replace(tag=tag)

    def text(self, start: int, end: int) -> str:
        """Return the text of the tokens from one place to another, without quotation marks around it."""
        if end <= start:
            return ""
        if end == start + 1:
            return self[start].text
        text = self.sentence[self[start].start : self[end - 1].end]
        return " ".join(_QUOTE.sub(" ", text).split()) if _QUOTE.search(text) else text

    def is_(self, place: int, *tags: str) -> bool:
        """Return whether a token has one of some classes."""
        return self[place].tag in tags

    def place_of(self, position: int) -> int:
        """Return the place of the first token from a position of the sentence on."""
        return next((place for place, token in enumerate(self._tokens) if token.start >= position), len(self))

    def after_brackets(self, place: int) -> int:
        """Return the place after the brackets that begin at a place, if any do."""
        while self.is_(place, "open"):
            depth = 0
            while place < len(self):
                depth += self.is_(place, "open") - self.is_(place, "close")
                place += 1
                if depth == 0:
                    break
        return place


def _cut(sentence: str) -> Iterator[Token]:
    position = 0
    for span in spot(sentence):
        yield from _words(sentence, position, span.start)
        position = span.end
        if _SHORTENED.fullmatch(span.text):
            yield Token(span.start, span.end, span.text, "stop")  # "They're"
            continue
        if role := _OWNED_ROLE.fullmatch(sentence, span.start, span.end):  # "Kell's CEO Bo Ray"
            yield Token(span.start, role.end("owner"), role["owner"], "name")
            yield Token(role.end("owner"), role.end("owner") + 2, "'s", "gen")
            yield Token(role.start("role"), role.end("role"), role["role"], "word")
            if role["name"]:
                yield Token(role.start("name") + 1, role.end("name"), role["name"][1:], "name")
            continue
        own = sentence[span.start : span.end].endswith(("'s", "’s")) and not span.text.endswith(("'s", "’s"))
        yield Token(span.start, span.end - 2 * own, span.text, _KINDS[span.kind])
        if own:
            yield Token(span.end - 2, span.end, "'s", "gen")
    yield from _words(sentence, position, len(sentence))


def _adjusted(tokens: Sequence[Token]) -> Iterator[Token]:
    """Leave out ranks, and the dot of a name where the sentence goes on, "Kell Inc. of Ost"; part "The film's"."""
    place = -1
    while (place := place + 1) < len(tokens):
        token, following = tokens[place], [*tokens[place + 1 : place + 3], END, END]
        if _RANKED.fullmatch(token.text) and following[0].text == "." and following[1].tag == "name":
            place += 1  # "Gov. Ida Vint" is Ida Vint
            continue
        opens = place == 1 or (place > 1 and tokens[place - 2].text == ",")
        if opens and token.text.endswith(("'s", "’s")) and tokens[place - 1].text.lower() == "the":
            yield Token(token.start, token.end - 2, token.text[:-2], "word")
            token = Token(token.end - 2, token.end, "'s", "gen")
        after = tokens[place + 1].text if place + 1 < len(tokens) else "A"
        shortens = token.text == "." and place > 0 and tokens[place - 1].tag == "name"
        if not (shortens and _OF_NAME.search(tokens[place - 1].text) and not after[0].isupper()):
            yield token


def _without_weekdays(tokens: Sequence[Token]) -> Iterator[Token]:
    """Leave out the day of the week, and its comma, before a date: "on Tuesday, 6 June 1944"."""
    place = 0
    while place < len(tokens):
        after = place + 1
        after += after < len(tokens) and tokens[after].text == ","
        if tokens[place].text in _WEEKDAYS and after < len(tokens) and tokens[after].tag == "date":
            place = after
        yield tokens[place]
        place += 1


def _with_titles(sentence: str, tokens: list[Token]) -> Iterator[Token]:
    """Join what belongs to one name: "Hugh Roe, 2nd Earl of Ost", "Bo Ray, Jr.", "Ministry of Trade and Industry"."""
    place = 0
    while place < len(tokens):
        token, end = _with_unit(sentence, tokens, place)
        given = token.tag == "name" and _GIVEN.search(token.text)  # unlike 'the US "Billboard" Chart'
        if given and (nickname := _NICKNAME.match(sentence, token.end)):
            last = next((at for at in range(end, len(tokens)) if tokens[at].start >= nickname.end()), end)
            if last < len(tokens) and tokens[last].tag == "name":  # "Neil "Ink" Vint"
                text = sentence[token.start : tokens[last].end]
                token, end = Token(token.start, tokens[last].end, text, "name"), last + 1
        while token.tag == "name" and (last := _rank_end(tokens, end, token)):
            token, end = (
                Token(token.start, tokens[last].end, sentence[token.start : tokens[last].end].strip('"'), "name"),
                last + 1,
            )
        hyphen, word = [*tokens[end : end + 2], END, END][:2]
        joined = hyphen.text == "-" and hyphen.start == token.end and word.start == hyphen.end
        dashed = hyphen.text == "-" or (hyphen.text == "–" and word.tag == "name" and word.start == hyphen.end)
        if token.tag == "name" and dashed and hyphen.start == token.end and word.text:
            token, end = Token(token.start, word.end, sentence[token.start : word.end], word.tag), end + 2
        elif token.text[0].isdigit() and token.tag != "date" and (glued := _GLUED.match(sentence, token.end)):
            token = Token(token.start, glued.end(), sentence[token.start : glued.end()], token.tag)
            while end < len(tokens) and tokens[end].start < token.end:
                end += 1
        elif joined and token.tag in {"num", "date"} and word.tag == "word":  # "44-gun"
            token, end = Token(token.start, word.end, sentence[token.start : word.end], "word"), end + 2
        yield token
        place = end


def _with_unit(sentence: str, tokens: Sequence[Token], place: int) -> tuple[Token, int]:
    """Return a token with its unit or number, and the place after: "45 GBP", "CVE-2026-6907", "Rivers Act 1974"."""
    token, (second, after) = tokens[place], [*tokens[place + 1 : place + 3], END, END][:2]
    coded = _CODED.match(sentence, token.start) if token.tag == "word" else None
    if coded:
        end = next((at for at in range(place, len(tokens)) if tokens[at].start >= coded.end()), len(tokens))
        return Token(token.start, coded.end(), coded[0], "name"), end
    if token.tag == "name" and _AMOUNT.fullmatch(token.text):
        return token._replace(tag="num"), place + 1
    counts = token.tag == "num" and token.text[-1].isdigit() and _UNIT.fullmatch(second.text)
    dated = token.tag == "name" and second.tag == "date" and second.text.isdigit() and _OF_YEAR.search(token.text)
    if (counts and after.tag not in {"name", "word"}) or (dated and second.start == token.end + 1):
        return Token(token.start, second.end, sentence[token.start : second.end], token.tag), place + 2
    return token, place + 1


def _rank_end(tokens: list[Token], place: int, name: Token) -> int:
    """Return the place of the last token of a title, or the second part of a body's name, that begins there."""
    if place + 1 >= len(tokens):
        return 0
    if tokens[place].text == ",":
        at = place + 1
        at += at + 1 < len(tokens) and _RANK.fullmatch(tokens[at].text) is not None
        return at if tokens[at].tag == "name" and _OF_RANK.match(tokens[at].text) else 0
    other = tokens[place + 1]
    if tokens[place].text == "for" and _AWARD.search(name.text) and other.tag == "name":
        return place + 1 if _FOR_WHAT.match(other.text) else 0
    if tokens[place].text in {"for", "on"} and _HEADS_BODY.fullmatch(name.text):
        at = place + 1 + (other.text == "the")
        return at if at < len(tokens) and tokens[at].tag == "name" else 0  # "Council on the Ost Trade"
    if tokens[place].text == "to" and other.text[0].isupper() and (other.tag == "be" or is_base(other.text.lower())):
        at = place + 2  # "Who Wants to Be a Star"
        at += at < len(tokens) and tokens[at].tag == "det"
        return at if at < len(tokens) and tokens[at].tag == "name" else place + 1
    joins = tokens[place].text in {"and", "&"} and other.tag == "name"
    the = place > 1 and tokens[place - 2].text.lower() == "the"
    parts = _OF_BODIES.match(name.text) and " " not in other.text
    return place + 1 if joins and (parts or (the and _BODY.search(other.text))) else 0


def _words(sentence: str, start: int, end: int) -> Iterator[Token]:
    for found in _WORD.finditer(sentence, start, end):
        word = found[0]
        if word in _QUOTES:
            continue
        tag = _MARKS.get(word) or (tag_of(word.lower()) if word[0].isalnum() else "stop")
        yield Token(found.start(), found.end(), word, tag)
