"""The house: which room may import which, no circle between modules, and a test for each module."""

from __future__ import annotations

import ast
import unittest
from functools import cache
from pathlib import Path

from tests.helpers import REPOSITORY

MODEL, WIDTH = "src.radixcache", "src.width"  # the room of the model: two files and no folder
MAY_IMPORT = {
    MODEL: set(),
    WIDTH: {MODEL},
    "src.page": set(),
    "src.policies": {MODEL},
    "src.engines": {MODEL, "src.policies"},
    "src.walks": {MODEL, WIDTH, "src.policies"},
    "src.claims": {MODEL, WIDTH, "src.policies", "src.walks", "src.engines", "src.page"},
    "src.traces": {MODEL, WIDTH, "src.policies", "src.engines", "src.page"},
    "src.commands": {MODEL, "src.page", "src.policies", "src.walks", "src.engines", "src.claims", "src.traces"},
}


def room(module: str) -> str:
    """Return the room of a module: its folder, or the model itself."""
    return ".".join(module.split(".")[:2])


def imports(text: str) -> set[str]:
    """Return the modules of ours that a module imports, wherever in its text; `from src.room import module` too."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {one if is_module(one) else node.module for one in inner}
    return {name for name in found if name.split(".")[0] in ("src", "run", "derisk", "tests")}


def is_module(name: str) -> bool:
    """Return whether a dotted name is a module of this repository."""
    return (REPOSITORY / Path(*name.split("."))).with_suffix(".py").is_file()


@cache
def house() -> dict[str, set[str]]:
    """Return each module under `src` with what it imports of ours."""
    paths = [path for path in sorted((REPOSITORY / "src").rglob("*.py")) if path.name != "__init__.py"]
    return {".".join(path.relative_to(REPOSITORY).with_suffix("").parts): imports(path.read_text()) for path in paths}


class Rooms(unittest.TestCase):
    def test_no_arrow_points_upwards(self) -> None:
        for module, used in house().items():
            allowed = MAY_IMPORT[room(module)] | {room(module)}
            for one in used:
                self.assertIn(room(one), allowed, f"{module} imports {one}")

    def test_no_circle(self) -> None:
        left = dict(house())
        while left:
            free = [module for module, used in left.items() if not used & left.keys()]
            self.assertTrue(free, f"a circle among {sorted(left)}")
            for module in free:
                del left[module]

    def test_the_reader_sees_what_is_forbidden(self) -> None:
        self.assertEqual(imports("from src.walks import cycles\nfrom src.page.chart import chart"),
                         {"src.walks.cycles", "src.page.chart"})
        self.assertEqual(imports("def f():\n    import src.claims.study, json"), {"src.claims.study"})

    def test_every_room_says_what_it_is_for(self) -> None:
        for folder in MAY_IMPORT.keys() - {MODEL, WIDTH}:
            text = (REPOSITORY / Path(*folder.split(".")) / "__init__.py").read_text()
            self.assertRegex(ast.get_docstring(ast.parse(text)) or "", r"(?s)May import .*Start with", folder)

    def test_every_module_has_a_test(self) -> None:
        for module in house():
            _, *rooms, name = module.split(".")
            test = REPOSITORY.joinpath("tests", *rooms, f"test_{name}.py")
            self.assertTrue(test.is_file(), f"{test} is missing")


if __name__ == "__main__":
    unittest.main()
