"""Chat models inside what LangChain wraps around them: options that are bound to them, retries, fallbacks."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, MessageLikeRepresentation
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import Runnable, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBinding, RunnableBindingBase  # the base is that of retries, too

AnyModel = Runnable[Any, Any]
ChatModel = Runnable[PromptValue | str | Sequence[MessageLikeRepresentation], AIMessage]
"""A chat model, or what its `bind`, `with_config`, `with_retry` or `with_fallbacks` makes of it."""


def models_in(llm: AnyModel) -> list[AnyModel]:
    """Return the models that may be asked, the first one first."""
    if isinstance(llm, RunnableBindingBase):
        return models_in(llm.bound)
    if isinstance(llm, RunnableWithFallbacks):
        return [model for each in llm.runnables for model in models_in(each)]
    return [llm]


def model_name(llm: AnyModel) -> str:
    """Return the name a model goes by; with fallbacks, that of the first one."""
    first = models_in(llm)[0]
    return str(getattr(first, "model_name", None) or getattr(first, "model", None) or type(first).__name__)


def unbound(llm: AnyModel) -> AnyModel:
    """Return the model, with its retries or fallbacks, without the options bound to it."""
    return unbound(llm.bound) if isinstance(llm, RunnableBinding) else llm


def with_models(llm: AnyModel, change: Callable[[AnyModel], AnyModel]) -> AnyModel:
    """Return the same wrapping around changed models."""
    if isinstance(llm, RunnableBindingBase):
        return llm.model_copy(update={"bound": with_models(llm.bound, change)})
    if isinstance(llm, RunnableWithFallbacks):
        first, *others = (with_models(each, change) for each in llm.runnables)
        return llm.model_copy(update={"runnable": first, "fallbacks": others})
    return change(llm)


def bound_options(llm: AnyModel) -> dict[str, Any]:
    """Return the options that are bound to a model: those of the outer binding stand."""
    return {**bound_options(llm.bound), **llm.kwargs} if isinstance(llm, RunnableBindingBase) else {}
