"""The table, the figures and the verdict."""
import dataclasses
import json
import statistics

from texts import PASSAGE_TOKENS

SPAN_SHARE_LEAST = 0.8  # of the warm phase: what the demo asks for
SPEED_UP_AIM = 5.0      # of the warm phase: told, not asked for; clocks are not to be trusted on a busy machine

_COLUMNS = (("phase", -18), ("requests", 8), ("prompted", 9), ("reused", 8), ("computed", 9), ("TTFT p50", 10), ("speed-up", 9),
            ("spans reused", 13), ("equal", 7), ("failed", 7))


def _row(cells):
    return "".join(f"{cell:<{-width}}" if width < 0 else f"{cell:>{width}}" for cell, (_, width) in zip(cells, _COLUMNS))


def print_head():
    print(_row([name for name, _ in _COLUMNS]), flush=True)


def print_phase(phase):
    ttft, times = phase.ttft_p50, phase.speed_up
    print(_row([phase.name, len(phase.answers), phase.prompted, phase.reused, phase.computed,
                f"{ttft * 1000:.0f} ms" if ttft else "-", f"{times:.1f}x" if times else "-", f"{phase.span_share:.1%}",
                f"{phase.equal}/{len(phase.answers)}", len(phase.failed)]), flush=True)


@dataclasses.dataclass
class Learnt:
    """What cairn-placement knows at the end, as cairnctl tells it, and the workers' plans by who made them."""
    families: list
    length: int           # of the usual prompt
    plan: dict            # of the family that came back most, for a prompt of that length
    plans_asked: dict     # by source

    @classmethod
    def of(cls, cluster, phases):
        families = sorted(cluster.placement.ctl("show")["families"], key=lambda family: -family["claims"])
        length = int(statistics.median(a.cairn["prompt_tokens"] for a in phases[0].good()))
        plan = cluster.placement.ctl("explain", families[0]["family"], f"--length={length}")["plan"] if families else {}
        healths = [worker.health() for worker in (cluster.worker_a, cluster.worker_b)]
        return cls(families, length, plan, {name: sum(h[f"plans_{name}"] for h in healths) for name in ("by_service", "cached", "balanced")})

    def sum(self, field):
        return sum(family[field] for family in self.families)


def print_learnt(learnt, say):
    say(f"cairn-placement was told of {learnt.sum('requests')} prompts in {len(learnt.families)} families (cairnctl plan show); "
        f"{learnt.sum('claims')} agreed with an earlier one, in {learnt.sum('ceiling_tokens')} tokens, and all of that was still "
        f"cached for {learnt.sum('served')}")
    if learnt.plan:
        say(f"a prompt of {learnt.length} tokens in family {learnt.families[0]['family']}, if the model had recurrent states, would keep "
            f"them at {', '.join(map(str, learnt.plan['positions'])) or 'none'}: {learnt.plan['reason']}")


def faults(phases, learnt=None):
    """Why the demo is not good; empty if it is."""
    found = [f"{p.name}: only {p.equal} of {len(p.answers)} answers have the tokens of the cacheless worker"
             for p in phases if p.equal != len(p.answers)]
    found += [f"{p.name}: {len(p.failed)} requests failed" for p in phases if p.failed]
    for phase in phases:
        if phase.name.startswith("warm") and phase.span_share < SPAN_SHARE_LEAST:
            found.append(f"{phase.name}: {phase.span_share:.1%} of the passages' tokens were reused, "
                         f"less than {SPAN_SHARE_LEAST:.0%}")
    if learnt is not None and not learnt.sum("claims"):
        found.append("cairn-placement was told of no prompt that agrees with an earlier one")
    if learnt is not None and not learnt.plans_asked["by_service"]:
        found.append("no worker got a plan from cairn-placement")
    sizes = [span["tokens"] for a in phases[0].good() for span in a.cairn["spans"]] if phases else []
    if sizes and not PASSAGE_TOKENS[0] <= min(sizes) <= max(sizes) <= PASSAGE_TOKENS[1]:
        found.append(f"passages have {min(sizes)} to {max(sizes)} tokens, not {PASSAGE_TOKENS[0]} to {PASSAGE_TOKENS[1]}: "
                     "are these the texts of Debian 12?")
    return found


def write_json(path, phases, learnt, found, seconds):
    figures = {"is_good": not found, "faults": found, "seconds": round(seconds, 1), "phases": []}
    for p in phases:
        figures["phases"].append({
            "name": p.name, "requests": len(p.answers), "tokens_prompted": p.prompted, "tokens_reused": p.reused,
            "tokens_computed": p.computed, "span_share_reused": p.span_share, "answers_equal": p.equal,
            "requests_failed": len(p.failed), "ttft_p50_seconds": p.ttft_p50, "speed_up": p.speed_up,
            "ttft_seconds": [a.ttft for a in p.good()] if p.is_timed else None})
    if learnt is not None:
        figures["placement"] = {"families": len(learnt.families), "plans": learnt.plans_asked,
                                **{field: learnt.sum(field) for field in ("requests", "claims", "served", "ceiling_tokens")}}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(figures, file, indent=2)
        file.write("\n")
