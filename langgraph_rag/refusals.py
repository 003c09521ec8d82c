"""Answers that say that there is no answer."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from langgraph_rag.arguments import expect
from langgraph_rag.normal_forms import normalise

UNANSWERABLE = "unanswerable"
_Places = Sequence[Sequence[str]]

# How refusals begin, in normal form: a word from each place, where bars part those that stand for each other, a bar in
# front says that the place may be empty, and "_" joins words. A "." is the end of the answer.
_TEXTS = (
    "source|sources|passage|passages|document|documents|sentence|sentences|fact|facts|triple|triples|text|texts|"
    "excerpt|excerpts|article|articles|context|background|evidence|information|outline"
)
_GIVEN = "|given|provided|available|numbered|retrieved|above"
_THE_TEXTS = f"|the|these|those|this|any {_GIVEN} {_TEXTS} {_GIVEN}"
_SAY = (
    "say|state|tell|mention|name|specify|indicate|provide|give|contain|include|answer|show|reveal|identify|support|help"
)
_SAYS = f"{_SAY}|says|states|mentions|specifies|indicates|provides|gives|contains|includes|answers|shows|helps"
_HOLD = "contain|contains|provide|provides|give|gives|have|has|hold|holds|offer|offers"
_FURTHER = "|relevant|direct|explicit|specific|new|further|additional|useful|helpful|more|such"
_OPEN = "unknown|unclear|uncertain|undetermined|unanswerable|not_answerable|not_determinable"
_TOLD = "known|clear|given|stated|specified|mentioned|provided|available|indicated|found|answered|determined"
_CANNOT = "cannot|can_not|can_t|could_not|couldn_t"
_FIND_OUT = "answer|determine|infer|identify|establish"
_FOUND_OUT = "answered|determined|inferred|identified|established|said|told|known|found|derived|deduced|concluded"
_DETAILS = "information|info|data|context|facts|details|mention|indication"
_INFORMATION = f"{_DETAILS}|evidence|answer"
_WHERE = (
    "about|on|regarding|concerning|in|from|for|to|which"  # after "no information"; "No information leaked" is a fact
)
_SORRY = (
    "|sorry|i_m_sorry|i_am_sorry|i_apologize|i_apologise|i_m_afraid|i_am_afraid|i_regret|unfortunately|so|thus"
    "|therefore|as_an_ai|as_an_ai_model|as_an_ai_language_model |but|that|no_but"
)
_SOUGHT = "|any|the|an|a answer|mention|information|evidence|indication|details|reference"
_WANTED = "question|questions|query|queries|information|retrieval|search"


def _by_first_word(beginnings: Iterable[str]) -> dict[str, list[_Places]]:
    found: defaultdict[str, list[_Places]] = defaultdict(list)
    for beginning in beginnings:
        places = [[word.replace("_", " ") for word in place.split("|")] for place in beginning.split(" ")]
        for first in dict.fromkeys(_first_words(places)):
            found[first].append(places)
    return dict(found)


def _first_words(places: _Places) -> Iterator[str]:
    for place in places:
        yield from (word.partition(" ")[0] for word in place if word)
        if "" not in place:
            return


_TOLD_SO = (
    "none|null|nil|n_a|not_applicable|unknown|unclear|uncertain|undetermined|unspecified .",
    "unknown based on",
    f"unknown|unclear from|in {_THE_TEXTS}",
    "answer unknown|unanswerable|not_answerable|none .",
    f"none |is|are {_TOLD} .|in|by|anywhere",
    "unanswerable|not_answerable|not_determinable",
    f"it|this|the_answer|the_question|this_question is|s {_OPEN}",
    f"it|the_answer is|s|isn not|t {_TOLD}",
    f"not |explicitly|directly|clearly {_TOLD} .|in|by|anywhere|explicitly|directly|clearly",
    f"|the information|data|answer |is not {_TOLD} .|in|by|anywhere",
    f"|it_is|it_s|the_answer_is not_in|not_found_in {_THE_TEXTS}",
    f"it|the_answer isn_t in {_THE_TEXTS}",
    f"|it|this|the_answer|an_answer|the_question|this_question {_CANNOT} be {_FOUND_OUT}",
    f"|i|we {_CANNOT} {_FIND_OUT}",
    "i|we have no information|evidence|context|data .|on|about|regarding|to|from|in",
    "|i|we cannot|can_not say|tell|find",
    f"i|we {_CANNOT} find {_SOUGHT} in|from|about|of|on|to|for|regarding|that|which|.",
    "|i|we can_t say|tell .",
    f"|i_am|i_m|i_was|we_are|we_were unable to say|tell|find|{_FIND_OUT}",
    f"|it_is|it_s not_possible|impossible to say|tell|know|{_FIND_OUT}",
    "i|we do_not|don_t know .|who|whom|whose|which|what|when|where|whether|if|the|this|that|from|based",
    "|i_am|i_m|we_are unsure|uncertain|not_sure .|who|whom|whose|which|what|when|where|whether|if|about|from|based",
    f"i|we do_not|don_t have any|enough|sufficient {_FURTHER} {_INFORMATION}",
    f"|there_is|there_s not_enough|not_sufficient {_FURTHER} {_INFORMATION}",
    f"|there_is|there_s insufficient {_FURTHER} {_DETAILS}",
    f"|there_is|there_s insufficient {_FURTHER} evidence to {_SAY}|determine|conclude|{_FIND_OUT}",
    f"|there_is|there_s insufficient {_FURTHER} evidence |is in|from {_THE_TEXTS}",
    "|there_is|there_s no answer",
    f"|there_is|there_s no {_FURTHER} {_DETAILS} .|of|that|{_WHERE}|{_TOLD}",
    f"|there_is|there_s no {_FURTHER} evidence .|of_that|of_this|of_it|{_WHERE}|{_TOLD}",
    f"no {_FURTHER} {_DETAILS}|evidence is|are|was|were |explicitly|directly {_TOLD}",
    f"there_isn_t enough|sufficient|any {_FURTHER} {_INFORMATION}",
    "more|missing information|details|context .",
    "|further|more|additional information|details|context|research|documents is|are needed|required|necessary",
    f"{_THE_TEXTS} is|are insufficient|inadequate|irrelevant|not_sufficient|not_enough|not_relevant|not_helpful",
    f"{_THE_TEXTS} isn|aren t sufficient|enough",
    f"{_THE_TEXTS} say|says|tell|tells|mention|mentions nothing",
    f"neither |of_the|of_these {_TEXTS} {_SAYS}",
    f"{_THE_TEXTS} do|does|don|doesn|did|didn not|t |explicitly|directly {_SAY}",
    f"{_THE_TEXTS} {_HOLD} no|nothing {_FURTHER} {_INFORMATION}|.",
    f"{_THE_TEXTS} make|makes no mention",
    f"{_THE_TEXTS} i|we was|were|am|are given|shown do|does|don|doesn not|t |explicitly|directly {_SAY}",
    f"|the|this|that|such|an information|answer is not available|present|contained|included in {_THE_TEXTS}",
    "|the available evidence does not allow|permit",
    f"no {_FURTHER} {_TEXTS} {_SAYS}",
    f"none|nothing of|in {_THE_TEXTS} {_SAYS}",
    "nothing relevant|useful|helpful|new |was |found .",
    "nothing |was found|helps .",
    "nothing is|was said|stated|told|mentioned|given|known|found .|about|of|on|regarding|in",
)
_BEGINNINGS = _by_first_word(
    (
        ".",
        *(f"{_SORRY} {told}" for told in _TOLD_SO),
        *(f"based_on|according_to|from|in|after_reviewing|having_read |all {_THE_TEXTS} {told}" for told in _TOLD_SO),
    )
)
_NO_QUESTION = _by_first_word(
    (
        f"no |new|next|further|more|additional|other|follow_up {_WANTED}",
        "|none|nothing |more|further|else |is not|no|none needed|required|necessary|applicable",
        "none|nothing |more|further|else |is needed|required|necessary|missing|.",
        "no|done|complete|finished|answered .",
        "the_answer is",
        "the_question|question|it can_be|has_been|is|was answered",
        "|the|all|these kept|known|given|found facts answer|suffice",
        "|the|all |kept|known|given facts|information|evidence|question is|are enough|sufficient|complete|answered",
    )
)
_IN_OTHER_LANGUAGES = frozenset(
    normalise(text)
    for text in re.findall(
        "[^,\n]+",
        """
unbekannt, nicht bekannt, nicht beantwortbar, keine Antwort, keine Angabe, keine Angaben
inconnu, inconnue, sans réponse, pas de réponse, non précisé, non précisée
desconocido, desconocida, sin respuesta, no se sabe, desconhecido, desconhecida, sem resposta
sconosciuto, sconosciuta, non noto, senza risposta, necunoscut, onbekend, geen antwoord
okänt, inget svar, ukjent, ukendt, tuntematon, nieznane, nieznany, brak odpowiedzi, brak danych, neznámé, neznámo
ismeretlen, bilinmiyor, cevapsız, неизвестно, нет ответа, невідомо, немає відповіді, άγνωστο, άγνωστος
غير معروف, مجهول, لا توجد إجابة, لا جواب, نامشخص, לא ידוע, אין תשובה, अज्ञात, पता नहीं
ไม่ทราบ, không rõ, không biết, tidak diketahui
无法回答, 無法回答, 无法确定, 無法確定, 不知道, 未知, 不明, わかりません, 分かりません, 回答不能, 回答できません
알 수 없음, 알 수 없습니다, 모름, 답변 불가
""",
    )
)
"""Answers that mean "unknown" or "no answer"; some models translate the word that they are told to write."""
_BUT = re.compile(r"[\s*_]*unknown[\s*_]*[;:,.\u3002(\u2013\u2014-]", re.IGNORECASE)  # and then what comes closest
_NONE = re.compile(r"[\s*_]*(?:none|no(?!\W*\d))(?:[\s*_]*[;:,.(\u2013\u2014]|\s+-)", re.IGNORECASE)  # and then why
_YES_OR_NO = re.compile(r"^\s*no\s*[;:,.\u2013\u2014]\s*(?=\w)", re.IGNORECASE)
_ONE_CLAUSE = r"(?:(?![,;:]|\b(?:whose|but|and (?:its|his|her|their|it|he|she|they))\b).)+"  # no "Ada, whose age"
_STATED = "given|stated|specified|mentioned|provided"
_IN_THE_TEXTS = (
    rf"(?: (?:in|from) (?:any of )?(?:the|these|those) (?:(?:given|provided|available|numbered) )?(?:{_TEXTS}))"
)
_NOT_TOLD = (
    r"(?:(?:is|are) missing|(?:is|are|was|were) (?:unknown|unspecified"
    rf"|not (?:(?:explicitly|directly|clearly) )?(?:known|found|{_STATED})){_IN_THE_TEXTS}?"
    rf"|(?:(?:cannot|can['’]t|could not) be (?:{_FOUND_OUT})|do(?:es)?(?: not|n['’]t) appear){_IN_THE_TEXTS})"
)
_SENTENCE = re.compile(
    rf"(?:{_ONE_CLAUSE}\b{_NOT_TOLD}|[Nn]o [a-z]{_ONE_CLAUSE}\b(?:is|are|was|were) (?:{_STATED}){_IN_THE_TEXTS})"
    rf"(?:\.?\s*|;.*)|[Tt]he answer is not {_ONE_CLAUSE}",
    re.DOTALL,
)


def is_refusal(answer: str) -> bool:
    """Return whether an answer says that there is none: "unanswerable", "The director of Mill Bridge is unknown.", ...

    It is CIRAG's sufficiency indicator (section 3.4), negated.

    Raises:
        TypeError: when the answer is not a string.
    """
    expect(str, answer, "an answer as a string", 'result["answer"] is one')
    return begins_as_refusal(answer) or _SENTENCE.fullmatch(answer.strip()) is not None


def begins_as_refusal(answer: str) -> bool:
    """Return whether the first words of an answer say that there is none: "unanswerable", "not enough information", ...

    `is_refusal` also recognises sentences that say so at their end. Of other languages, only whole answers are known.
    """
    return (
        _begins_as(_whole(answer), _BEGINNINGS)
        or _BUT.match(_nfkc(answer)) is not None
        or normalise(answer) in _IN_OTHER_LANGUAGES
    )


def may_begin_as_refusal(beginning: str) -> bool:
    """Return whether an answer with this beginning may become one for which `begins_as_refusal` is true."""
    form = normalise(beginning)
    return (
        begins_as_refusal(beginning)
        or _begins_as(_form(beginning), _BEGINNINGS)
        or any(text.startswith(form) for text in _IN_OTHER_LANGUAGES)
    )


def asks_nothing(question: str) -> bool:
    """Return whether a text in place of a question says that there is none: "none", "No question needed."."""
    form = _whole(question)
    says_so = _begins_as(form, _NO_QUESTION) or _begins_as(form, _BEGINNINGS) or _NONE.match(_nfkc(question))
    return "?" not in question and bool(says_so)


def _whole(text: str) -> str:
    """Return the normal form of a complete text, with a "." at the end."""
    return f"{_form(text)} .".strip()


def _form(text: str) -> str:
    """Return the normal form of a text; the answer "No, ..." is distinguished from "no ..."."""
    return normalise(_YES_OR_NO.sub("no but ", _nfkc(text), count=1))


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _begins_as(form: str, beginnings: Mapping[str, Sequence[_Places]]) -> bool:
    first, *more = form.split(" ", 1)
    if not more:
        return any(word.startswith(first) for word in beginnings)
    return any(_begins(form, places) for places in beginnings.get(first, []))


def _begins(form: str, places: _Places) -> bool:
    """Return whether a text begins with a word from each place, or may do so when it is continued."""
    if not places:
        return True
    words = (f"{word} ".lstrip() for word in places[0])
    return any(
        form.startswith(word) and _begins(form[len(word) :], places[1:]) or word.startswith(form) for word in words
    )
