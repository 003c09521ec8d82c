"""`ask`: parses realistic replies, tells models what was wrong, counts the cost, and limits concurrent calls."""

import asyncio
import json
import os
import re
import threading
from asyncio import CancelledError
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from enum import Enum
from typing import Any
from urllib.error import URLError

import httpx
import pytest
from fakes import ScriptedModel
from langchain_core.exceptions import ModelAuthenticationError, ModelConnectionError, ModelRateLimitError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, SystemMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy
from pydantic import Field, SecretStr
from typing_extensions import TypedDict

from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.concurrency.tasks import Gate
from langgraph_rag.context import Context
from langgraph_rag.errors import (
    BudgetReachedError,
    KnowledgeBaseError,
    ModelAccessError,
    ModelCallError,
    ModelOutputError,
    RequestRefusedError,
    VectorServerError,
    retry_on,
)
from langgraph_rag.graphs.native_rag import create_native_rag
from langgraph_rag.llm import ask
from langgraph_rag.metering import count_dropped, metered
from langgraph_rag.models.bindings import model_name
from langgraph_rag.models.replies import MAX_REPLY_CHARS, read_reply, without_reasoning
from langgraph_rag.models.sending import pauses
from langgraph_rag.prompts.answering import ANSWER_FROM_TRIPLES, Answer
from langgraph_rag.prompts.kirag import ChainOfTexts
from langgraph_rag.prompts.mgranrag import EXTRACT_EVIDENCE
from langgraph_rag.prompts.prompt import METADATA_KEY, Prompt, PromptReply, TripleReplies
from langgraph_rag.tools.knowledge_base import KnowledgeBase


class Facts(PromptReply):
    triples: TripleReplies
    useful_in_part = True


CHAIN = Prompt(name="facts", instructions="List facts.", request="Ada lives in Ost.", reply=Facts)


class City(PromptReply):
    name: str
    inhabitants: int
    twins: list[list[str]] = []


CITY = Prompt(
    name="city",
    instructions='Say which city it is. Reply with {"name": ..., "inhabitants": ...}',
    request="Text: {text}\nLimits: {limits}",
    reply=City,
    show={"limits": lambda limits: " to ".join(map(str, limits))},
)
GOOD = '{"name": "Kell", "inhabitants": 4200}'
ORSBY = '{"name": "Orsby", "inhabitants": 1}'
KELL = City(name="Kell", inhabitants=4200)


async def ask_city(model: Any) -> City:
    return await ask(model, CITY, text="Kell {is} a city.", limits=[1, 9])


# --- reading replies -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\n\n  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"Sure! Here it is:\n{GOOD}\nLet me know {{if}} you need more :-}}",
        f'<think>Maybe {{"name": "Orsby", "inhabitants": 1}}? No.</think>{GOOD}',
        f"<THINKING>a\nb</THINKING>\n\n<reasoning>c</reasoning>{GOOD}",
        f'Maybe {{"name": "Orsby", "inhabitants": 1}}? No.\n</think>\n\n{GOOD}',
        f"<thought>Maybe {ORSBY}? No.</thought>{GOOD}",
        f"[THINK]Maybe {ORSBY}? No.[/THINK]{GOOD}",
        f"analysisMaybe {ORSBY}? No.assistantfinal{GOOD}",
        f"<|START_THINKING|>Maybe {ORSBY}? No.<|END_THINKING|>{GOOD}",
        f"◁think▷Maybe {ORSBY}? No.◁/think▷{GOOD}",
        f"<seed:think>Maybe {ORSBY}? No.</seed:think>{GOOD}",
        f"Maybe {ORSBY}? No.[/THINK]{GOOD}",
        f"<|channel|>analysis<|message|>Maybe {ORSBY}?<|end|><|start|>assistant<|channel|>final<|message|>{GOOD}",
        f"Maybe {ORSBY}? No.<|channel|>final <|constrain|>json<|message|>{GOOD}",
        f"<think>Not <reasoning>.</reasoning></think>{GOOD}",
        f"{ORSBY} is a draft, but no.</think>{GOOD}",
        f"Hm. <think>a</think><think>b</think>{{so {ORSBY}}}? No.</think>{GOOD}",
        "{'name': 'Kell', 'inhabitants': 4200}",
        "Reply: {'name': 'Kell', 'inhabitants': 4200, 'twins': []}",
        "{name: Kell, inhabitants: 4200}",
        '{"Name": "Kell", "INHABITANTS": 4200, "Twins": "[]"}',
        '{"name": "Kell" "inhabitants": 4200, "twins": []],}',
        '{{"name": "Kell", "inhabitants": 4200}}',
        '{"reply" {"name": "Kell", "inhabitants": 4200}}',
        f'{{"name": "Kell"}} is too little, so {GOOD}',
        '{"name": "  Kell ", "inhabitants": "4200", "mood": {"is": ["good"]}}',
        '{"name": "Kell", "inhabitants": 4200, "twins": []} {"name": "Orsby", "inhabitants": 1}',
        f'{{"inhabitants": {"1" * 5_000}}} {GOOD}',
    ],
)
def test_the_object_is_found_in_whatever_surrounds_it(text: str) -> None:
    assert read_reply(text, City) == KELL


def test_nested_braces_and_raw_line_breaks_in_strings_are_read() -> None:
    text = '{"name": "Kell {the \n old}", "inhabitants": 1, "twins": [["}{", "is", "a face"]]}'

    assert read_reply(text, City) == City(name="Kell {the \n old}", inhabitants=1, twins=[["}{", "is", "a face"]])


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (r'"$\alpha$-Kell"', r"$\alpha$-Kell"),
        ('"Kell, once "Old Kell", now"', 'Kell, once "Old Kell", now'),
        ("'Kell's'", "Kell's"),
        ("4,200", "4,200"),
        ("'<think>'", "<think>"),
    ],
)
def test_what_is_no_json_is_read_as_it_was_meant(written: str, name: str) -> None:
    assert read_reply(f'{{"name": {written}, "inhabitants": 1}}', City).name == name


def test_a_number_is_read_as_it_is_written() -> None:
    assert read_reply('{"thought": "", "answer": 3.10}', Answer).answer == "3.10"


def test_marks_in_the_object_after_reasoning_are_text() -> None:
    text = 'Hm, <think>so</think> no.</think>{"name": "<think>", "inhabitants": 1}'

    assert read_reply(text, City).name == "<think>"


def test_a_long_text_is_not_mended() -> None:
    with pytest.raises(ValueError, match="its JSON object is not complete"):
        read_reply(f"{{'name': 'Kell', 'inhabitants': 1, 'mood': '{'good ' * 1_000}'}}", City)


def test_control_characters_in_a_reply_are_blanks() -> None:
    text = r'{"name": "Kell\u001b[2J", "inhabitants": 1, "twins": [["\u0007", "is", "a\tface\n"]]}'

    assert read_reply(text, City) == City(name="Kell [2J", inhabitants=1, twins=[["", "is", "a\tface"]])


def test_the_form_of_a_reply_is_not_the_reply() -> None:
    text = 'The form is {"thought": "...", "answer": "..."}. So: {"thought": "", "answer": "Kell"}'

    assert read_reply(text, Answer).answer == "Kell"
    with pytest.raises(ValueError, match="it has dots in place of the answer"):
        read_reply(text.partition("So")[0], Answer)


def test_a_list_is_read_as_far_as_the_schema_allows() -> None:
    text = json.dumps({"name": "Kell", "inhabitants": 1, "twins": [["Kell", "is", str(n)] for n in range(5_000)]})

    assert read_reply(text, City).twins == [["Kell", "is", str(n)] for n in range(50)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it contains no JSON object"),
        ("Kell, with 4200 inhabitants", "it contains no JSON object"),
        ('["Kell", 4200]', "it contains no JSON object"),
        ('{"name": "Kell", "inhabit', "its JSON object is not complete"),
        ('{"name": "Kell", "inhabitants": 1, "twins": [["a', "its JSON object is not complete"),
        ('<think>It is {"name": "Kell", "inhabitants": 4200}', "it contains no JSON object"),
        (f"[THINK]It is {GOOD}", "it contains no JSON object"),
        (f"<|channel|>analysis<|message|>It is {GOOD}", "it contains no JSON object"),
        ('{"name": "Kell"}', "field 'inhabitants': Field required"),
        ('{"name": "Kell", "inhabitants": "many"}', "field 'inhabitants': Input should be a valid integer"),
        ('{"name": "K", "inhabitants": 1, "twins": [["a", []]]}', "field 'twins.0.1': Input should be a valid string"),
        (f'{{"draft": {ORSBY}, "final": {GOOD}}}', "it has none of the fields name, inhabitants, twins"),
        ('{"name": "K", "inhabitants": 1, "mood": {"is": "good"}, "tw', "it has none of the fields name, inhabitants"),
        ('{{"city": "Kell"}}', "it has none of the fields name, inhabitants, twins"),
        ("{[1]: 2}", "it has none of the fields name, inhabitants, twins"),
        ('{"twins": ' + "[" * 5000, "its JSON object is not complete"),
        ('{"twins":' * 3000, "its JSON object is not complete"),
        (f'{{"twins": {"[" * 600}{"]" * 600}}}', "field 'name': Field required"),
        ('{"twins":' * 400 + "}" * 400, "its JSON object is not complete"),
        ("{" * 9 + "x" + "}" * 9, "its JSON object is not complete"),
    ],
)
def test_what_cannot_be_read_is_explained(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(problem)}"):
        read_reply(text, City)


@pytest.mark.parametrize("repeated", ["{", '{"a":1,"b":', "{ ", '{"a": x} ', '{"'])
def test_braces_without_end_are_given_up(repeated: str) -> None:
    with pytest.raises(ValueError, match="its JSON object is not complete"):
        read_reply((repeated * MAX_REPLY_CHARS)[:MAX_REPLY_CHARS], City)


def test_an_object_after_hundreds_of_braces_is_found() -> None:
    assert read_reply(f"{'so {x} it is, ' * 500}{GOOD}", City) == KELL


@pytest.mark.parametrize("reasoning", [f"<think>{'hm, ' * MAX_REPLY_CHARS}</think>", "<think>a</think>\n" * 1_000_000])
def test_reasoning_may_be_of_any_length(reasoning: str) -> None:
    assert without_reasoning(reasoning + GOOD).strip() == GOOD


def test_an_object_after_thousands_of_others_is_found() -> None:
    text = '{"x":1} ' * 20_000 + '{"chain": [], "conclusion": "Kell"}'

    assert read_reply(text, ChainOfTexts).conclusion == "Kell"


@pytest.mark.parametrize(
    "text",
    ["Answer: Kell", "**Thought:** An isle.\n\n**Answer:** Kell", "Thought: It is\nan isle.\n- answer : *Kell*\n"],
)
def test_lines_that_name_the_fields_are_read_where_there_is_no_object(text: str) -> None:
    assert read_reply(text, Answer).answer == "Kell"


@pytest.mark.parametrize(
    "text", ["Answer: Kell\nBut that is only a guess.", "The answer is: Kell", "Thought: An isle."]
)
def test_lines_that_do_not_end_in_what_was_asked_for_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="no JSON object|'answer'"):
        read_reply(text, Answer)


@pytest.mark.parametrize("text", ["Thought: It is an isle.\nAnswer: It lies in the t", "Answer: New York"])
def test_lines_of_a_text_that_was_cut_off_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="no JSON object"):
        read_reply(text, Answer, whole=False)


@pytest.mark.parametrize("reason", ["length", "content_filter", "SAFETY"])
async def test_an_answer_that_was_cut_off_is_none(reason: str) -> None:
    cut = AIMessage("Answer: It lies in the t", response_metadata={"finish_reason": reason})

    with pytest.raises(ModelOutputError, match="no JSON object"):
        await ask(RepeatingModel(message=cut), ANSWER_FROM_TRIPLES, question="Where is Kell?", triples=[])


@pytest.mark.parametrize(
    "other",
    [
        {"logprobs": {"content": [{"token": " error"}, {"token": " filter"}]}},
        {"model_name": "small-safety"},
        {"content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}},
    ],
    ids=str,
)
async def test_words_in_other_metadata_do_not_make_an_answer_incomplete(other: dict[str, Any]) -> None:
    told = {"finish_reason": "stop", **other}
    model = RepeatingModel(message=AIMessage("Answer: an error", response_metadata=told))

    assert (await ask(model, ANSWER_FROM_TRIPLES, question="What was it?", triples=[])).answer == "an error"


@pytest.mark.parametrize(
    "wrapped",
    [
        {"result": json.loads(GOOD)},
        {"name": "x", "arguments": json.loads(GOOD)},
        {"status": "ok", "result": {"reply": json.loads(GOOD)}},
    ],
)
def test_an_object_within_another_is_found(wrapped: dict[str, Any]) -> None:
    assert read_reply(json.dumps(wrapped), City) == KELL


# --- asking ----------------------------------------------------------------------------------------------------------
async def test_instructions_come_first_and_values_last() -> None:
    model = ScriptedModel.of([GOOD])

    assert await ask_city(model) == KELL

    (messages,) = model.received
    assert messages[0] == SystemMessage(CITY.instructions)
    assert messages[1].text == "Text: Kell {is} a city.\nLimits: 1 to 9"


def test_the_prompts_name_and_values_ride_along_with_the_request() -> None:
    instructions, request = CITY.render(text="Kell", limits=[1, 9])

    assert request.response_metadata == {METADATA_KEY: {"prompt": "city", "values": {"text": "Kell", "limits": [1, 9]}}}
    assert instructions.response_metadata == {}


def test_ask_serves_synchronous_code() -> None:
    assert run_in_background(ask_city(ScriptedModel.of([GOOD]))) == KELL


async def test_a_bad_reply_is_sent_back_with_what_was_wrong() -> None:
    bad = '{"name": "Kell", "inhabitants": "many"}'
    model = ScriptedModel.of([bad, "", GOOD])

    assert await ask_city(model) == KELL

    first, second, third = model.received
    assert second[:2] == third[:2] == first
    assert isinstance(second[2], AIMessage)
    assert second[2].text == bad
    assert isinstance(second[3], HumanMessage)
    assert "field 'inhabitants': Input should be a valid integer" in second[3].text
    assert third[:4] == second
    assert third[4].text  # providers refuse empty messages
    assert "it contains no JSON object" in third[5].text


async def test_a_reply_of_endless_length_is_asked_for_again() -> None:
    model = ScriptedModel.of([f'{{"name": "{"Kell " * MAX_REPLY_CHARS}", "inhabitants": 1}}', GOOD])

    assert await ask_city(model) == KELL

    quoted, problem = model.received[1][2:]
    assert len(quoted.text) == MAX_REPLY_CHARS
    assert f"it has 1000030 characters, of at most {MAX_REPLY_CHARS}" in problem.text


async def test_after_three_bad_replies_the_error_names_prompt_model_and_reply() -> None:
    model = ScriptedModel.of(["no", "never", "I would rather not. " * 100], model_name="bartleby")

    with pytest.raises(ModelOutputError) as raised:
        await ask_city(model)

    said = str(raised.value)
    assert "prompt 'city': bartleby gave no usable reply in 3 attempts" in said
    assert "expected a JSON object with name, inhabitants, twins; it contains no JSON object" in said
    assert "the last reply starts: 'I would rather not. I would" in said
    assert len(said) < 500
    assert len(model.received) == 3


class Ended(Enum):
    OTHER = "OTHER"
    MAX_TOKENS = "MAX_TOKENS"


@pytest.mark.parametrize(
    ("ended", "told"),
    [
        ({"response_metadata": {"finish_reason": "content_filter"}}, "finish reason 'content_filter'; "),
        ({"response_metadata": {"finish_reason": "SAFETY"}}, "finish reason 'SAFETY'; "),
        ({"response_metadata": {"stop_reason": "refusal"}}, "finish reason 'refusal'; "),
        ({"response_metadata": {"stopReason": "guardrail_intervened"}}, "finish reason 'guardrail_intervened'; "),
        (
            {"response_metadata": {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}},
            "finish reason 'content_filter'; ",
        ),
        ({"response_metadata": {"prompt_feedback": {"block_reason": "OTHER"}}}, "finish reason 'OTHER'; "),
        ({"response_metadata": {"prompt_feedback": {"block_reason": Ended.OTHER}}}, "finish reason 'OTHER'; "),
        (
            {"response_metadata": {"finish_reason": "stop"}, "additional_kwargs": {"refusal": "I can't help."}},
            'refusal "I can\'t help."; ',
        ),
        ({"content": [{"type": "refusal", "refusal": "Not that."}]}, "refusal 'Not that.'; "),
        ({"tool_calls": [{"name": "search", "args": {}, "id": "1"}]}, "it calls the tool 'search'; "),
        ({"response_metadata": {"finish_reason": "stopstop"}, "additional_kwargs": {"refusal": None}}, ""),
        ({"response_metadata": {"stop_reason": "end_turn", "stop_sequence": None}}, ""),
        ({"response_metadata": {"finish_reason": "STOP", "prompt_feedback": {"block_reason": 0}}}, ""),
    ],
)
async def test_the_error_says_why_a_provider_withheld_the_reply(ended: dict[str, Any], told: str) -> None:
    with pytest.raises(ModelOutputError) as raised:
        await ask_city(RepeatingModel(message=AIMessage(**{"content": "", **ended})))

    assert str(raised.value).endswith(f"; it contains no JSON object; {told}the last reply starts: ''")


class RepeatingModel(ScriptedModel):
    """Replies with the same message each time."""

    message: AIMessage

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.message)])


class StatusError(Exception):
    def __init__(self, status_code: int, message: str = "") -> None:
        super().__init__(message)
        self.status_code = status_code


def lost_connection(kind: type[Exception]) -> Exception:
    """Return what a provider's package makes of a lost connection."""
    error = Exception("Connection error.")
    error.__cause__ = kind("All connection attempts failed")
    return error


def of_package(module: str, name: str) -> type[Exception]:
    return type(name, (Exception,), {"__module__": module})


AT_OPENAI = of_package("httpx2", "TransportError")  # what its client has in place of httpx


class AmazonError(Exception):
    """Carries the status as botocore's errors do."""

    def __init__(self, status: int, message: str = "") -> None:
        super().__init__(message)
        self.response = {"Error": {}, "ResponseMetadata": {"HTTPStatusCode": status}}


PASSING = [
    TimeoutError("after 120 s"),
    ConnectionResetError(),
    lost_connection(httpx.ConnectError),
    lost_connection(AT_OPENAI),
    URLError(ConnectionRefusedError()),
    of_package("requests.exceptions", "Timeout")(),
    of_package("aiohttp.client_exceptions", "ClientConnectionError")(),
    StatusError(429),
    StatusError(503),
    AmazonError(429),
    ModelConnectionError(),
    ModelRateLimitError(),
]


@pytest.fixture
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_rag.models.sending._FIRST_PAUSE", 0.0)


@pytest.mark.usefixtures("without_pauses")
@pytest.mark.parametrize("failure", PASSING, ids=repr)
async def test_a_model_whose_client_does_not_ask_again_is_asked_again(failure: Exception) -> None:
    model = ScriptedModel.of([failure, failure, GOOD])

    with metered() as usage:
        assert await ask_city(model.bind(seed=1)) == KELL

    assert (len(model.received), usage["calls"]) == (3, 1)


@pytest.mark.usefixtures("without_pauses")
async def test_a_model_that_stays_out_of_reach_is_asked_three_times() -> None:
    model = ScriptedModel.of([TimeoutError("after 120 s")] * 9)

    with pytest.raises(ModelCallError, match="scripted could not be asked: TimeoutError: after 120 s"):
        await ask_city(model)

    assert len(model.received) == 3


@pytest.mark.usefixtures("without_pauses")
async def test_the_message_says_what_was_behind_a_lost_connection() -> None:
    model = ScriptedModel.of([lost_connection(httpx.ConnectError)] * 3)

    with pytest.raises(ModelCallError) as error:
        await ask_city(model)

    said = "scripted could not be asked: Exception: Connection error. (All connection attempts failed)"
    assert str(error.value) == said


@pytest.mark.parametrize(
    "denied", [*map(StatusError, (401, 403, 404)), AmazonError(403), ModelAuthenticationError()], ids=repr
)
async def test_who_is_not_let_in_is_not_worth_another_run(denied: Exception) -> None:
    with pytest.raises(ModelAccessError) as error:
        await ask_city(ScriptedModel.of([denied]))

    assert not retry_on(error.value)


class PersistentModel(ScriptedModel):
    max_retries: int = 2


@pytest.mark.usefixtures("without_pauses")
async def test_what_asks_again_itself_or_fails_for_good_is_not_asked_again() -> None:
    itself = PersistentModel.of([TimeoutError(), GOOD])
    around = ScriptedModel.of([TimeoutError(), GOOD])
    for_good = ScriptedModel.of([StatusError(401), GOOD])

    for model in (itself, around.with_retry(stop_after_attempt=1), for_good):
        with pytest.raises(ModelCallError):
            await ask_city(model)

    assert [len(model.received) for model in (itself, around, for_good)] == [1, 1, 1]


def test_the_pauses_double_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_rag.models.sending.random.uniform", lambda least, most: most)

    assert list(pauses(PersistentModel(max_retries=6))) == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]
    assert list(pauses(PersistentModel(max_retries=0))) == []


@pytest.mark.usefixtures("without_pauses")
@pytest.mark.parametrize(("status", "asked"), [(429, 3), (503, 3), (401, 1)])
async def test_a_status_that_a_models_client_lets_by_is_asked_again_as_often_as_the_model_says(
    status: int, asked: int
) -> None:
    request = httpx.Request("POST", "http://localhost/v1")
    error = httpx.HTTPStatusError("later", request=request, response=httpx.Response(status, request=request))
    model = PersistentModel.of([error] * 9)

    with pytest.raises(ModelCallError, match="later"):
        await ask_city(model)

    assert len(model.received) == asked


@pytest.mark.parametrize("ask_graph", ["invoke", "ainvoke"])
async def test_a_retry_policy_runs_nodes_again_that_may_succeed_then(kb: KnowledgeBase, ask_graph: str) -> None:
    answer = '{"thought": "", "answer": "Kell"}'
    model = ScriptedModel.of([OSError("no route"), answer, StatusError(400), answer])
    policy = RetryPolicy(initial_interval=0.001, retry_on=retry_on)
    graph: Any = create_native_rag(model, kb).set_node_defaults(retry_policy=policy).compile()
    question = {"question": "Which city?"}

    async def run() -> Any:
        return (
            await graph.ainvoke(question) if ask_graph == "ainvoke" else await asyncio.to_thread(graph.invoke, question)
        )

    assert (await run())["answer"] == "Kell"
    with pytest.raises(RequestRefusedError):
        await run()


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (ModelCallError(), True),
        (VectorServerError(), True),
        (RequestRefusedError(), False),
        (ModelOutputError(), False),
        (KnowledgeBaseError(), False),
        (BudgetReachedError("deadline_s", 1), False),
        (ValueError(), False),
    ],
)
def test_only_what_could_not_be_reached_is_worth_another_run(error: Exception, again: bool) -> None:
    assert retry_on(error) == again


def test_a_model_goes_by_its_own_name_or_that_of_its_class() -> None:
    assert model_name(ScriptedModel.of([], model_name="small")) == "small"
    assert model_name(ScriptedModel.of([], model_name="")) == "ScriptedModel"


# --- what it costs ---------------------------------------------------------------------------------------------------
async def test_calls_tokens_and_repairs_are_counted() -> None:
    model = ScriptedModel.of(["bad", GOOD, GOOD])
    with metered() as usage:
        await asyncio.gather(ask_city(model), ask_city(model))
        count_dropped(2)

    counted = {"calls": 3, "input_tokens": 30, "output_tokens": 15, "repairs": 1, "dropped": 2}
    assert dict(usage) == {**usage, **counted}


async def test_calls_of_a_failed_ask_are_counted_too() -> None:
    with metered() as usage, pytest.raises(ModelOutputError):
        await ask_city(ScriptedModel.of(["no"] * 3))

    assert (usage["calls"], usage["repairs"], usage["output_tokens"]) == (3, 2, 15)


async def test_two_runs_side_by_side_do_not_pay_for_each_other() -> None:
    async def run(number: int) -> int:
        with metered() as usage:
            for _ in range(number):
                await ask_city(ScriptedModel.of([GOOD]))
        return usage["calls"]

    assert tuple(await asyncio.gather(run(1), run(3))) == (1, 3)


async def test_outside_a_meter_nothing_is_counted_and_nothing_fails() -> None:
    count_dropped(1)
    assert await ask_city(ScriptedModel.of([GOOD])) == KELL


class SynchronousModel(BaseChatModel):
    """Has no coroutine of its own; replies once it may."""

    reply: BaseMessage
    may_reply: threading.Event = Field(default_factory=threading.Event)

    @property
    def _llm_type(self) -> str:
        return "synchronous"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        assert self.may_reply.wait(60)
        return ChatResult(generations=[ChatGeneration(message=self.reply)])


async def answered_by(model: SynchronousModel) -> City:
    model.may_reply.set()
    return await ask_city(model)


async def test_a_model_whose_messages_have_no_count_of_tokens_is_understood() -> None:
    with metered() as usage:
        assert await answered_by(SynchronousModel(reply=ChatMessage(content=GOOD, role="model"))) == KELL

    assert usage["estimated_tokens"] > 0


async def test_tokens_read_count_where_a_server_counts_none_written() -> None:
    read = UsageMetadata(input_tokens=10, output_tokens=0, total_tokens=10)
    with metered() as usage:
        await answered_by(SynchronousModel(reply=AIMessage(GOOD, usage_metadata=read)))

    assert (usage["input_tokens"], usage["output_tokens"], usage["estimated_tokens"]) == (10, 0, 0)


@pytest.mark.parametrize(("read", "written"), [(0, 0), (10, -1)])
async def test_tokens_that_a_server_counts_as_none_are_estimated(read: int, written: int) -> None:
    nothing = UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)
    with metered() as usage:
        await answered_by(SynchronousModel(reply=AIMessage(GOOD, usage_metadata=nothing)))

    assert usage["estimated_tokens"] > 0


@pytest.mark.parametrize(
    "told",
    [
        {"finish_reason": "model_length"},
        {"stop_reason": "model_context_window_exceeded"},
        {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
        {"finish_reason": Ended.MAX_TOKENS},
    ],
    ids=str,
)
async def test_a_reply_that_was_cut_off_is_known_in_the_words_of_every_provider(told: dict[str, Any]) -> None:
    with pytest.raises(ModelOutputError, match="in 3 attempts; .*it was cut off for its length"):
        await answered_by(SynchronousModel(reply=AIMessage('{"name": "Ke', response_metadata=told)))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('{"triples": [["Ada", "in", "Ost"], ["Ada", "a [small]", "one"], ["Ada", "born', 2),
        ('{"triples": [["Ada", "in", "Ost"], ["Ada", "born", ', 1),
        ('{"triples": [["Ada", "in", "Ost"], ["Ada", "in", "Ost"], ["Ada", "in", "Ost"],', 3),
    ],
)
async def test_a_list_that_was_cut_off_counts_for_what_it_has(written: str, read: int) -> None:
    model = SynchronousModel(reply=AIMessage(written, response_metadata={"finish_reason": "length"}))
    model.may_reply.set()

    reply = await ask(model, CHAIN)

    assert len(reply.triples) == read
    assert all(len(triple) == 3 for triple in reply.triples)


async def test_a_list_of_objects_that_was_cut_off_counts_for_what_it_has() -> None:
    found = {"sentence": "1", "full": [1], "partial": [], "phrases": ["Ada", "Ost"]}
    written = json.dumps({"thought": "Two.", "evidence": [found, {**found, "sentence": "2"}, found]})[:-25]
    model = SynchronousModel(reply=AIMessage(written, response_metadata={"finish_reason": "length"}))
    model.may_reply.set()

    reply = await ask(model, EXTRACT_EVIDENCE, known=[], passages=[], questions=["Who is Ada?"])

    assert [item.sentence for item in reply.evidence] == ["1", "2"]


async def test_a_list_that_was_cut_off_in_its_first_item_is_an_error() -> None:
    model = SynchronousModel(
        reply=AIMessage('{"triples": [["Ada", "in", "O', response_metadata={"finish_reason": "length"})
    )
    model.may_reply.set()

    with pytest.raises(ModelOutputError, match="it was cut off for its length"):
        await ask(model, CHAIN)


def test_a_model_without_coroutines_that_goes_on_after_the_deadline_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("langgraph_rag.llm.context", lambda: Context(deadline_s=0.1))
    model = SynchronousModel(reply=AIMessage(GOOD))

    with pytest.raises(BudgetReachedError):
        asyncio.run(ask_city(model))  # which would end only after all threads of the loop have

    assert not model.may_reply.is_set()
    model.may_reply.set()


# --- how many at once ------------------------------------------------------------------------------------------------
class CrowdedModel(ScriptedModel):
    """Notes how many calls are under way at once; each stays for a while, so that all that may come do come."""

    under_way: int = 0
    most: int = 0

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        for _ in range(20):
            await asyncio.sleep(0)
        self.under_way -= 1
        return self._generate(messages)


class Asked(TypedDict):
    times: int


@pytest.mark.parametrize("limits", [(1, 1), (3, 3), (3, 2)])
async def test_the_limit_holds_over_all_runs_together(limits: tuple[int, int]) -> None:
    model = CrowdedModel.of(lambda prompt, values: GOOD)

    async def node(state: Asked) -> Asked:
        await asyncio.gather(*(ask_city(model) for _ in range(state["times"])))
        return state

    builder = StateGraph(Asked, context_schema=Context)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    graph = builder.compile()

    await asyncio.gather(*(graph.ainvoke({"times": 6}, context=Context(max_concurrency=limit)) for limit in limits))

    assert isinstance(model, CrowdedModel)
    assert model.most == max(limits)
    assert len(model.received) == 12


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
async def test_a_process_forked_while_a_call_is_under_way_has_room_for_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_rag.llm.context", lambda: Context(max_concurrency=1))

    def fork(*_: Any) -> str:
        if child := os.fork():
            return json.dumps({"name": "status of the child", "inhabitants": os.waitpid(child, 0)[1]})
        with suppress(TimeoutError):
            asyncio.run(asyncio.wait_for(ask_city(ScriptedModel.of([GOOD])), 10))
            os._exit(0)
        os._exit(1)

    assert (await ask_city(ScriptedModel.of(fork))).inhabitants == 0


async def test_a_model_that_asks_another_does_not_wait_for_its_own_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_rag.llm.context", lambda: Context(max_concurrency=1))

    def agent(*_: Any) -> str:
        return run_in_background(asyncio.wait_for(ask_city(ScriptedModel.of([GOOD])), 10)).model_dump_json()

    assert await ask_city(ScriptedModel.of(agent)) == KELL


def test_the_limit_holds_over_event_loops() -> None:
    gate, under_way, most = Gate(), [0], [0]

    async def enter() -> None:
        async with gate.place(2):
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
            await asyncio.sleep(0.001)
            under_way[0] -= 1

    async def all_at_once() -> None:
        await asyncio.gather(*(enter() for _ in range(20)))

    with ThreadPoolExecutor() as threads:
        for done in [threads.submit(asyncio.run, all_at_once()) for _ in range(4)]:
            done.result()
    assert most[0] == 2


async def test_who_waits_and_is_given_up_leaves_its_place_to_others() -> None:
    gate = Gate()

    async def enter() -> str:
        async with gate.place(1):
            return "in"

    async with gate.place(1):
        impatient, given = (asyncio.create_task(enter()) for _ in range(2))
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.sleep(0)
    given.cancel()  # its place is on the way

    assert [type(e) for e in await asyncio.gather(impatient, given, return_exceptions=True)] == [CancelledError] * 2
    assert await enter() == "in"


async def test_who_waited_on_a_loop_that_was_closed_is_passed_over() -> None:
    gate, closed = Gate(), asyncio.new_event_loop()

    async def enter() -> str:
        async with gate.place(1):
            return "in"

    async with gate.place(1):
        lost = enter()
        task = closed.create_task(lost)
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # or asyncio complains in a later test
        await asyncio.to_thread(closed.run_until_complete, asyncio.wait([task], timeout=0.001))
        closed.close()
        waiting = asyncio.create_task(enter())
        await asyncio.sleep(0)

    assert await asyncio.wait_for(waiting, 5) == "in"
    async with gate.place(1):
        lost.close()
        assert len(gate._inside) == 1


@pytest.mark.parametrize("many", ["small", "large"])
async def test_a_small_and_a_large_limit_do_not_hold_each_other_up(many: str) -> None:
    gate, entered = Gate(), asyncio.Queue[str]()

    async def enter(name: str, limit: int) -> None:
        async with gate.place(limit):
            entered.put_nowait(name)
            await asyncio.sleep(0.001)

    limits = {"small": 1, "large": 3}
    few = "large" if many == "small" else "small"
    names = [many, many, few, *[many] * 200]
    await asyncio.gather(*(enter(name, limits[name]) for name in names))

    order = [entered.get_nowait() for _ in names]
    assert order.index(few) == 1 if few == "large" else 64 <= order.index(few) <= 68


async def test_a_failed_call_gives_its_place_back() -> None:
    model = ScriptedModel.of(lambda prompt, values: OSError("no route"))
    outcomes = await asyncio.gather(*(ask_city(model) for _ in range(70)), return_exceptions=True)

    assert len(outcomes) == 70
    assert all(isinstance(outcome, ModelCallError) for outcome in outcomes)
    assert await ask_city(ScriptedModel.of([GOOD])) == KELL


# --- what goes over the wire -----------------------------------------------------------------------------------------
@pytest.mark.filterwarnings("ignore:A test tried to use socket")  # ChatOpenAI looks for socket options
async def test_a_chat_openai_is_asked_for_json_by_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    async def ainvoke(self: ChatOpenAI, messages: list[BaseMessage], **options: Any) -> AIMessage:
        asked.append(options)
        return AIMessage(GOOD)

    monkeypatch.setattr(ChatOpenAI, "ainvoke", ainvoke)

    llm = ChatOpenAI(model="small", api_key=SecretStr("fake"), extra_body={"top_k": 1})
    assert await ask_city(llm) == KELL
    assert await ask_city(llm.model_copy(update={"use_responses_api": True})) == KELL

    form = asked[1]["response_format"]
    assert asked[0]["extra_body"] == {"top_k": 1, "response_format": form}
    assert (form["type"], form["json_schema"]["name"]) == ("json_schema", "city")
    assert set(form["json_schema"]["schema"]["properties"]) == {"name", "inhabitants", "twins"}
    assert "tools" not in asked[0]


async def test_other_models_are_asked_without_options(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    async def ainvoke(self: ScriptedModel, messages: list[BaseMessage], **options: Any) -> AIMessage:
        asked.append(options)
        return AIMessage(GOOD)

    monkeypatch.setattr(ScriptedModel, "ainvoke", ainvoke)

    await ask_city(ScriptedModel.of([]))

    assert asked == [{"config": {"tags": ["nostream", "langsmith:nostream"]}}]


async def test_a_model_that_can_do_so_by_its_profile_is_asked_by_schema_until_it_refuses(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[dict[str, Any]] = []

    async def ainvoke(self: ScriptedModel, messages: list[BaseMessage], config: Any, **options: Any) -> AIMessage:
        asked.append(options)
        if len(asked) == 2:
            raise StatusError(400, "output_config.format: not supported")
        return AIMessage(GOOD)

    monkeypatch.setattr(ScriptedModel, "ainvoke", ainvoke)
    model, other = (ScriptedModel(profile={"structured_output": able}) for able in (True, False))

    assert [await ask_city(each) for each in (model, model, model, other)] == [KELL] * 4

    assert ["response_format" in options for options in asked] == [True, True, False, False, False]
    form = asked[0]["response_format"]
    assert (form["type"], form["json_schema"]["name"]) == ("json_schema", "city")
    assert [record.message for record in caplog.records] == [
        "ScriptedModel refuses response_format: its replies are no longer asked for by JSON schema"
    ]


@pytest.mark.filterwarnings("ignore:A test tried to use socket")  # ChatOpenAI looks for socket options
def test_the_metadata_is_not_sent() -> None:
    llm = ChatOpenAI(model="small", api_key=SecretStr("fake"))

    sent = llm._get_request_payload(CITY.render(text="a secret place", limits=[1, 9]))

    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    assert METADATA_KEY not in str(sent)
    assert str(sent).count("a secret place") == 1
