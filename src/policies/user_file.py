"""A policy in a file of the user's own: `FILE.py:FUNCTION`."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from pathlib import Path
from typing import Any, Callable

from src.policies.checked import NOT_OURS, place, told
from src.policies.facts import OFFERED, Facts, PolicyError, asks_for


class FromFile:
    """The function of a policy file, with its name and parameters, and the name under which it was asked for."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.__name__ = name.rpartition(":")[2]
        self._score, self.origin = function, name

    def __call__(self, block: Facts, /, **config: int) -> Any:
        """Return the score of a block."""
        return self._score(block, **config)

    def afresh(self) -> FromFile:
        """Return the function of the file as it is when it is loaded anew: two of them share nothing."""
        return load(self.origin)


def afresh(score: Any) -> Any:
    """Return a score, its file loaded anew if it is from one; with the same configuration."""
    if isinstance(score, functools.partial):
        return functools.partial(afresh(score.func), **score.keywords)
    return score.afresh() if isinstance(score, FromFile) else score


def file_of(name: str) -> str | None:
    """Return the file in the name of a policy, None if the name has none."""
    return name.rpartition(":")[0] if ".py:" in name else None


def load(name: str) -> FromFile:
    """Return the function that `FILE.py:FUNCTION` names.  Raises PolicyError if it cannot be had or is no score."""
    file, _, function = name.rpartition(":")
    path = Path(file)
    try:
        there = path.is_file()
    except (OSError, ValueError):  # a name too long, or with a null byte
        there = False
    if not there:
        raise PolicyError(f"{file}: there is no such file: give FILE.py:FUNCTION")
    if path.suffix != ".py":
        raise PolicyError(f"{file}: not a Python file: give FILE.py:FUNCTION")
    module = types.ModuleType(f"policy_{path.stem}")
    module.__file__ = file
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(compile(path.read_bytes(), file, "exec", dont_inherit=True), module.__dict__)
        return _function(name, getattr(module, function, None))
    except PolicyError:
        raise
    except SyntaxError as error:
        raise PolicyError(f"{error.filename or file}:{error.lineno}: {error.msg}: mend the file") from None
    except NOT_OURS:
        raise
    except BaseException as error:
        raise PolicyError(f"{file}: fails when it is loaded ({told(error)}): mend the file") from None


def _function(name: str, score: Any) -> FromFile:
    """Return what was found under a name in a file as a score.  Raises PolicyError, or whatever its own code raises."""
    file, _, function = name.rpartition(":")
    if not callable(score):
        raise PolicyError(f"{file}: has no function {function!r}: name one that takes the facts of a block")
    if any(map(inspect.iscoroutinefunction, (score, type(score).__call__))):
        raise PolicyError(f"{place(score)} is async: a score is returned, not awaited")
    try:
        options = list(inspect.signature(score).parameters.values())
    except (TypeError, ValueError):
        options = []
    positional = options and options[0].kind in (options[0].POSITIONAL_ONLY, options[0].POSITIONAL_OR_KEYWORD)
    asked = asks_for(score)
    if not positional or any(option.default is option.empty and option.name not in asked for option in options[1:]):
        raise PolicyError(
            f"{file}: {function} must take the facts of a block;"
            f" any further parameter but {', '.join(OFFERED[:-1])} and {OFFERED[-1]} needs a default"
        )
    return FromFile(name, score)
