"""What models support: JSON by schema, system messages, options of the chat template, streaming."""

import logging
from typing import Any
from weakref import WeakValueDictionary

from langchain_core.language_models import BaseChatModel

from langgraph_rag.models.bindings import AnyModel, bound_options, models_in
from langgraph_rag.models.connections import address, is_openai

_log = logging.getLogger(__name__)
_SHORT_REPLY = 512  # tokens; nearly all replies are shorter


class Unsupported:
    """The models in this process that do not support a feature; `warning`, if any, is logged once for each."""

    def __init__(self, warning: str = "") -> None:
        self._warning = warning
        self._models: WeakValueDictionary[int, Any] = WeakValueDictionary()

    def __contains__(self, llm: AnyModel) -> bool:
        return id(_one_model(llm)) in self._models

    def add(self, llm: AnyModel) -> None:
        """Note that a model, or its server, does not support the feature."""
        if llm not in self:
            model = _one_model(llm)
            self._models[id(model)] = model
            if self._warning:
                _log.warning(self._warning, address(llm) or type(model).__name__)

    def discard(self, llm: AnyModel) -> None:
        """Note that it supports the feature after all."""
        self._models.pop(id(_one_model(llm)), None)


no_schema = Unsupported("%s refuses response_format: its replies are no longer asked for by JSON schema")
failing_by_schema = Unsupported()
"""Those that failed, for whatever reason, when last asked by schema, and replied without it."""
no_system_messages = Unsupported("%s refuses system messages: instructions now stand in the user's")
no_streams = Unsupported("%s does not stream: its replies are no longer asked for piece by piece")
no_template_options = Unsupported("%s refuses chat_template_kwargs: its chat template is no longer told anything")


def schema_options(llm: AnyModel, name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the options that ask a model for JSON by schema; none if it does not support schemas.

    Models on OpenAI's client are assumed to support them, others if their LangChain profile says so. A model with
    fallbacks is asked without a schema, because each fallback may support something else. A `response_format` that is
    bound to the model, and an `extra_body` that it has, take precedence.

    The schema goes into `extra_body`. As `response_format`, OpenAI's client would process the whole schema in each
    call, which takes a seventh of the call's processor time, and would withhold replies that were cut off.
    """
    model, bound = _one_model(llm), bound_options(llm)
    able = is_openai(model) or isinstance(model, BaseChatModel) and (model.profile or {}).get("structured_output")
    if not able or llm in no_schema or "response_format" in bound:
        return {}
    form = {"response_format": {"type": "json_schema", "json_schema": {"name": name, "schema": schema}}}
    if not is_openai(model) or model.use_responses_api:  # which has another place for it
        return form
    return {"extra_body": {**form, **(bound.get("extra_body", model.extra_body) or {})}}


def shorter_reply(llm: AnyModel) -> dict[str, Any]:
    """Return the options that ask a model on OpenAI's client for a shorter reply; none if replies are short already."""
    model, bound = _one_model(llm), bound_options(llm)
    if not is_openai(model) or (bound.get("max_tokens", model.max_tokens) or 0) <= _SHORT_REPLY:
        return {}
    return {"max_tokens": _SHORT_REPLY}


def without_template_options(llm: AnyModel, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a call that leave out those of the chat template, also if the model has them bound."""
    model = _one_model(llm)
    if not is_openai(model):
        return options
    body = {"extra_body": model.extra_body, **bound_options(llm), **options}["extra_body"] or {}
    others = {name: value for name, value in body.items() if name != "chat_template_kwargs"}
    return options if others == body else {**options, "extra_body": others}


def _one_model(llm: AnyModel) -> Any:
    """Return the model inside the wrappers; with fallbacks, the whole."""
    first, *others = models_in(llm)
    return llm if others else first
