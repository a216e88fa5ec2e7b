"""An adversary for any eviction policy: the worst ratio to the optimum, up to a length and for all lengths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Callable

from src.policies.facts import Score
from src.radixcache import Optimum, Trie, check_fits, names
from src.walks.beside_optimum import policy_beside_optimum
from src.walks.every_length import EveryLength, Supremum, condensed, policy_every_length, request_names
from src.walks.exhaustive import Outgrown, Worst, worst_ratio
from src.walks.forests import forest_trie, forests
from src.walks.policy_machine import PolicyMachines, with_policy
from src.width import price, width

DEFAULT_LENGTH = 5


@dataclass
class Attack:
    """What an attack found: the worst of all sequences up to `length`, and what is known of all lengths.

    `worst` is the largest ratio with the first of its shortest sequences, on `trie`.  `settled` is the supremum
    over all lengths on `settled_trie`, or None; then `open` says why.  `outgrown`: what a search that reached too
    many states had found by then, and what to do about it.  `computes_with_times`: the score needs exact times.
    `priorities`: 0 and 1 once the score was seen to depend on the priority of requests, 0 until then.
    """

    capacity: int
    optimum: Optimum
    length: int
    tries: int = 0
    trie: Trie | None = None
    worst: Worst | None = None
    settled_trie: Trie | None = None
    settled: EveryLength | None = None
    open: str = ""
    outgrown: str = ""
    policy: str = ""
    computes_with_times: bool = False
    priorities: tuple[int, ...] = (0,)

    def lines(self) -> list[str]:
        """Return the findings for a reader."""
        tries = f"{self.tries} tries" if self.tries > 1 else f"strings {_listed(self.trie)}"
        lines = [f"policy {self.policy}, {tries}, K = {self.capacity}, {self.optimum.value} optimum"]
        if self.tries == 1 and self.trie:
            lines.append(worst_case(self.trie, self.capacity, self.optimum))
        if self.worst is not None:
            misses, best = self.worst.tally
            ratio = f"{misses}/{best} = {self.worst.ratio}"
            lines.append(f"up to {self.length} requests, exhaustively: worst ratio {ratio}")
            lines += self._on(self.trie)
            lines.append(f"  smallest witness: {self._shown(self.worst.sequence)}")
        if self.settled is not None:
            one = self.settled
            lines.append(f"every length, with no bound ({one.result.states} states): worst ratio {one.ratio}")
            lines += self._on(self.settled_trie)
            if one.cycle:
                prefix, cycle, rounds = one.without_warm_up()
                lines.append(f"  first {self._shown(prefix) or 'nothing'}")
                lines.append(f"  then over and over {self._shown(cycle)}")
                since = f"from round {rounds + 1} on, " if rounds else ""
                lines.append(f"  {since}each round: policy {one.misses} misses, optimum {one.optimum_misses}")
            else:
                lines.append(f"  attained by {self._shown(one.prefix)}: {one.misses}/{one.optimum_misses}")
        elif self.open:
            lines.append(f"every length: not settled, {self.open}")
        return lines

    def as_json(self) -> dict[str, Any]:
        """Return the findings for a machine."""
        found: dict[str, Any] = {
            "parameters": {
                "policy": self.policy,
                "capacity": self.capacity,
                "optimum": self.optimum.value,
                "length": self.length,
                "tries": self.tries,
                "priorities": list(self.priorities),
            },
            "up_to_length": None,
            "every_length": None,
            "not_settled": self.open or None,
        }
        if self.worst is not None and self.trie is not None:
            found["up_to_length"] = {
                "strings": names(self.trie.strings),
                "ratio": str(self.worst.ratio),
                "policy_misses": self.worst.tally[0],
                "optimum_misses": self.worst.tally[1],
                "sequence": request_names(self.worst.sequence, self.priorities),
            }
        if self.settled is not None and self.settled_trie is not None:
            found["every_length"] = {
                "strings": names(self.settled_trie.strings),
                "ratio": self.settled.ratio,
                "states": self.settled.result.states,
                "prefix": request_names(self.settled.prefix, self.priorities),
                "cycle": request_names(self.settled.cycle, self.priorities),
                "policy_misses": self.settled.misses,
                "optimum_misses": self.settled.optimum_misses,
            }
        return found

    def _shown(self, sequence: Sequence[Any]) -> str:
        return condensed(request_names(sequence, self.priorities))

    def _on(self, trie: Trie | None) -> list[str]:
        if trie is None or self.tries == 1:
            return []
        return [f"  on strings {_listed(trie)}", f"  {worst_case(trie, self.capacity, self.optimum)}"]


def worst_case(trie: Trie, capacity: int, optimum: Optimum) -> str:
    """Return what the width of a trie says of LRU over all lengths.  It is exact where every block ends a string."""
    if capacity >= len(trie):
        return "all blocks fit: every policy misses as little as the optimum"
    leaves = width(trie.parent, capacity + 1)
    exactly = "exactly" if len(trie.strings) == len(trie) else "at most"
    return f"width {leaves} at K + 1 blocks: LRU's ratio over all lengths is {exactly} {price(leaves, optimum)}"


def _listed(trie: Trie | None) -> str:
    return ",".join(names(trie.strings)) if trie else ""


def attack(
    tries: Iterable[Trie],
    capacity: int,
    score: Score,
    optimum: Optimum,
    length: int | None,
    most: int,
    say: Callable[[str], None] = lambda _: None,
) -> Attack:
    """Search some tries for the worst ratio of a policy under the leaf-only rule, the path in service locked.

    All sequences of up to `length` requests are searched.  Without a length that is `DEFAULT_LENGTH`, and then
    also all lengths, where the policy's states close below `most`.  Raises ValueError for a path that a locked
    optimum cannot hold, and PolicyError for a score that fails.
    Cost: as `worst_ratio` and `explore`; at most `most` entries are held for a length, and at most `most` states.
    """
    found = Attack(capacity, optimum, length or DEFAULT_LENGTH)
    for trie in tries:
        check_fits(trie, capacity, optimum)
        found.tries += 1
        say(f"trie {found.tries}: {_listed(trie)}")
        _bounded(found, trie, score, most)
        if length is None and not found.outgrown:
            _unbounded(found, trie, score, most)
        if found.outgrown:
            break
    if found.open:
        found.settled = None
    return found


def small_tries(nodes: int, capacity: int, optimum: Optimum) -> list[Trie]:
    """Return the tries of all forests with up to so many nodes whose paths the optimum can hold."""
    tries = [forest_trie(forest) for count in range(1, nodes + 1) for forest in forests(count)]
    return [trie for trie in tries if optimum.fits(trie, capacity)]


def _bounded(found: Attack, trie: Trie, score: Score, most: int) -> None:
    """Search all sequences of up to `found.length` requests on one trie."""

    def use(policy: PolicyMachines) -> Worst:
        """Search with the machines of the policy, and note what its score depends on."""
        worst = worst_ratio(policy_beside_optimum(policy, found.optimum, merge=False), found.length, most)
        found.computes_with_times = policy.depends.exact_times
        if policy.depends.priority and found.priorities == (0,):
            found.priorities = (0, 1)
        return worst

    try:
        before = found.priorities
        worst = with_policy(trie, found.capacity, score, use, before)
        if found.priorities != before:
            worst = with_policy(trie, found.capacity, score, use, found.priorities)
    except Outgrown as outgrown:
        searched, worst = outgrown.known
        found.length = searched
        found.outgrown = (
            f"more than {most} entries beyond {searched} requests, to which the search is complete:"
            " raise --max-states or give a smaller --length"
        )
    found.trie = found.trie or trie
    if worst.sequence and (found.worst is None or worst.ratio > found.worst.ratio):
        found.trie, found.worst = trie, worst


def _unbounded(found: Attack, trie: Trie, score: Score, most: int) -> None:
    """Search all lengths on one trie, if the score lets its states close."""
    if found.computes_with_times:
        found.open = "for the score computes with times, so that states of different lengths never merge"
        return
    try:
        (settled,) = policy_every_length(trie, found.capacity, score, (found.optimum,), found.priorities, most)
    except Outgrown as outgrown:
        known: Supremum | None = outgrown.known
        ratio = known.ratio if known else "none"
        found.open = f"for there are more than {most} states; the largest ratio among them is {ratio}"
        found.outgrown = f"{found.open}: raise --max-states or give a --length"
        return
    if found.settled is None or _exceeds(settled, found.settled):
        found.settled_trie, found.settled = trie, settled


def _exceeds(one: EveryLength, other: EveryLength) -> bool:
    if other.result.ratio is None:
        return False
    return one.result.ratio is None or one.result.ratio > other.result.ratio
