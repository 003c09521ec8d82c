"""Streams the text of the answer to LangGraph's `messages` stream, out of the JSON that the model writes."""

import json
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import uuid4

from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler, BaseCallbackManager
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.ai import UsageMetadata
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import (
    ensure_config,
    get_async_callback_manager_for_config,
    merge_configs,
    var_child_runnable_config,
)
from langgraph.config import get_config
from langgraph.graph.message import push_message

from langgraph_rag.concurrency.context_variables import override
from langgraph_rag.models.replies import UnfinishedReply
from langgraph_rag.refusals import begins_as_refusal, may_begin_as_refusal

_KEY = '"answer"'
_HIGH = "[dD][89abAB]"  # beginning of a high surrogate, which needs the low one
_ESCAPED = rf'\\["\\/bfnrt]|\\u(?:{_HIGH}..\\u)?(?!{_HIGH})[0-9a-fA-F]{{4}}'
_ANSWER = re.compile(rf'(?<!\\){_KEY}\s*:\s*("(?:[^"\\]|{_ESCAPED})*)')  # without the closing quote
_GROWN = 1.01  # factor by which the reply must grow before it is read again, from its beginning
_HIDING = "nostream"
_INTERNAL_TAGS = [_HIDING, "langsmith:nostream"]  # keep a call out of the `messages` stream
_answers: ContextVar[list[str] | None] = ContextVar("langgraph_rag_answers", default=None)


def noting_answers() -> AbstractContextManager[list[str]]:
    """Collect the ids of the messages of all answers that are streamed to their end inside the block."""
    return override(_answers, list[str]())


def show_answer(answer: str) -> None:
    """Stream an answer that was not streamed before: a refusal, or the answer after the budget was spent."""
    AnswerStream().end(answer)


class AnswerStream(AsyncCallbackHandler):
    """Streams the answer of one reply to callers that stream `messages`; other callers have no overhead.

    LangGraph asks models for a stream only if somebody listens. A text that may still become a refusal is held back, so
    that a refusal from too little evidence is never shown before the answer that replaces it. After a reply that cannot
    be used, the answer starts again as a new message.
    """

    def __init__(self) -> None:
        self._hidden = _is_hidden()
        self._read = 0  # characters of the reply
        self.restart()

    async def on_llm_new_token(self, token: str | list[str | dict[str, Any]], **kwargs: Any) -> None:
        """Stream what a chunk of the reply adds to the answer."""
        self._reply.add(token if isinstance(token, str) else AIMessageChunk(content=token).text)
        length = len(self._reply.text)
        if not self._reply.reasoning and not self._read <= length < _GROWN * self._read:
            self._read = length
            self._show(_answer_so_far(self._reply.text).rstrip())

    async def on_llm_error(self, error: BaseException, **kwargs: Any) -> None:
        """Start again: LangChain's `with_retry` and `with_fallbacks` call the model again without notice."""
        self.restart()

    def restart(self) -> None:
        """Forget the reply so far and start a new message."""
        self._id = self._shown = ""
        self._reply = UnfinishedReply()
        self._read = 0

    def finish(self, answer: str) -> None:
        """Stream the rest of the answer of a complete reply, unless it is a refusal."""
        if not answer.startswith(self._shown):
            self.restart()
        if not begins_as_refusal(answer):
            self.end(answer)

    def end(self, answer: str) -> None:
        """Stream the rest of an answer, also of a refusal."""
        self._push_rest(answer)
        if self._id:
            self._push(AIMessage(answer, id=self._id))
        if (answers := _answers.get()) is not None:
            answers.append(self._id)

    def _show(self, answer: str) -> None:
        if answer.startswith(self._shown) and (self._shown or not may_begin_as_refusal(answer)):
            self._push_rest(answer)

    def _push_rest(self, answer: str) -> None:
        if rest := answer[len(self._shown) :]:
            self._id = self._id or str(uuid4())
            self._push(AIMessageChunk(content=rest, id=self._id))
            self._shown = answer

    def _push(self, message: AIMessage) -> None:
        if not self._hidden:
            _push(message)


class StreamedUsage(AsyncCallbackHandler):
    """Notes whether a reply is streamed, and its token counts.

    Some servers repeat the count so far, which LangChain adds up.
    """

    def __init__(self) -> None:
        self._counts: list[UsageMetadata] = []
        self.streamed = False

    async def on_llm_new_token(
        self, token: str | list[str | dict[str, Any]], *, chunk: Any = None, **kwargs: Any
    ) -> None:
        """Note the count of a chunk."""
        self.streamed = True
        if usage := getattr(getattr(chunk, "message", None), "usage_metadata", None):
            self._counts.append(usage)

    def correct(self, message: Any) -> None:
        """Set the last count of a message whose stream repeated the whole prompt in each."""
        prompts = {usage["input_tokens"] for usage in self._counts}
        if len(self._counts) > 1 and len(prompts) == 1 and 0 not in prompts:
            message.usage_metadata = self._counts[-1]


def listening(stream: AnswerStream | None, usage: StreamedUsage) -> RunnableConfig:
    """Return the configuration of a model call whose counts are noted, and whose answer is streamed."""
    try:
        around = get_config()
    except RuntimeError:  # outside a graph
        return {}
    handlers: list[BaseCallbackHandler] = [usage, stream] if stream else [usage]
    return {"callbacks": merge_configs({"callbacks": around.get("callbacks")}, {"callbacks": handlers})["callbacks"]}


@contextmanager
def kept_internal(config: RunnableConfig) -> Iterator[RunnableConfig]:
    """Return the configuration of a model call that stays out of the `messages` stream.

    A model that calls another model, such as a router, passes on the callbacks of its context. These have the tags as
    well, so that the inner call stays out of the stream even if it has tags of its own.
    """
    around = ensure_config()
    tagged = get_async_callback_manager_for_config({**around, "tags": _INTERNAL_TAGS})
    with override(var_child_runnable_config, RunnableConfig({**around, "callbacks": tagged})):
        yield {"tags": _INTERNAL_TAGS, **config}


def _answer_so_far(reply: str) -> str:
    """Return the part of the answer in an unfinished reply."""
    start = reply.find("{")
    key = reply.find(_KEY, start) if start >= 0 else -1
    found = _ANSWER.search(reply, key) if key >= 0 else None
    if not found:
        return ""
    answer: str = json.loads(found[1] + '"', strict=False)
    return answer.lstrip()


def _is_hidden() -> bool:
    """Return whether the graph runs with the tag that keeps models out of the `messages` stream."""
    around = ensure_config()
    return _HIDING in get_async_callback_manager_for_config(around).inheritable_tags


def _push(message: AIMessage) -> None:
    """Push a chunk of an answer; LangGraph's v3 events drop chunks, and get the whole answer instead."""
    try:
        callbacks = get_config()["callbacks"]
    except RuntimeError:  # outside a graph
        return
    handlers = callbacks.handlers if isinstance(callbacks, BaseCallbackManager) else callbacks or []
    takes_whole = any(type(handler).__name__ == "StreamMessagesHandlerV2" for handler in handlers)
    if handlers and takes_whole != isinstance(message, AIMessageChunk):
        push_message(message, state_key=None)
