"""The controls for method, model and limits: one for each field of `Context`, with its own description as help."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nicegui import ui
from pydantic import TypeAdapter, ValidationError

from langgraph_rag.context import Context
from langgraph_rag.errors import RagError
from langgraph_rag.filters import filter_in
from langgraph_rag.methods import METHODS
from langgraph_rag.models.loading import MODEL_FORMS
from langgraph_rag.naming import spoken

_CONTEXT = TypeAdapter(Context)
_FIRST = ("answer_style", "filter", "search", "top_k", "max_steps", "max_model_calls", "max_tokens", "deadline_s")
_OFFLINE = "offline is no language model but rules without weights, to try the page with."


@dataclass(frozen=True)
class Choice:
    """The selected method, model and settings."""

    method: str
    model: str
    approve_plan: bool
    context: Context

    def __str__(self) -> str:
        return f"{self.method} with {self.model}"


class SettingsForm:
    """The controls, drawn in the current `with` block; if `models` are given, only these can be selected."""

    def __init__(self, method: str, model: str, models: Sequence[str]) -> None:
        ui.html("How to answer", tag="h2").classes("section")
        choices = {name: f"{name}: {about.case}" if about.case else name for name, about in METHODS.items()}
        self._method = ui.select(choices, label="Method", value=method).props("outlined dense options-dense")
        help_ = _help(self._method, "")
        self._approve = ui.switch("Show me the plan first")
        self._method.on_value_change(lambda: self._show_method(help_))
        self._show_method(help_)
        self._model = _model_control(model, models)
        fields = _CONTEXT.json_schema()["properties"]
        with ui.expansion("Search and limits").classes("limits").props("dense header-class=section"):
            self._fields = {name: _control(name, fields[name]) for name in dict.fromkeys([*_FIRST, *fields])}

    def on_change(self, tell: Callable[[], object]) -> None:
        """Call a function after each change."""
        for control in self._controls.values():
            control.on_value_change(tell)

    def chosen(self) -> dict[str, Any]:
        """Return the values of the controls, by name."""
        return {name: control.value for name, control in self._controls.items()}

    def choose(self, chosen: Mapping[str, Any]) -> None:
        """Restore earlier values that can still be selected."""
        for name, control in self._controls.items():
            if name in chosen and (not isinstance(control, ui.select) or chosen[name] in control.options):
                control.value = chosen[name]

    @property
    def _controls(self) -> dict[str, Any]:
        return {"method": self._method, "model": self._model, "approve_plan": self._approve, **self._fields}

    def choice(self) -> Choice:
        """Return the selected method, model and settings."""
        given = {name: field.value for name, field in self._fields.items() if field.value is not None}
        where = str(given.pop("filter", "")).strip()
        try:
            context = _CONTEXT.validate_python({**given, "filter": filter_in(where) if where else None})
        except ValidationError as error:
            wrong = "; ".join(f"{_words(str(e['loc'][0]))}: {e['msg']}" for e in error.errors())
            raise RagError(f"a setting cannot be used: {wrong}") from error
        return Choice(str(self._method.value), (self._model.value or "").strip(), self._asks_first(), context)

    def _asks_first(self) -> bool:
        return bool(self._approve.visible and self._approve.value)

    def _show_method(self, help_: ui.label) -> None:
        method = METHODS[str(self._method.value)]
        help_.text = ". ".join(filter(None, [method.case, method.paper]))
        self._method.props(f"display-value={self._method.value}")
        self._approve.visible = "approve_plan" in inspect.signature(method.create).parameters


def _model_control(model: str, models: Sequence[str]) -> Any:
    if models:
        control: Any = ui.select(list(models), label="Model", value=model).props("outlined dense")
    else:
        control = ui.input("Model", value=model).props("outlined dense spellcheck=false")
        _help(control, f"One of: {'; '.join(MODEL_FORMS)}.")
    ui.label(_OFFLINE).classes("help").bind_visibility_from(control, "value", value="offline")
    return control


def _control(name: str, schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        control: Any = ui.select(schema["enum"], label=_words(name), value=schema["default"])
    elif name == "filter":
        control = ui.input(_words(name), placeholder="none").props("spellcheck=false")
    elif schema.get("type") == "string":
        control = ui.input(_words(name), value=schema["default"], placeholder="as short as possible")
    else:
        whole = any(form.get("type") == "integer" for form in [schema, *schema.get("anyOf", [])])
        control = ui.number(
            _words(name), value=schema["default"], step=1 if whole else None,
            placeholder="none" if name.startswith(("max_model", "max_tokens", "deadline")) else "the method's own",
        )  # fmt: skip
        control.props("clearable" if schema["default"] is None else "")
    control.props("outlined dense stack-label")
    _help(control, schema["description"])
    return control


def _help(control: Any, text: str) -> ui.label:
    help_ = ui.label(text).classes("help")
    control.props(f"aria-describedby={help_.html_id}")
    return help_


def _words(name: str) -> str:
    return spoken(name).capitalize()
