"""Policies in files of the user's own."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

from src.policies.checked import Checked
from src.policies.facts import Facts, PolicyError
from src.policies.scores import lru, make_policy, parameters
from src.policies.user_file import afresh, file_of
from tests.helpers import policy_file


class PolicyFileTest(unittest.TestCase):
    """FILE.py:FUNCTION: a policy of the user's own, and what can be wrong with it."""

    def refused(self, text: str, function: str = "score") -> str:
        """Return the complaint about a file, with {file} in place of its name."""
        with policy_file(text) as file, self.assertRaises(PolicyError) as caught:
            make_policy(f"{file}:{function}")
        return str(caught.exception).replace(file, "{file}")

    def test_a_good_one_with_its_parameter(self) -> None:
        with policy_file("def score(block, weight=3):\n    return block.hits * weight\n") as file:
            name = f"{file}:score"
            self.assertEqual(make_policy(name)(Facts(9, 1, 5, 0, 1)), 15)
            self.assertEqual(make_policy(name, {"weight": 4})(Facts(9, 1, 5, 0, 1)), 20)
            self.assertEqual(parameters(make_policy(name)), {"weight": 3})
            with self.assertRaisesRegex(PolicyError, "^unknown key 'size' in .*policy.py:score', which takes weight$"):
                make_policy(name, {"size": 4})
            with self.assertRaisesRegex(PolicyError, "^weight of policy .* is 0: give an integer of at least 1$"):
                make_policy(name, {"weight": 0})

    def test_two_parameters_are_both_named(self) -> None:
        with policy_file("def score(block, one=1, *, two=2):\n    return one - two\n") as file:
            self.assertEqual(make_policy(f"{file}:score", {"two": 5})(Facts(1, 1, 0, 0, 1)), -4)
            with self.assertRaisesRegex(PolicyError, "which takes one, two$"):
                make_policy(f"{file}:score", {"three": 3})

    def test_anything_that_can_be_called_with_the_facts(self) -> None:
        text = "class Score:\n    def __call__(self, block): return block.hits\nscore = Score()"
        for each in ("score = lambda block: block.hits", text):
            with policy_file(each) as file:
                self.assertEqual(make_policy(f"{file}:score")(Facts(1, 1, 7, 0, 1)), 7)

    def test_missing_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "directory.py").mkdir()
            for name in (f"{folder}/none.py", f"{folder}/directory.py"):
                with self.assertRaises(PolicyError) as caught:
                    make_policy(f"{name}:score")
                self.assertEqual(str(caught.exception), f"{name}: there is no such file: give FILE.py:FUNCTION")

    def test_a_file_that_is_not_python(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/text.py:txt"  # the last colon separates the function
            Path(file).write_text("", encoding="utf-8")
            with self.assertRaises(PolicyError) as caught:
                make_policy(f"{file}:score")
        self.assertEqual(str(caught.exception), f"{file}: not a Python file: give FILE.py:FUNCTION")

    def test_missing_function(self) -> None:
        for text, function in (("", "score"), ("score = 3", "score"), ("def score(b): return 1", "")):
            message = f"{{file}}: has no function {function!r}: name one that takes the facts of a block"
            self.assertEqual(self.refused(text, function), message)

    def test_syntax_error(self) -> None:
        self.assertRegex(self.refused("x = 1\ndef score(block:\n"), r"^\{file\}:2: .+: mend the file$")

    def test_a_null_byte(self) -> None:
        self.assertRegex(self.refused("x = '\0'"), r"^\{file\}:.* null bytes.*: mend the file$")

    def test_a_file_that_fails_when_it_is_loaded(self) -> None:
        message = "{file}: fails when it is loaded (%s): mend the file"
        missing = "ModuleNotFoundError: No module named 'no_such_module'"
        self.assertEqual(self.refused("import no_such_module"), message % missing)
        self.assertEqual(self.refused("1 // 0").split(" (")[1].split(":")[0], "ZeroDivisionError")

    def test_a_function_that_does_not_take_the_facts(self) -> None:
        message = "{file}: score must take the facts of a block;"
        message += " any further parameter but now, now_ms and returns needs a default"
        for text in ("def score(): return 1", "def score(block, weight): return 1", "score = max",
                     "def score(block, now, /): return 1", "def score(block, *now): return 1"):
            self.assertEqual(self.refused(text), message, text)

    def test_a_function_that_cannot_take_the_facts_by_position(self) -> None:
        for text in ("def score(*, block): return 1", "def score(**facts): return 1"):
            self.assertIn("score must take the facts of a block", self.refused(text), text)

    def test_a_score_that_fails_names_the_line_in_its_file(self) -> None:
        text = "def inner(block, limit):\n    return block.hits + limit\n\n\ndef score(block, limit=1):\n"
        text += "    if limit == 9:\n        raise SystemExit('over')\n"
        text += "    return inner(block, None if limit == 4 else limit)\n"
        for limit, line, error in ((4, 2, "TypeError: unsupported operand"), (9, 7, "SystemExit: over")):
            with policy_file(text) as file, self.assertRaises(PolicyError) as caught:
                Checked(make_policy(f"{file}:score", {"limit": limit}))(Facts(1, 1, 0, 0, 1))
            self.assertTrue(str(caught.exception).startswith(f"{file}:{line}: score fails on Facts(last_access=1"))
            self.assertIn(f"({error}", str(caught.exception))

    def test_what_has_no_line_names_its_file(self) -> None:
        for text in ("class score:\n    def __init__(self, block): pass\n", "score = list.__len__\n"):
            with policy_file(text) as file, self.assertRaisesRegex(PolicyError, f"^{file}:score (returns|fails on) "):
                Checked(make_policy(f"{file}:score"))(Facts(1, 1, 0, 0, 1))

    def test_a_parameter_may_have_any_name(self) -> None:
        with policy_file("def score(facts, block=1, self=2):\n    return facts.hits + block + self\n") as file:
            self.assertEqual(make_policy(f"{file}:score", {"block": 5, "self": 3})(Facts(1, 1, 1, 0, 1)), 9)
        text = "def score(facts, weight=1, /):\n    return facts.hits * weight\n"
        with policy_file(text) as file, self.assertRaisesRegex(PolicyError, "unknown key 'weight'"):
            make_policy(f"{file}:score", {"weight": 5})

    def test_each_replay_has_a_file_of_its_own(self) -> None:
        text = "seen = []\ndef score(block, start=0):\n    seen.append(1)\n    return start + len(seen)\n"
        with policy_file(text) as file:
            one = make_policy(f"{file}:score", {"start": 5})
            self.assertEqual([one(Facts(1, 1, 0, 0, 1)) for _ in range(2)], [6, 7])
            self.assertEqual(afresh(one)(Facts(1, 1, 0, 0, 1)), 6)
            self.assertEqual(afresh(make_policy(f"{file}:score"))(Facts(1, 1, 0, 0, 1)), 1)
        self.assertIs(afresh(lru), lru)
        self.assertEqual(afresh(make_policy("slru", {"protected_threshold": 3}))(Facts(1, 1, 3, 0, 1)), True)

    def test_the_file_of_a_name(self) -> None:
        self.assertEqual([file_of(name) for name in ("a/b.py:f", "lru", "x.py:y.py:f")], ["a/b.py", None, "x.py:y.py"])

    def test_a_score_that_is_awaited(self) -> None:
        told = "is async: a score is returned, not awaited"
        self.assertEqual(self.refused("\n\nasync def score(block): return 1\n"), f"{{file}}:3: score {told}")
        text = "class Score:\n    async def __call__(self, block): return 1\nscore = Score()\n"
        self.assertEqual(self.refused(text), f"{{file}}:2: Score {told}")

    def test_whatever_is_raised_when_it_is_loaded(self) -> None:
        own = "class Score:\n    def __call__(self, block): return 1\n    "
        for text, error in (
            ("raise GeneratorExit", "GeneratorExit"),
            ("class Mine(BaseException): pass\nraise Mine('x')", "Mine: x"),
            ("def __getattr__(name): raise LookupError(name)", "LookupError: score"),
            ("def __getattr__(name): raise SystemExit(0)", "SystemExit: 0"),
            ("raise SystemExit", "SystemExit)"),
            (own + "__signature__ = property(lambda self: exit(0))\nscore = Score()", "SystemExit: 0"),
            (own + "def __getattr__(self, name): raise KeyError(name)\nscore = Score()", "KeyError: '"),
        ):
            self.assertIn(f"{{file}}: fails when it is loaded ({error}", self.refused(text))
        with policy_file("raise KeyboardInterrupt") as file, self.assertRaises(KeyboardInterrupt):
            make_policy(f"{file}:score")

    def test_a_file_that_exits_when_it_is_loaded(self) -> None:
        self.assertRegex(self.refused("raise SystemExit(3)"), r"fails when it is loaded \(SystemExit")

    def test_a_syntax_error_in_an_imported_file_is_not_laid_on_the_policy_file(self) -> None:
        text = "import sys\nsys.path.insert(0, __file__[:-9])\nimport broken_neighbour\n"
        with policy_file(text) as file:
            Path(file).with_name("broken_neighbour.py").write_text("\n" * 8 + "x = = 1\n", encoding="utf-8")
            path = list(sys.path)
            try:
                with self.assertRaises(PolicyError) as caught:
                    make_policy(f"{file}:score")
            finally:
                sys.path[:] = path
        self.assertRegex(str(caught.exception), r"broken_neighbour\.py:9: .+: mend the file$")

    def test_a_file_with_a_dataclass(self) -> None:
        head = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        text = "@dataclass\nclass Weight:\n    hits: int = 2\ndef score(block): return block.hits * Weight().hits\n"
        with policy_file(head + text) as file:
            self.assertEqual(make_policy(f"{file}:score")(Facts(1, 1, 3, 0, 1)), 6)

    def test_a_file_is_compiled_as_if_it_stood_alone(self) -> None:
        with policy_file("def score(block: int): return score.__annotations__['block'] is int\n") as file:
            self.assertTrue(make_policy(f"{file}:score")(Facts(1, 1, 0, 0, 1)))  # not 'int': no future of src's

    def test_an_edited_file_is_read_again_and_leaves_nothing_beside_it(self) -> None:
        written = sys.dont_write_bytecode
        sys.dont_write_bytecode = False
        try:
            with policy_file("def score(block): return 1\n") as file:
                self.assertEqual(make_policy(f"{file}:score")(Facts(1, 1, 0, 0, 1)), 1)
                Path(file).write_text("def score(block): return 2\n", encoding="utf-8")
                self.assertEqual(make_policy(f"{file}:score")(Facts(1, 1, 0, 0, 1)), 2)
                self.assertEqual([path.name for path in Path(file).parent.iterdir()], ["policy.py"])
        finally:
            sys.dont_write_bytecode = written


if __name__ == "__main__":
    unittest.main()
