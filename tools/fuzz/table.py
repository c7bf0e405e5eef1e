"""The table of a fuzzing run: fault, count, outcome, lost data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tools.fuzz.faults import FAULTS
from tools.fuzz.play import ConversationResults
from tools.fuzz.setups import PAIRS


@dataclass
class Tally:
    """Sums over conversations."""

    messages: int = 0
    conversations: int = 0
    findings: int = 0
    stalls: int = 0
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    pairs: set[tuple[str, str]] = field(default_factory=set)
    lives: Counter[str] = field(default_factory=Counter)
    protocols: Counter[int] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, played: ConversationResults) -> None:
        """Count a conversation."""
        self.messages += played.messages
        self.conversations += 1
        self.stalls += played.stalls
        self.pairs.add(played.pair)
        self.lives[played.life] += 1
        self.protocols[played.protocol] += 1
        for name, outcome, lost in played.faults:
            self.outcomes[name, outcome] += 1
            self.lost[name] += lost

    def found(self, error: BaseException) -> None:
        """Count a finding."""
        self.findings += 1
        self.conversations += 1
        self.kinds[f"{type(error).__name__}: {str(error)[:100]}"] += 1

    def __str__(self) -> str:
        lines = [f"{'fault':36} {'count':>7} {'refused':>8} {'answered':>8} {'lost data':>9}"]
        for name in FAULTS:
            refused, answered = self.outcomes[name, "refused"], self.outcomes[name, "answered"]
            lines.append(f"{name:36} {refused + answered:>7} {refused:>8} {answered:>8} {self.lost[name]:>9}")
        total = sum(self.outcomes.values())
        refused = sum(count for (_, outcome), count in self.outcomes.items() if outcome == "refused")
        lines.append(f"{'all':36} {total:>7} {refused:>8} {total - refused:>8} {sum(self.lost.values()):>9}")
        lines.append(
            f"{self.messages} messages in {self.conversations} conversations over {len(self.pairs)} of {len(PAIRS)} "
            f"pairs of policy and job model; {self.findings} findings"
        )
        lines.append("lives: " + ", ".join(f"{life} {count}" for life, count in sorted(self.lives.items())))
        texts = ", ".join(f"Batsim {version} {self.protocols[version]}" for version in (4, 5))
        lines.append(f"messages: {texts}, not written {self.protocols[0]}; Batsim 5 without outages, drains, streams")
        lines.append(f"{self.stalls} conversations under published rules left jobs waiting for ever, as published")
        lines += [f"{count:>6} x {kind}" for kind, count in self.kinds.most_common()]
        return "\n".join(lines)
