"""Scripted replies to each prompt of the methods, plausible in length and number, without a model.

A reply depends only on the name of the prompt and the text of the request, so that a model in this process and a server
give the same replies. The number of steps depends on the question: two for six questions of ten, three for three, four
for one, like the hops in multi-hop benchmarks.
"""

import asyncio
import json
import re
import zlib
from collections.abc import Callable
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult

from langgraph_rag.prompts.prompt import METADATA_KEY

_KEPT = 3
_QUESTION = re.compile(r"^(?:Q0|(?:Original q|Q)uestion): (.*)$", re.MULTILINE)
_TITLE = re.compile(r"^(?:Title:|#) (.*)\n(?:\d+\. )?(.*?)(?:\. |$)", re.MULTILINE)
_SOURCE = re.compile(r"^\[(\d+)\] (\w+(?: \w+)?)(.*?)(?:\. |$)", re.MULTILINE)
_SENTENCE = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
_NAME = re.compile(r"[A-Z][\w'-]*(?: [A-Z][\w'-]*)*|\d{4}")
_STEP = re.compile(r"^\d+\. ", re.MULTILINE)


class ScriptedModel(BaseChatModel):
    """Gives the scripted replies after a delay."""

    model_name: str = "scripted"
    seconds: float = 0.0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        asked = next(m.response_metadata[METADATA_KEY] for m in messages if METADATA_KEY in m.response_metadata)
        text = reply(asked["prompt"], messages[1].text)
        self.note(asked["prompt"], messages[0].text, messages[1].text, text)
        sent, written = (sum(map(len, texts)) // 4 for texts in ((m.text for m in messages), [text]))
        usage = UsageMetadata(input_tokens=sent, output_tokens=written, total_tokens=sent + written)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text, usage_metadata=usage))])

    def note(self, prompt: str, instructions: str, request: str, reply: str) -> None:
        """Record a call; here it does nothing."""

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        await asyncio.sleep(self.seconds)
        return self._generate(messages)


def reply(prompt: str, request: str) -> str:
    """Return the JSON reply to a request made from a prompt.

    Raises:
        KeyError: when the prompt has no script.
    """
    return json.dumps(_SCRIPTS[prompt](request), ensure_ascii=False)


def hops(question: str) -> int:
    """Return the number of facts that a question needs."""
    share = zlib.crc32(question.encode()) % 10
    return 2 if share < 6 else 3 if share < 9 else 4


def _hops(request: str) -> int:
    return hops(_question(request))


def _question(request: str) -> str:
    found = _QUESTION.search(request)
    return str(found[1]) if found else ""


def _facts(text: str) -> list[list[str]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith('["')]


def _about(request: str, number: int) -> str:
    """Return the name of something in the request, a different one for each number."""
    names: list[str] = [title for title, _ in _TITLE.findall(request)] or [
        title for _, title, _ in _SOURCE.findall(request)
    ]
    names = names or re.findall(r"[A-Z]\w+(?: [A-Z]\w+)*", _question(request)) or ["it"]
    return names[number % len(names)]


def _integrate(request: str) -> dict[str, Any]:
    facts = _facts(request.rpartition("Candidate facts:")[2])[:_KEPT]
    step = 1 + len(re.findall(r"^Step \d+$", request, re.MULTILINE))
    if step >= _hops(request) or not facts:
        thought = "The kept facts and these together name what was asked for, so the question can be answered now."
        return {"thought": thought, "facts": facts, "question": None}
    thought = f"These facts tell what {facts[0][0]} is connected with. What is still missing is what {facts[0][2]} is."
    return {"thought": thought, "facts": facts, "question": f"What is known about {facts[0][2]}?"}


def _refuse(request: str) -> dict[str, Any]:
    thought = f"The facts tell something of {_about(request, 0)}, but they do not state what the question asks for."
    return {"thought": thought, "answer": "unanswerable"}


def _answer(request: str) -> dict[str, Any]:
    first, second = _about(request, 0), _about(request, 1)
    thought = f"The question depends on {first}. It is stated that {first} goes with {second}. So it is {second}."
    return {"thought": thought, "answer": second}


def _answer_or_look_up(request: str) -> dict[str, Any]:
    """Look up what is missing once or twice, as long as the question needs, and cite two sentences each time."""
    first, second = _about(request, 0), _about(request, 1)
    cited = [int(number) for number, _ in _SENTENCE.findall(request)[:4:3]]
    looked_up = request.rpartition("\nLooked up: ")[2] if "\nLooked up: " in request else ""
    if _hops(request) > 2 + looked_up.count('", "') and "Nothing more can be looked up." not in request:
        thought = f"It is known that {first} goes with {second}. What {second} is connected with is missing."
        return {"thought": thought, "sentences": cited, "missing": [f"{second} connection"], "answer": "unanswerable"}
    return {**_answer(request), "sentences": cited, "missing": []}


def _construct_chain(request: str) -> dict[str, Any]:
    listed, _, chain = request.partition("Chain so far:")
    taken = _facts(chain)
    left = [fact for fact in _facts(listed) if fact not in taken]
    if len(taken) >= _hops(request) or not left:
        return {"chain": [], "conclusion": f"So the answer is {taken[-1][2] if taken else 'not known'}."}
    proposed = left[: _hops(request) - len(taken)]
    return {"chain": proposed, "conclusion": f"What leads on from {proposed[-1][2]} to the answer is missing."}


def _next_thought(request: str) -> dict[str, Any]:
    number = len(request.rpartition("Reasoning so far:\n")[2].replace("(none yet)", "").splitlines())
    if number >= _hops(request):
        return {"sentence": f"So the answer is: {_about(request, number)}."}
    return {"sentence": f"{_about(request, number)} is connected with {_about(request, number + 1)} as it was asked."}


def _reason(request: str) -> dict[str, Any]:
    number = len(_STEP.findall(request.rpartition("Reasoning so far:")[2]))
    found = re.findall(r"^\[(.+)\]$", request, re.MULTILINE) or [_about(request, 0)]
    if number < _hops(request):
        thought = f"It is known what {found[-1]} is, but not what it is connected with; that has to be looked up next."
        return {"thought": f"{thought} Then the two can be compared.", "needs_retrieval": True}
    thought = (
        f"It was found what {found[0]} is and what {found[-1]} is. Taken together this gives the answer: {found[-1]}."
    )
    return {"thought": thought, "needs_retrieval": False}


def _identify_entities(request: str) -> dict[str, Any]:
    number = len(_STEP.findall(request.rpartition("Reasoning so far:")[2]))
    names = list(dict.fromkeys([_about(request, number), _about(request, number + 1)]))
    asked = [{"entity": name, "queries": [f"{name} origin", f"What is {name} connected with"]} for name in names]
    return {"entities": asked[: 1 + (number == 1)]}


def _summarize(request: str) -> dict[str, Any]:
    told = [sentence for _, sentence in _TITLE.findall(request)][:_KEPT]
    return {"summary": ". ".join(told) + "."}


def _reason_and_look_up(request: str) -> dict[str, Any]:
    said = _reason(request)
    return said | (_identify_entities(request) if said["needs_retrieval"] else {"answer": _about(request, 0)})


def _take_notes(request: str) -> dict[str, Any]:
    return {"notes": [{"entity": _about(request, 0), **_summarize(request)}]}


def _decompose(request: str) -> dict[str, Any]:
    name = _about(request, 0)
    thought = f"First it has to be found out what {name} is, then what it is connected with, and from that the answer."
    asked = [f"What is {name} connected with, part {number}?" for number in range(1, _hops(request))]
    return {"thought": thought, "subqueries": asked}


def _extract_evidence(request: str) -> dict[str, Any]:
    sentences = _SENTENCE.findall(request)[:: max(1, len(_SENTENCE.findall(request)) // _KEPT)][:_KEPT]
    evidence = [
        f"{number} | {place if place < 3 else ''} | 0 | {'; '.join(_NAME.findall(text)[:_KEPT])}"
        for place, (number, text) in enumerate(sentences, start=1)
    ]
    thought = f"Sentence {sentences[0][0]} names {_about(request, 0)}, which answers Q1 and leads to Q0. "
    return {
        "thought": f"{thought}The others tell what it is connected with. What is asked is now known.",
        "evidence": evidence,
    }


def _plan(request: str) -> dict[str, Any]:
    name, number = _about(request, 0), _hops(request)
    asked = ("Who or what", "Which place or work", "Which year or event")[: number - 1]
    steps = [
        {"thought": "find what it leads to", "question": f"{what} is {known} connected with?", "action": "retrieve"}
        for what, known in zip(asked, (name, "#1", "#2"), strict=False)
    ]
    last = f"{_question(request)} (#{number - 1})"
    return {"steps": [*steps, {"thought": "answer", "question": last, "action": "retrieve"}]}


def _act(request: str) -> dict[str, Any]:
    number, title, text = (_SOURCE.findall(request) or [("1", "it", "nothing is known")])[0]
    return {"answer": f"{title} is what is asked for, since {text[:80]} [{number}].", "short": title}


def _review(request: str) -> dict[str, Any]:
    """Pass nine of ten and doubt one, regardless of the background; a question that resolves a doubt passes."""
    if zlib.crc32(_question(request).encode()) % 10 == 0 and "more precisely" not in request:
        asked = f"What is {_about(request, 0)} more precisely?"
        return {"status": "UNCONFIDENT", "question": asked}
    return {"status": "PASS"}


def _refine(request: str) -> dict[str, Any]:
    return {"question": request.rpartition("Next question: ")[2]}


def _extract_facts(request: str) -> dict[str, Any]:
    """State nine facts of each passage, as many as GPT-3.5 found in those of MuSiQue."""
    numbered = enumerate(request.split("\n\n"), start=1)
    return {"passages": [{"passage": number, "facts": _facts_of(passage)} for number, passage in numbered]}


def _facts_of(passage: str) -> list[list[str]]:
    title = passage.split("\n")[0].partition(": ")[2]
    told = [(number, name) for number, text in _SENTENCE.findall(passage) for name in _NAME.findall(text)]
    return [[number, title, "is connected with", name] for number, name in told[:9]]


_SCRIPTS: dict[str, Callable[[str], dict[str, Any]]] = {
    "answer_or_look_up": _answer_or_look_up,
    "extract_facts": _extract_facts,
    "integrate": _integrate,
    "integrate_as_published": _integrate,
    "integrate_with_sentences": _integrate,
    "answer_from_triples": _refuse,
    "answer_from_sentences": _answer,
    "answer_from_passages": _answer,
    "answer_from_chain": _answer,
    "construct_chain": _construct_chain,
    "next_thought": _next_thought,
    "reason": _reason,
    "identify_entities": _identify_entities,
    "summarize": _summarize,
    "reason_and_look_up": _reason_and_look_up,
    "take_notes": _take_notes,
    "answer_from_outline": _answer,
    "decompose": _decompose,
    "extract_evidence": _extract_evidence,
    "extract_and_go_on": _extract_evidence,
    "plan": _plan,
    "act": _act,
    "plan_in_order": _plan,
    "act_in_order": _act,
    "plan_anew": lambda _: {"steps": []},
    "review": _review,
    "refine": _refine,
    "answer_from_trajectories": _answer,
}
