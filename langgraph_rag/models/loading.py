"""Chat models by name, for the command line and LangGraph Studio; in code, any LangChain chat model works."""

from pathlib import Path
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from pydantic import ValidationError

from langgraph_rag.arguments import expect
from langgraph_rag.errors import MissingExtraError, ModelCallError, RagError, UnknownNameError
from langgraph_rag.models.response_cache import ResponseCache
from langgraph_rag.models.transformers_model import TEMPLATE_OPTIONS, TransformersModel
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.vllm_server import vllm_server

MODEL_FORMS = [
    "offline",
    "vllm:MODEL",
    "transformers:PATH_OR_NAME",
    "PROVIDER:MODEL (as LangChain's init_chat_model takes it)",
]


def load_model(name: str, *, cache: str | Path | None = None, **options: Any) -> BaseChatModel:
    """Load a chat model by name.

    Args:
        name: one of these forms. `offline` is the rule-based model that works anywhere. `vllm:MODEL` is a model on vLLM
            or another OpenAI-compatible server at `VLLM_BASE_URL` (http://localhost:8000/v1), with the key
            `VLLM_API_KEY` and a time-out of `VLLM_TIMEOUT` seconds (120). `transformers:PATH_OR_NAME` is a Hugging Face
            model in this process. `PROVIDER:MODEL` is passed to LangChain's `init_chat_model`, for example
            `openai:gpt-5-mini`.
        cache: a file that stores every reply, so that no request is sent twice.
        options: arguments for the model's class.

    Raises:
        TypeError: when the name is not a string.
        UnknownNameError: when the name has none of these forms.
        MissingExtraError: when the packages for served models or for models in this process are not installed.
        ResponseCacheError: when the file cannot be used as a cache.
        ModelCallError: when the model cannot be set up: its package, its key or its files are missing, or an
            option is wrong.
    """
    expect(str, name, "a model's name", "a LangChain chat model is given to a method as it is")
    llm = _set_up(name, options)
    if cache is not None:
        llm.cache = ResponseCache(cache)  # last, so that no file is left behind if the model does not exist
    return llm


def _set_up(name: str, options: dict[str, Any]) -> BaseChatModel:
    kind, _, model = name.partition(":")
    if name != "offline" and not (kind and model):
        raise UnknownNameError("model", name, MODEL_FORMS)
    try:
        match kind:
            case "offline" if name == kind:
                return OfflineModel(**options)
            case "vllm":
                return _served(model, **options)
            case "transformers":
                return TransformersModel(model_name=model, **options)
            case _:
                return _of_provider(kind, model, **options)
    except RagError:
        raise
    except ValidationError as error:  # its text shows all values, also keys
        wrong = "; ".join(": ".join([*map(str, each["loc"]), each["msg"]]) for each in error.errors())
        raise ModelCallError(f"model {name!r} cannot be set up: {wrong}") from None
    except Exception as error:
        raise ModelCallError(f"model {name!r} cannot be set up: {error}") from error


def _of_provider(provider: str, model: str, **options: Any) -> BaseChatModel:
    try:
        loaded: BaseChatModel = init_chat_model(model, model_provider=provider, **{"temperature": 0, **options})
        if "temperature" not in options and (loaded.profile or {}).get("temperature") is False:  # it is not supported
            loaded = init_chat_model(model, model_provider=provider, **options)
    except ValueError as error:
        if type(error) is ValueError:  # how init_chat_model refuses a provider it does not know
            raise UnknownNameError("model", f"{provider}:{model}", MODEL_FORMS) from error
        raise
    return loaded


def _served(model: str, **options: Any) -> BaseChatModel:
    try:
        from langchain_openai import ChatOpenAI
    except ImportError as error:
        raise MissingExtraError("a served model", "openai") from error
    defaults: dict[str, Any] = {
        **vllm_server("VLLM_BASE_URL"),
        "temperature": 0,
        "stream_usage": True,
        "max_tokens": 2_048,  # ends a model that repeats itself
        "extra_body": {"chat_template_kwargs": TEMPLATE_OPTIONS},
    }
    return ChatOpenAI(model=model, **{**defaults, **options})
