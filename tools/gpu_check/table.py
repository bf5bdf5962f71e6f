"""The one table at the end."""


def _number(value, form):
    return format(value, form) if isinstance(value, (int, float)) else ""


def _best_rates(rows):
    """Of host-device copies, which have no other ceiling: the best rate of each direction."""
    best = {}
    for row in rows:
        if row.get("row", "").startswith("host copy") and "gb_per_s" in row:
            way = row["name"].split(" ", 2)[-1]
            best[way] = max(best.get(way, 0), row["gb_per_s"])
    return best


def timing_lines(rows):
    best = _best_rates(rows)
    lines = [f"{'what':<78} {'us':>10} {'+-%':>5} {'GB/s':>7} {'TF/s':>6} {'bound us':>10} {'of it':>6} {'x first':>7} "
             f"{'SM MHz':>6}"]
    group = None
    for row in rows:
        if row.get("row") == "device":
            continue
        if row.get("row") != group:
            group = row.get("row")
            lines.append(f"{group}")
        name = f"  {row.get('name', '')}"
        if "us" not in row:
            said = next((f"{key}: {row[key]}" for key in ("left_out", "failed", "same") if key in row), "")
            lines.append(f"{name:<78} {said}")
            continue
        share = row.get("of_bound")
        if share is None and name.strip().split(" ", 2)[-1] in best and "gb_per_s" in row:
            share = row["gb_per_s"] / best[name.strip().split(" ", 2)[-1]]
        lines.append(f"{name:<78} {_number(row['us'], '10.2f')} {_number(100 * row.get('spread', 0), '5.1f')} "
                     f"{_number(row.get('gb_per_s'), '7.1f'):>7} {_number(row.get('tflop_per_s'), '6.1f'):>6} "
                     f"{_number(row.get('bound_us'), '10.2f'):>10} {_number(share, '6.0%'):>6} "
                     f"{_number(row.get('of_first'), '7.3f'):>7} {_number(row.get('sm_mhz'), '6.0f'):>6}".rstrip())
    return lines


def equal_lines(rows):
    lines = [f"{'wgmma against mma.sync':<28} {'numbers':<18} {'k':>4} {'dots':>9} {'unequal':>9} {'moved':>7} {'zeros':>7} "
             f"{'fma chain':>9}"]
    for row in rows:
        if "wgmma" in row:
            lines.append(f"{row['wgmma']:<28} {row['numbers']:<18} {row['k']:>4} {row['dots']:>9} {row['wgmma_unequal']:>9} "
                         f"{row['moved_unequal']:>7} {row['zeros_unequal']:>7} {row['chain_unequal']:>9}")
    first = next((row["mma_and_wgmma"] for row in rows if "mma_and_wgmma" in row), None)
    if first:
        lines.append(f"the first that differs: {first}")
    return lines


def lines_of(data):
    """The table of a record."""
    phases = {phase["name"]: phase for phase in data["phases"]}
    lines = []
    if phases.get("mma_equal", {}).get("rows"):
        lines += equal_lines(phases["mma_equal"]["rows"]) + [""]
    if phases.get("timing", {}).get("rows"):
        lines += timing_lines(phases["timing"]["rows"]) + [""]
    for phase in data["phases"]:
        why = "; ".join(phase["why"])
        lines.append(f"{phase['name']:<12} {phase['state']:<12} {phase['seconds']:6.1f} of {phase['limit_s']:.0f} s  "
                     f"{why}".rstrip())
    return lines
