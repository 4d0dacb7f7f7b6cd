"""Options without pydantic: Typer imports it to turn the text of any option into text, a path or a number."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args, get_origin

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

Parameter = TyperArgument | TyperOption


class LightCommand(TyperCommand):
    """A command that starts at once where its parameters are texts, paths, whole numbers, flags and lists of them.

    Other parameters stay with Typer's converters, and were Typer to look for them elsewhere one day, all would:
    slower, and as right.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        return _lightened(super().get_params(ctx))


class LightGroup(TyperGroup):
    """The program itself, whose own options need no pydantic."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _lightened(super().get_params(ctx))


def _lightened(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if isinstance(parameter, Parameter) and _kind(parameter) in _CONVERTED:
            parameter._runtime_param = _Plain()  # type: ignore[assignment]
    return parameters


class _Plain:
    """Stands where Typer keeps the converter of one parameter."""

    def coerce(self, value: Any, param: Parameter, ctx: typer.Context) -> Any:
        """`value` as the parameter's annotation has it. Raises `typer.BadParameter`."""
        if _is_list(param):
            return [_converted(each, param, ctx) for each in value or ()]
        return None if value is None else _converted(value, param, ctx)


_CONVERTED = (str, Path, int, bool)


def _kind(param: Parameter) -> Any:
    annotation: Any = param.type_descriptor.annotation
    return get_args(annotation)[0] if _is_list(param) else annotation


def _is_list(param: Parameter) -> bool:
    annotation: Any = param.type_descriptor.annotation
    return get_origin(annotation) is list


def _converted(value: Any, param: Parameter, ctx: typer.Context) -> Any:
    kind = _kind(param)
    if kind is int:
        return _whole_number(value, param, ctx)
    return Path(value) if kind is Path else value


def _whole_number(value: Any, param: Parameter, ctx: typer.Context) -> int:
    try:
        number = int(value)
    except ValueError as error:
        raise typer.BadParameter(f"{value!r} is no whole number.", ctx=ctx, param=param) from error
    least = param.type_descriptor.parameter_info.min
    if least is not None and number < least:
        raise typer.BadParameter(f"{number} is less than {least}.", ctx=ctx, param=param)
    return number


__all__ = ["LightCommand", "LightGroup"]
