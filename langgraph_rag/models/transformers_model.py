"""A language model in this process whose decoding is constrained to a JSON schema."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import BaseChatModel, ModelProfile
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import ConfigDict, Field, PrivateAttr

from langgraph_rag.errors import MissingExtraError

TEMPLATE_OPTIONS = {"enable_thinking": False}
"""Options of chat templates, of models in this process, of those on a server, and of rows that are trained on."""
_WHITESPACE = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


class TransformersModel(BaseChatModel):
    """A causal language model, or an adapter of one, from a folder or from Hugging Face.

    It decodes greedily, one call at a time.

    It supports `response_format` and `stop` as OpenAI-compatible servers do. A reply has at most `max_new_tokens`
    tokens; one that is cut off there, or at the end of the context, has the `finish_reason` "length". By default,
    `device` is "cuda" if there is a GPU, else "cpu". `dtype` is the number format of the weights: by default the one
    that they were saved in, but float32 on processors that are faster with it, which most are.

    Raises:
        MissingExtraError: when the required packages are not installed.
        OSError: when the model does not exist.
    """

    model_config = ConfigDict(extra="forbid")

    model_name: str
    max_new_tokens: int = Field(default=2048, gt=0)
    device: str = ""
    dtype: str = ""
    profile: ModelProfile | None = Field(default=ModelProfile(structured_output=True), exclude=True)
    _loaded_from: str = PrivateAttr()
    _model: Any = PrivateAttr()
    _tokenizer: Any = PrivateAttr()
    _vocabulary: Any = PrivateAttr()
    _ends: set[int] = PrivateAttr()  # end-of-reply tokens; those of tokenizer and model may differ
    # waiting calls would otherwise occupy all threads of the event loop
    _worker: ThreadPoolExecutor = PrivateAttr(default_factory=lambda: ThreadPoolExecutor(1, "langgraph-rag-model"))

    def model_post_init(self, _: object) -> None:
        """Load the model."""
        try:
            import torch
            from llguidance.hf import from_tokenizer
            from transformers import AutoModelForCausalLM, AutoTokenizer
        except ImportError as error:
            raise MissingExtraError("a model in this process", "transformers") from error
        self._loaded_from = _source(self.model_name)
        if (Path(self._loaded_from) / "adapter_config.json").exists() and find_spec("peft") is None:
            raise MissingExtraError("an adapter in this process", "train")
        self.device = self.device or ("cuda" if torch.cuda.is_available() else "cpu")
        self._tokenizer = AutoTokenizer.from_pretrained(self._loaded_from)
        self.dtype = self.dtype or ("float32" if self.device == "cpu" and not _is_fast_in_half() else "auto")
        self._model = AutoModelForCausalLM.from_pretrained(self._loaded_from, dtype=self.dtype).to(self.device).eval()
        self._vocabulary = from_tokenizer(self._tokenizer, n_vocab=self._model.config.get_text_config().vocab_size)
        of_model = self._model.generation_config.eos_token_id
        self._ends = {*self._vocabulary.eos_tokens, *(of_model if isinstance(of_model, list) else [of_model])} - {None}

    @property
    def _llm_type(self) -> str:
        return "langgraph-rag-transformers"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        """Return all settings that change replies, as the key of caches."""
        return {
            "model": self._loaded_from,
            "max_new_tokens": self.max_new_tokens,
            "device": self.device,
            "dtype": self.dtype,
        }

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with self._generating(messages, stop or [], kwargs.get("response_format")) as reply:
            return reply.result()

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with self._generating(messages, stop or [], kwargs.get("response_format")) as reply:
            return await asyncio.wrap_future(reply)

    @contextmanager
    def _generating(
        self, messages: list[BaseMessage], stop: list[str], response_format: dict[str, Any] | None
    ) -> Iterator["Future[ChatResult]"]:
        """Generate the reply in the worker thread; leaving the block earlier cancels it."""
        given_up = threading.Event()
        reply = self._worker.submit(self._reply, messages, stop, response_format, given_up)
        try:
            yield reply
        finally:
            reply.cancel()
            given_up.set()

    def _reply(
        self,
        messages: list[BaseMessage],
        stop: list[str],
        response_format: dict[str, Any] | None,
        given_up: threading.Event,
    ) -> ChatResult:
        prompt = self._tokens(messages)
        read = prompt["input_ids"].shape[1]
        longest = getattr(self._model.config.get_text_config(), "max_position_embeddings", None) or 2**31
        if read >= longest:
            raise ContextOverflowError(f"maximum context length is {longest} tokens, the prompt has {read}")
        written = self._model.generate(
            **prompt,
            do_sample=False,
            max_new_tokens=min(self.max_new_tokens, longest - read),
            logits_processor=[self._grammar(response_format)] if response_format else None,
            stopping_criteria=[lambda *_, **__: given_up.is_set()],
            stop_strings=stop or None,
            tokenizer=self._tokenizer,
            eos_token_id=sorted(self._ends),
            pad_token_id=self._tokenizer.pad_token_id or self._tokenizer.eos_token_id,
        )[0, read:].tolist()
        return ChatResult(generations=[ChatGeneration(message=self._message(read, written, stop))])

    def _message(self, read: int, written: list[int], stop: list[str]) -> AIMessage:
        """Return the tokens written after a prompt of `read` tokens as a message that ends before a stop word."""
        text = self._tokenizer.decode(written, skip_special_tokens=True)
        kept = min((text.partition(word)[0] for word in stop), key=len, default=text)
        ended = kept != text or bool(written) and written[-1] in self._ends
        return AIMessage(
            kept,
            usage_metadata=UsageMetadata(
                input_tokens=read, output_tokens=len(written), total_tokens=read + len(written)
            ),
            response_metadata={"finish_reason": "stop" if ended else "length", "model_name": self.model_name},
        )

    def _tokens(self, messages: list[BaseMessage]) -> Any:
        if self._tokenizer.chat_template:
            return self._tokenizer.apply_chat_template(
                convert_to_openai_messages(messages),
                add_generation_prompt=True,
                return_dict=True,
                return_tensors="pt",
                **TEMPLATE_OPTIONS,
            ).to(self.device)
        text = "\n\n".join(message.text for message in messages)
        return self._tokenizer(f"{text}\n\n", return_tensors="pt", return_token_type_ids=False).to(self.device)

    def _grammar(self, response_format: dict[str, Any]) -> Any:
        """Return a logits processor that allows only tokens with which the reply stays valid."""
        import numpy as np
        import torch
        from llguidance import LLMatcher

        schema = response_format["json_schema"]["schema"]
        grammar = LLMatcher.grammar_from_json_schema(json.dumps(schema), defaults=_WHITESPACE)
        matcher, taken = LLMatcher(self._vocabulary, grammar), -1

        def leave_valid(tokens: Any, scores: Any) -> Any:
            nonlocal taken
            if taken >= 0:
                matcher.consume_tokens(tokens[0, taken:].tolist())
            taken = tokens.shape[1]
            if matcher.is_error():
                raise ValueError(f"the schema cannot be followed: {matcher.get_error()}")
            allowed = np.unpackbits(np.frombuffer(matcher.compute_bitmask(), np.uint8), bitorder="little")
            barred = torch.from_numpy(allowed[: scores.shape[-1]] == 0)
            return scores.masked_fill(barred.to(scores.device), -torch.inf)

        return leave_valid


def _is_fast_in_half() -> bool:
    """Measure whether half precision is faster; on a processor without support for it, it is several times slower."""
    from torch import bfloat16, float32, rand

    def seconds(dtype: Any) -> float:
        numbers = rand(512, 512).to(dtype)
        numbers @ numbers
        started = time.process_time()
        for _ in range(3):
            numbers @ numbers
        return time.process_time() - started

    return seconds(bfloat16) < seconds(float32)


def _source(name: str) -> str:
    """Return the folder of a model, or its name at Hugging Face if it is not a path."""
    folder = Path(name).expanduser().absolute()
    if not name.startswith(("/", ".", "~")) and not folder.is_dir():
        return name
    if not any(folder.glob("*config.json")):
        raise FileNotFoundError(f"expected a model's folder, with a config.json in it, at {folder}: there is none")
    return str(folder)
