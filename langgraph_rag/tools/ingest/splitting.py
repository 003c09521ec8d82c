"""Documents are split into passages that an embedder reads whole, by its own tokens, at the best places.

The best places are those between turns, sections and paragraphs.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.embeddings import Embeddings

from langgraph_rag.arguments import expect_count
from langgraph_rag.normal_forms import UNSPACED
from langgraph_rag.tools.ingest.spans import blocks_of_code, closed

if TYPE_CHECKING:
    from tokenizers import Tokenizer

ASSUMED = 512  # tokens that an embedder reads which does not tell
READ_BY_MINILM = 256  # as in its training
_LONGEST = 50  # characters of a token: a longer one stands for a word that the embedder does not know
_UNSPACED = re.compile(r"\S+")
_GUESSED = re.compile(rf"{UNSPACED.pattern}|[^\W\d_\u0250-\U0010ffff]{{1,5}}|[^\W\d_]{{1,2}}|\d{{1,2}}|[^\w\s]|_")


@dataclass(frozen=True)
class Tokens:
    """The tokens of an embedder.

    Attributes:
        limit: the most tokens of a text that it reads, without those that it adds itself.
        starts: returns where in a text its tokens start, in order.
        exact: whether they are those of its tokenizer, and not an estimate.
    """

    limit: int
    starts: Callable[[str], Sequence[int]]
    exact: bool = True

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return len(self.starts(text))


def _estimated(text: str) -> list[int]:
    """Estimate tokens: five Latin letters, two others, two digits, a mark, or a character of Chinese are one."""
    return [found.start() for found in _GUESSED.finditer(text)]


ESTIMATED = Tokens(ASSUMED, _estimated, exact=False)


def tokens_of(embeddings: Embeddings) -> Tokens:
    """Return the tokens of an embedder: those that it tells itself, or those of the model in it, or an estimate."""
    own = getattr(embeddings, "tokens", None)
    if isinstance(own, Tokens):
        return own
    model = getattr(embeddings, "_client", None) or getattr(embeddings, "client", None)  # LangChain's keep it so
    return tokens_of_model(model) if hasattr(model, "max_seq_length") else ESTIMATED


def tokens_of_model(model: Any, prefix: str = "") -> Tokens:
    """Return the tokens of a sentence-transformers model, of which the prefix of all passages takes some."""
    limit = model.max_seq_length
    return tokens_of_tokenizer(model.tokenizer, limit if isinstance(limit, int) else ASSUMED, prefix)


def tokens_of_tokenizer(tokenizer: Any, limit: int, prefix: str = "") -> Tokens:
    """Return the tokens of a tokenizer for a model that reads `limit` tokens with its own ones."""
    from tokenizers import Tokenizer  # here, as embedders elsewhere need none

    fast = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if isinstance(fast, Tokenizer):
        starts, special = _starts_of(fast), fast.num_special_tokens_to_add(is_pair=False)
    elif hasattr(tokenizer, "tokenize"):
        starts, special = _starts_of_words(tokenizer), 2
    else:
        return ESTIMATED
    return Tokens(max(1, limit - special - len(starts(prefix))), starts)


def _starts_of(tokenizer: "Tokenizer") -> Callable[[str], list[int]]:
    own = type(tokenizer).from_str(tokenizer.to_str())  # the given one truncates, and may be in use in another thread
    own.no_truncation()
    own.no_padding()

    def starts(text: str) -> list[int]:
        offsets = own.encode(text, add_special_tokens=False).offsets
        return [part for start, end in offsets for part in range(start, max(end, start + 1), _LONGEST)]

    return starts


def _starts_of_words(tokenizer: Any) -> Callable[[str], list[int]]:
    """Count word by word, as the tokenizer does not tell where tokens start."""
    return lambda text: [word.start() for word in _UNSPACED.finditer(text) for _ in tokenizer.tokenize(word[0])]


LARGEST_BATCH = 128
_TOKENS_PER_BATCH = 2_048  # about a dozen passages, or hundreds of triples
_FEW_TOKENS = 256  # batches of 128 or 512 tokens take longer for each token


def of_like_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Divide texts into large batches for a GPU, short texts first."""
    by_length = _by_length(lengths)
    for start in range(0, len(by_length), LARGEST_BATCH):
        yield by_length[start : start + LARGEST_BATCH]


def of_one_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Divide texts into batches of one length, for models that pad."""
    for length, alike in groupby(_by_length(lengths), key=lengths.__getitem__):
        positions = list(alike)
        size = max(1, min(LARGEST_BATCH, _TOKENS_PER_BATCH // length))
        for start in range(0, len(positions), size):
            yield positions[start : start + size]


def of_few_tokens(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Divide texts into batches of at most 256 tokens, or of one text, for models that do not pad."""
    batch, tokens = list[int](), 0
    for position in _by_length(lengths):
        if batch and tokens + lengths[position] > _FEW_TOKENS:
            yield batch
            batch, tokens = [], 0
        batch.append(position)
        tokens += lengths[position]
    if batch:
        yield batch


def _by_length(lengths: Sequence[int]) -> list[int]:
    return sorted(range(len(lengths)), key=lengths.__getitem__)


_DAY = r"(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}[ -][A-Z][a-z]{2}[ -]\d{2,4}),?[ \t]{1,3}"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?(?: ?[AaPp]\.?[Mm]\.?)?"
_SPAN = r"\d{1,3} (?:hour|minute|second)s?(?: \d{1,2} (?:minute|second)s?){0,2}"  # in Teams
_TIME = rf"[\[(]?(?:{_DAY})?{_CLOCK}(?:[ \t]*(?:-->|[-\u2013])[ \t]*{_CLOCK})?[\])]?"
_IN_NAME = r"[^\s:\uff1a\u2014*,;=<>|\[\](){}\"]"
_NAME = rf"[^\W\d_]{_IN_NAME}{{0,29}}(?:[ \t]{_IN_NAME}{{1,29}}){{0,5}}"
_SPOKEN = re.compile(
    rf"^[ \t]*(?:>[ \t]?)*(?:{_TIME}[ \t]*(?:[-\u2013][ \t]*)?)?(?:\*\*|__|\[)?(?P<who>{_NAME})"
    rf"(?:[ \t]*(?:{_TIME}|\([^()\n]{{1,40}}\)))?(?:\*\*|__|\])?(?:[ \t]?:(?:\*\*|__)?(?=[ \t]|$)|\uff1a)",
    re.MULTILINE,
)
_ASKED = re.compile(r"^[ \t]*(?P<who>Q|A|THE COURT|THE WITNESS)(?:[.:](?=[ \t])|(?=[ \t]{2,9}\S|\t\S))", re.MULTILINE)
_NAMED = re.compile(
    rf"^[ \t]*(?:{_TIME}[ \t]+(?P<after>{_NAME})"
    rf"|(?:\*\*|\[)?(?P<who>{_NAME})(?:\*\*|\])?"
    rf"(?:[ \t]{{0,9}}[,|\u2014\u2013-]?[ \t]{{1,9}}(?:\w{{1,12}} at )?|[ \t]{{0,9}}\n{{1,2}}[ \t]{{0,9}})"
    rf"(?:{_TIME}|{_SPAN}))[ \t]*$",
    re.MULTILINE,
)
_DASHED = re.compile(rf"^(?P<who>{_NAME})[ \t][\u2014\u2013-](?=[ \t]\S)", re.MULTILINE)
_PLAYED = re.compile(
    r"^[ \t]{0,9}(?:(?:Mr|Mrs|Ms|Dr)\.? |The )?(?P<who>(?:[^\W\d_a-z][^\Wa-z]{0,19}[ ']?){1,4})"
    r"(?: of [A-Z][\w ]{1,30})?\.(?=[ \t]+\S)",
    re.MULTILINE,
)
_BOLD = r"(?:\*{1,2})?"
_SENT = re.compile(
    rf"^(?P<label>(?:>[ \t]?)*{_BOLD}(?P<who>From|Von|De|Da){_BOLD}:{_BOLD} .{{1,200}})\n(?:.{{0,300}}\n){{0,5}}?"
    rf"(?:>[ \t]?)*{_BOLD}"
    r"(?:To|Date|Sent|Subject|Cc|An|Datum|Gesendet|Betreff|\u00c0|Objet|Envoy\u00e9|Para|Asunto|Oggetto)"
    rf"{_BOLD}:{_BOLD} ",
    re.MULTILINE,
)
_WROTE = r"(?:wrote|schrieb|a \u00e9crit|escribi\u00f3|ha scritto)"
_QUOTED = re.compile(
    r"^(?P<label>(?:>[ \t]?|  )*(?P<who>(?:On|Am|Le|El|Il) .{5,150}(?:\n(?:>[ \t]?)*.{0,100})?"
    rf"{_WROTE}(?:(?<=schrieb).{{0,60}})?"
    rf"|[^\W\d].{{1,80}} {_WROTE}(?: (?:on|am|le) .{{5,60}})?(?=:\n\n?[ \t]*>)))\s?:$",
    re.MULTILINE,
)
_CHATTED = re.compile(  # in IRC
    rf"^(?:(?:{_TIME}[ \t]+)?<[@+%~&]?(?P<who>[^\s<>/]{{1,30}})>(?= )"
    rf"|{_TIME}(?:[ ]?\t[ ]?(?P<tabbed>[@+%~&]?[^\W\d][^\t\n]{{0,29}})\t"
    r"|[ \t]{0,3}\|[ \t]{0,3}(?P<barred>[@+%~&]?[^\W\d][^|\n]{0,29})\|)(?=[ \t]{0,3}\S))",
    re.MULTILINE,
)
_SCREENED = re.compile(  # above what is said, in a screenplay
    r"^[ \t]{0,40}(?P<who>(?:[^\W\d_a-z][^\Wa-z]{0,19}[ ']?){1,4})(?:[ ]?\([^()\n]{1,20}\))?[ \t]{0,9}\n"
    r"(?=[ \t]{0,40}\S.*[a-z])",
    re.MULTILINE,
)
_VOICED = re.compile(r"^(?P<label><v(?:\.\S{1,30})?[ \t](?P<who>[^<>\n]{1,60})>)", re.MULTILINE)  # in WebVTT
_OF_MAILS = re.compile(
    r"(?:From|Sent|To|Subject|Cc|Bcc|Date|Von|Gesendet|An|Betreff|Datum|De|\u00c0|Objet|Envoy\u00e9|Para|Asunto)"
)
_ACCOUNT = re.compile(r"[a-z][\w.-]{1,29}(?:#\d{4})?")  # "ada.moss"
_ROLES = frozenset("agent ai assistant bot customer guest host human interviewee interviewer moderator user".split())
_AROUND_NAME = re.compile(r"^From |(?<=\w) to [A-Z].*$| said$")  # in chats of Zoom, and what is copied from a chat page
_MARKS_OF_QUOTE = re.compile(r"(?:[ \t]{0,3}>)+|(?:  )*")  # or quotes of a page, which are indented
_FEWEST = 3  # turns of a transcript, of two speakers, one of whom speaks again
_SHORT = 3  # letters of a word such as "van"
_MANY = 0.4  # of its paragraphs or lines: they begin a turn
_CUE = r"(?:(?:\d{1,6}\n)?[\d:.,]{5,12} --> [^\n]*\n)?"  # above each subtitle
_LINES = re.compile(rf"{_CUE}(\S[^\n]*(?:\n[^\n]*\S[^\n]*)*)")


class Turn(NamedTuple):
    """Where a turn begins, and the words that tell whose it is."""

    start: int
    label: str
    who: str


def turns_of(text: str) -> dict[int, str]:
    """Return the labels of turns by the places of the lines that begin with them; none in a text of another kind.

    Where a mail goes on behind what it quotes, a line begins a turn whose label stands further above.
    """
    sent, quoted, voiced = (
        [Turn(found.start(), found["label"], found["who"]) for found in kind.finditer(text)]
        for kind in (_SENT, _QUOTED, _VOICED)
    )
    turns = sent + quoted + voiced
    for kind in (_SPOKEN, _ASKED, _NAMED, _CHATTED, _PLAYED, _DASHED, _SCREENED):
        named = (
            Turn(found.start(), found[0].strip(), _AROUND_NAME.sub("", found[found.lastgroup or 0]))
            for found in kind.finditer(text)
        )
        spoken = [
            turn
            for turn in named
            if kind is _CHATTED or _is_name(turn.who) or kind is _NAMED and _ACCOUNT.fullmatch(turn.who)
        ]
        if _is_transcript(text, spoken):
            turns += spoken
            break
    labels = {turn.start: turn.label for turn in turns}
    return dict(sorted({**dict(_of_mails(text, sent, quoted)), **labels}.items())) if quoted else labels


def _of_mails(text: str, sent: Sequence[Turn], quoted: Sequence[Turn]) -> Iterator[tuple[int, str]]:
    """Yield the places of lines whose writer is another one than that of the line above, each with who it is."""
    heads = {turn.start: turn.label for turn in sent}
    attributions = {turn.start: turn.label for turn in quoted}
    writers = dict[int, str]()  # by the number of marks before their lines
    writer, attributed, within, begun = "", "", 0, -1
    for line in re.finditer(r"^.+$", text, re.MULTILINE):
        marks = _MARKS_OF_QUOTE.match(line[0])
        depth = marks[0].count(">") or len(marks[0]) // 2 if marks else 0
        if line.start() in heads:
            writers = {above: label for above, label in writers.items() if above < depth}
            writer = writers[depth] = heads[line.start()]
        elif line.start() in attributions:
            attributed = writer = attributions[line.start()]
            within, begun = depth, line.start() + len(attributed)
        elif line[0].strip(" \t>") and line.start() > begun:
            if attributed:  # it has marks before it, or it is all that follows
                writers[depth if depth > within else within] = attributed
                attributed = ""
            if writers.get(depth, "") != writer:
                writer = writers.get(depth, "")
                yield line.start(), writer


def _is_name(who: str) -> bool:
    """Return whether words are written like a name: "Ada Moss", "Speaker 1", "Prof. de Vries"."""
    return who.lower() in _ROLES or (
        not _OF_MAILS.fullmatch(who)
        and all(not word[0].islower() or len(word) <= _SHORT for word in who.split())
        and not who[0].islower()
    )


def _is_transcript(text: str, turns: list[Turn]) -> bool:
    speakers = Counter(turn.who for turn in turns)
    if len(turns) < _FEWEST or len(speakers) < 2 or max(speakers.values()) < 2:
        return False
    places = {turn.start for turn in turns}
    paragraphs = [found.start(1) for found in _LINES.finditer(text)]
    beginning = sum(text.rfind("\n", 0, start) + 1 in places for start in paragraphs)
    others = sum(turn.label.count("\n\n") for turn in turns)  # such as the time below a name
    return beginning >= _MANY * (len(paragraphs) - others) or len(turns) >= _MANY * (text.count("\n") + 1)


VERSION = 4  # of the rules below: a knowledge base that was split by others is split anew when it is updated

_PARAGRAPH, _ITEM, _ROW, _WITHIN = 1.0, 2.0, 2.0, 3.0  # the cost of a cut before such
_SENTENCE, _BLOCK_OF_CODE, _LINE_OF_CODE = 6.0, 5.0, 10.0
_SENTENCE_OF_ITEM = 30.0
_WORD = 60.0
_STUCK = 100.0  # after a heading, a term, or a line that leads in
_UNFILLED = 8.0  # the cost of an empty part; of a part that is filled by half, a quarter of it
_ENOUGH_AT_END = 1 / 4  # of the last part: more text at the end of a document changes no other part
_LONGEST_LEAD = 1 / 3  # of a part: a longer term or row of heads is not repeated
_LONGEST_HEADING = 100  # characters
_PIECES = 8  # of a part: into pieces of this share, what is longer than a part is cut at spaces
_LEAST = 16  # tokens of a part, also where a title leaves less

_MARKER = re.compile(r"[ \t]*(?:[-*+•‣▪–] |\(?(?:\d{1,3}|[a-zA-Z])[.)] )")
_TABLE_ROW = re.compile(r"[ \t]*(?:\||\+[-=+]{2,})")
_RULE = re.compile(r"[ \t]*[|+][-=+|: ]+$")
_LABEL = re.compile(r"[ \t]*(?:[-*+•] )?[^\s:][^:\n]{0,59}:(?=[ \t]+\S)")
_LEADS_IN = re.compile(r"[:：][\"'”’»*_]*$")
_ENDED = re.compile(r"[.!?…。！？؟।,;][\"'”’»)\]]*$")
_SENTENCE_END = re.compile(r"[.!?…؟।۔][\"'”’»)\]]*\s+(?=[^\sa-z])|[。！？｡][”’」』）]*\s*")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:[^\W\d_]|Dr|Prof|Mr|Mrs|Ms|St|Nr?o?|Figs?|Eqs?|Secs?|Vol|pp?|vs|ca|cf|al|e\.g|i\.e|Gov|Sen|Rep|Rev"
    r"|Gen|Col|Capt|Lt|Sgt|Jr|Sr|Inc|Ltd|Co|Corp|z\.\s?B|bzw|usw)\.\s+$"
)
_FENCE = re.compile(r"[ \t]*(?:- )?(?:`{3,}|~{3,})")
_SPACE = re.compile(r"\s+|\u200b")


@dataclass(frozen=True)
class Splitting:
    """How documents are split: the most tokens of a passage, and how many of them repeat the end of the one before.

    Tokens are those of the embedder. The title, which is embedded with its passage, does not count, but no passage with
    its title is longer than what the embedder reads.

    Raises:
        ValueError: when the size is no whole number of at least 16, or the overlap none from 0 to half the size.
    """

    size: int = 240
    overlap: int = 0

    def __post_init__(self) -> None:
        expect_count(self.size, "size", least=_LEAST)
        expect_count(self.overlap, "overlap", least=0)
        if 2 * self.overlap > self.size:
            raise ValueError(f"overlap must be at most half the size ({self.size} tokens), got {self.overlap}")

    def __str__(self) -> str:
        return f"{self.size} tokens" + (f", {self.overlap} of them again" if self.overlap else "")


def label_of(how: Splitting, limit: str) -> str:
    """Return a label of a way to split texts; `limit` is that of the embedder."""
    return f"{VERSION} {how.size} {how.overlap} {limit}"


def last_splitting(label: str | None) -> Splitting:
    """Return how documents were split last, by its label; the default if none were."""
    _, size, overlap, *_ = (label or f"0 {Splitting.size} {Splitting.overlap}").split()
    return Splitting(int(size), int(overlap))


class _Block(NamedTuple):
    """A paragraph, list item, row of a table or block of code: its place in the text, and the columns before it."""

    start: int
    end: int
    indent: int
    kind: str


class _Atom(NamedTuple):
    """What is not cut without need, the cost of a cut before it, and what a part that begins here repeats."""

    start: int
    end: int
    cost: float
    lead: str = ""


@dataclass(frozen=True)
class Splitter:
    """Splits texts by the tokens of an embedder."""

    tokens: Tokens = ESTIMATED
    how: Splitting = Splitting()

    def __post_init__(self) -> None:
        if self.tokens.exact and self.how.size > self.tokens.limit:
            most = self.tokens.limit
            raise ValueError(f"size must be at most the {most} tokens that the embedder reads, got {self.how.size}")

    @property
    def label(self) -> str:
        """What the parts of a text depend on besides the text."""
        return label_of(self.how, str(self.tokens.limit))

    def split(self, text: str, title: str) -> list[str]:
        """Return the parts of a text, of which each can be embedded whole below the title."""
        limit = self.tokens.limit if self.tokens.exact else max(self.tokens.limit, self.how.size)
        room = max(_LEAST, min(limit - self.tokens.count(f"{title}\n"), self.how.size))
        if len(text) <= room:  # no token is empty
            return [text]
        starts = self.tokens.starts(text)
        if len(starts) <= room:
            return [text]
        return _Cutting(text, starts, self.tokens, room, self.how.overlap).parts()


class _Cutting:
    """The cutting of one text into parts of at most `room` tokens."""

    def __init__(self, text: str, starts: Sequence[int], tokens: Tokens, room: int, overlap: int) -> None:
        self._text, self._starts, self._room, self._overlap = text, starts, room, overlap
        atoms = [piece for atom in _atoms(text) for piece in self._pieces(atom)]
        counts = {lead: tokens.count(lead) + 2 for lead in {atom.lead for atom in atoms}}
        short = {lead: number for lead, number in counts.items() if lead and number <= room * _LONGEST_LEAD}
        self._atoms = [atom if atom.lead in short else atom._replace(lead="") for atom in atoms]
        self._leads = [short.get(atom.lead, 0) for atom in self._atoms]
        self._before = [0, *accumulate(self._count(atom.start, atom.end) for atom in atoms)]  # tokens

    def parts(self) -> list[str]:
        """Return the parts in order."""
        parts = [self._part(*borders) for borders in pairwise(self._cheapest())]
        return [part for part in parts if part.strip()]

    def _part(self, first: int, last: int) -> str:
        begin = first
        while begin and self._before[first] - self._before[begin - 1] <= self._overlap:
            begin -= 1
        part = self._text[self._atoms[begin].start : self._atoms[last - 1].end].rstrip().lstrip("\n")
        lead = self._atoms[begin].lead
        return closed(part if not lead or part.startswith(lead) else f"{lead}\n{part}")

    def _cheapest(self) -> list[int]:
        """Return the atoms with which the parts begin, and the number of all atoms, by dynamic programming."""
        best, previous = [0.0], [0]
        for end in range(1, len(self._atoms) + 1):
            cheapest, at = math.inf, end - 1
            for first in range(end - 1, -1, -1):
                most = self._room - self._overlap if first else self._room
                filled = (self._before[end] - self._before[first] + self._leads[first]) / most
                if filled > 1 and first < end - 1:
                    break
                cut = self._atoms[first].cost if first else 0.0
                enough = 1 if end < len(self._atoms) else _ENOUGH_AT_END
                if (cost := best[first] + cut + _UNFILLED * max(0.0, 1 - filled / enough) ** 2) < cheapest:
                    cheapest, at = cost, first
            best.append(cheapest)
            previous.append(at)
        cuts = [len(self._atoms)]
        while cuts[-1]:
            cuts.append(previous[cuts[-1]])
        return cuts[::-1]

    def _pieces(self, atom: _Atom) -> Iterator[_Atom]:
        """Yield an atom, or if it is long, its pieces: cut at spaces, and where there are none, between tokens."""
        most = max(1, self._room // _PIECES)
        if self._count(atom.start, atom.end) <= self._room // 2:
            yield atom
            return
        spaces = [space.end() for space in _SPACE.finditer(self._text, atom.start, atom.end)]
        start, cost = atom.start, atom.cost
        while start < atom.end:
            end, first = atom.end, bisect_left(self._starts, start) + most
            if first < len(self._starts) and (bound := self._starts[first]) < end:
                before = bisect_right(spaces, bound) - 1
                end = spaces[before] if before >= 0 and spaces[before] > start else bound
            yield _Atom(start, end, cost, atom.lead)
            start, cost = end, _WORD

    def _count(self, start: int, end: int) -> int:
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)


def _atoms(text: str) -> Iterator[_Atom]:
    """Yield the atoms of a text, in order."""
    turns = turns_of(text)
    blocks = list(_blocks(text, turns))
    turn = ""  # whose it is
    above: list[_Block] = []  # those that the present one belongs to, by its indent
    heads = ""  # of the present table
    for number, block in enumerate(blocks):
        before = blocks[number - 1] if number else block
        while above and above[-1].indent >= block.indent:
            above.pop()
        begins = False
        if block.start in turns:
            turn, above = turns[block.start], []
            begins = text.startswith(turn, block.start)
        goes_on = number and block.kind == before.kind == "row"
        if not goes_on:
            heads = _heads(text, blocks[number : number + 2]) if block.kind == "row" else ""
        terms = [_own(text, term) for term in above if _may_lead(text, term)]
        lead = "\n".join(filter(None, [*terms, heads if goes_on else ""]))
        within = _Atom(block.start, block.end, _cost(text, before, block, bool(terms)), lead)
        for part, atom in enumerate(_atoms_of(text, block, within)):
            yield atom._replace(lead=atom.lead if not turn or begins and not part else _below(turn, lead))
        if block.kind in ("text", "item"):
            above.append(block)


def _below(turn: str, lead: str) -> str:
    return f"{turn}\n{lead}" if lead else turn


def _atoms_of(text: str, block: _Block, whole: _Atom) -> Iterator[_Atom]:
    if block.kind == "row":
        yield whole
        return
    if block.kind == "code":
        yield from _lines_of_code(text, block, whole)
        return
    label = _LABEL.match(text, block.start, block.end)
    lead = "\n".join(filter(None, [whole.lead, label[0] if label else ""]))
    cost = _SENTENCE_OF_ITEM if block.kind == "item" else _SENTENCE
    ends = [end.end() for end in _SENTENCE_END.finditer(text, block.start, block.end) if not _is_abbreviated(text, end)]
    borders = [block.start, *(end for end in ends if end < block.end), block.end]
    for start, end in pairwise(borders):
        yield whole._replace(end=end) if start == block.start else _Atom(start, end, cost, lead)


def _lines_of_code(text: str, block: _Block, whole: _Atom) -> Iterator[_Atom]:
    lines = text[block.start : block.end].splitlines(keepends=True)
    opening = lines[0].rstrip() if _FENCE.match(lines[0]) else ""
    lead = "\n".join(filter(None, [whole.lead, opening]))
    position, cost = block.start, whole.cost
    for number, line in enumerate(lines):
        yield _Atom(position, position + len(line), cost, lead if number else whole.lead)
        position += len(line)
        within = lines[number + 1 : number + 2]
        is_fenced = opening and number in (0, len(lines) - 2)
        cost = _STUCK if is_fenced else _LINE_OF_CODE if within and within[0][0] in " \t)]}" else _BLOCK_OF_CODE


def _is_abbreviated(text: str, end: re.Match[str]) -> bool:
    return _ABBREVIATED.search(text[max(0, end.start() - 10) : end.end()]) is not None


def _blocks(text: str, turns: Container[int] = ()) -> Iterator[_Block]:
    """Yield the blocks of a text, in order; each turn begins a new one."""
    code = {block.start: block.end for block in blocks_of_code(text)}
    position, open_block = 0, None
    while position < len(text):
        if position in code:
            if open_block:
                yield open_block
            yield _Block(position, code[position], _indent(text, position), "code")
            position, open_block = code[position] + 1, None
            continue
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line = text[position:end]
        if not line.strip():
            if open_block:
                yield open_block
            open_block = None
        else:
            indent, kind = _indent(text, position), _kind(line)
            if open_block and kind == "text" and position not in turns and _goes_on(text, open_block, indent):
                open_block = open_block._replace(end=end)
            else:
                if open_block:
                    yield open_block
                open_block = _Block(position, end, indent, kind)
        position = end + 1
    if open_block:
        yield open_block


def _goes_on(text: str, block: _Block, indent: int) -> bool:
    """Return whether a line belongs to the block above it: not if it is the description of a term, or left of it."""
    if block.kind == "row" or indent < block.indent:
        return False
    is_first = "\n" not in text[block.start : block.end]
    return not (
        block.kind == "text"
        and indent > block.indent
        and is_first
        and len(text[block.start : block.end].strip()) <= _LONGEST_HEADING
    )


def _kind(line: str) -> str:
    return "row" if _TABLE_ROW.match(line) else "item" if _MARKER.match(line) else "text"


def _indent(text: str, position: int) -> int:
    line = text[position : position + 200]
    return len(line) - len(line.lstrip(" \t"))


def _own(text: str, block: _Block) -> str:
    return text[block.start : block.end].rstrip()


def _may_lead(text: str, block: _Block) -> bool:
    """Return whether a block is a term, or an item that leads in: what is right of it belongs to it."""
    own = _own(text, block)
    return _is_line(text, block) and (block.kind == "text" or _LEADS_IN.search(own) is not None)


def _is_line(text: str, block: _Block) -> bool:
    """Return whether a block is one line, short enough for a term or a heading."""
    own = _own(text, block).strip()
    return block.kind in ("text", "item") and "\n" not in own and len(own) <= _LONGEST_HEADING


def _heads(text: str, rows: Sequence[_Block]) -> str:
    """Return the first row of a table, with the rule above or below it."""
    first, *second = [_own(text, row) for row in rows]
    with_rule = second and (_RULE.match(second[0]) or _RULE.match(first))
    return f"{first}\n{second[0]}" if with_rule else first


def _cost(text: str, before: _Block, block: _Block, within: bool) -> float:
    """Return the cost of a cut between two blocks."""
    last, own = _own(text, before).strip(), _own(text, block).strip()
    is_line = before.kind == "text" and _is_line(text, before)
    if _LEADS_IN.search(last) or is_line and block.indent > before.indent:
        return _STUCK
    if is_line and not _ENDED.search(last) and len(own) > len(last):
        return _STUCK / 2
    if block.kind == before.kind in ("item", "row"):
        return _ITEM
    return _WITHIN if within or block.kind in ("item", "code") else _PARAGRAPH
