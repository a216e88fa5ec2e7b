"""A policy in a file of the user's own: `FILE.py:FUNCTION`."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from pathlib import Path
from typing import Any, Callable

from src.policies.facts import CLOCK, Facts, PolicyError


def load(name: str) -> Callable[..., Any]:
    """Return the function that `FILE.py:FUNCTION` names."""
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
    except SyntaxError as error:
        raise PolicyError(f"{error.filename or file}:{error.lineno}: {error.msg}: mend the file") from None
    except (Exception, SystemExit) as error:
        raise PolicyError(f"{file}: fails when it is loaded ({type(error).__name__}: {error}): mend the file") from None
    score: Callable[..., Any] | None = getattr(module, function, None)
    if not callable(score):
        raise PolicyError(f"{file}: has no function {function!r}: name one that takes the facts of a block")
    try:
        options = list(inspect.signature(score).parameters.values())
    except (TypeError, ValueError):
        options = []
    positional = options and options[0].kind in (options[0].POSITIONAL_ONLY, options[0].POSITIONAL_OR_KEYWORD)
    if not positional or any(option.default is option.empty and option.name != CLOCK for option in options[1:]):
        raise PolicyError(
            f"{file}: {function} must take the facts of a block; any further parameter but {CLOCK} needs a default"
        )

    @functools.wraps(score)
    def told(block: Facts, **config: int) -> Any:
        """Score a block, and say which file is at fault if that fails."""
        try:
            return score(block, **config)
        except TypeError:
            raise  # those who serve blocks that only compare need to know
        except Exception as error:
            raise PolicyError(f"{file}: {function} fails ({type(error).__name__}: {error}): mend it") from None

    return told
