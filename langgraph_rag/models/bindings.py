"""Chat models inside LangChain's wrappers: bound options, retries, fallbacks."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, MessageLikeRepresentation
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import Runnable, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBinding, RunnableBindingBase  # the base is that of retries, too

AnyModel = Runnable[Any, Any]
ChatModel = Runnable[PromptValue | str | Sequence[MessageLikeRepresentation], AIMessage]
"""A chat model, also wrapped by its `bind`, `with_config`, `with_retry` or `with_fallbacks`."""


def models_in(llm: AnyModel) -> list[AnyModel]:
    """Return the model inside the wrappers, and its fallbacks after it."""
    if isinstance(llm, RunnableBindingBase):
        return models_in(llm.bound)
    if isinstance(llm, RunnableWithFallbacks):
        return [model for each in llm.runnables for model in models_in(each)]
    return [llm]


def model_name(llm: AnyModel) -> str:
    """Return the name of a model; with fallbacks, that of the first one."""
    first = models_in(llm)[0]
    return str(getattr(first, "model_name", None) or getattr(first, "model", None) or type(first).__name__)


def unbound(llm: AnyModel) -> AnyModel:
    """Return a model without its bound options; retries and fallbacks stay."""
    return unbound(llm.bound) if isinstance(llm, RunnableBinding) else llm


def with_models(llm: AnyModel, change: Callable[[AnyModel], AnyModel]) -> AnyModel:
    """Change the models inside the wrappers; the wrappers stay."""
    if isinstance(llm, RunnableBindingBase):
        return llm.model_copy(update={"bound": with_models(llm.bound, change)})
    if isinstance(llm, RunnableWithFallbacks):
        first, *others = (with_models(each, change) for each in llm.runnables)
        return llm.model_copy(update={"runnable": first, "fallbacks": others})
    return change(llm)


def bound_options(llm: AnyModel) -> dict[str, Any]:
    """Return the options that are bound to a model; those of outer bindings take precedence."""
    return {**bound_options(llm.bound), **llm.kwargs} if isinstance(llm, RunnableBindingBase) else {}
