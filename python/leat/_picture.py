"""The picture of an account for notebooks: HTML and CSS in one string, which needs no script and nothing from elsewhere.

The text takes the notebook's own color, and the background is transparent, so that every theme works. Rows are sorted
by time. Small ones are folded away if there are many. Without its CSS, which some viewers drop, it is a plain table.
"""

import html

FOLD_ROWS = 12  # a part with more rows than this is folded
FOLD_SHARE = 0.01  # rows of less than this share of the time

GROUPS = {
    "kernel": "work",
    "interpret": "work",
    "copy": "move",
    "upload": "move",
    "download": "move",
    "read": "file",
    "write": "file",
    "launch": "launch",
    "allocate": "memory",
    "pin": "memory",
    "evict": "memory",
    "unload": "memory",
    "wait": "wait",
    "idle": "wait",
    "other": "wait",
    "unaccounted": "none",
}  # all other kinds: preparing the program

MOVING = ("read", "write", "kernel", "copy", "upload", "download")

STYLE = """
.leat-account{container-type:inline-size;max-width:60rem;background:transparent;text-align:left;
color:var(--jp-content-font-color1,var(--vscode-foreground,inherit));
font:13px/1.4 var(--jp-ui-font-family,var(--vscode-font-family,system-ui,sans-serif));font-variant-numeric:tabular-nums}
.leat-account .leat-verdict{margin:.3em 0 .2em;font-size:1.08em;font-weight:400}
.leat-account .leat-help{margin:0 0 .9em}
.leat-account .leat-soft{opacity:.68;font-weight:400}
.leat-account .leat-head{display:flex;justify-content:space-between;gap:1em;margin:1em 0 .35em;font-weight:600}
.leat-account .leat-strip{display:flex;gap:1px;height:14px;border-radius:4px;overflow:hidden;
background:rgba(128,128,128,.14);margin-bottom:.45em}
.leat-account .leat-strip i{display:block;height:100%;min-width:0}
.leat-account table.leat-costs{width:100%;table-layout:fixed;border-collapse:collapse;border:0;margin:0;
font:inherit;color:inherit}
.leat-account table.leat-costs tr,.leat-account table.leat-costs tr:hover,
.leat-account table.leat-costs tbody tr:nth-child(odd){background:transparent;border:0}
.leat-account table.leat-costs th,.leat-account table.leat-costs td{padding:.28em .6em .28em 0;border:0;
border-top:1px solid rgba(128,128,128,.16);vertical-align:top;text-align:left;font-weight:400;line-height:1.35;
overflow-wrap:anywhere;background:transparent;max-width:none}
.leat-account table.leat-costs th{width:7.6em;white-space:nowrap}
.leat-account table.leat-costs td.leat-number{width:6.3em;text-align:right;white-space:nowrap;padding-right:0}
.leat-account table.leat-costs code{font-family:var(--jp-code-font-family,var(--vscode-editor-font-family,
ui-monospace,monospace));font-size:12px;background:transparent;color:inherit;padding:0;white-space:normal}
.leat-account .leat-bar{height:6px;border-radius:3px;margin:.3em 0 .12em;background:rgba(128,128,128,.14)}
.leat-account .leat-bar i{display:block;height:100%;min-width:2px;border-radius:3px}
.leat-account .leat-dot{display:inline-block;width:.62em;height:.62em;border-radius:50%;margin-right:.5em}
.leat-account .leat-total{border-top:1px solid rgba(128,128,128,.45);padding-top:.35em;text-align:right}
.leat-account details summary{cursor:pointer;padding:.3em 0;border-top:1px solid rgba(128,128,128,.16)}
.leat-account .leat-work{background:#2f9e6b}.leat-account .leat-move{background:#db7c26}
.leat-account .leat-prepare{background:#5a7fd8}.leat-account .leat-launch{background:#c4529b}
.leat-account .leat-memory{background:#2c9db5}.leat-account .leat-file{background:#b59a1f}
.leat-account .leat-wait{background:#8d929b}
.leat-account .leat-dot.leat-none{background:rgba(141,146,155,.5)}
.leat-account .leat-none{background:repeating-linear-gradient(135deg,#8d929b 0 2px,transparent 2px 5px)}
@container (max-width:34rem){.leat-account table.leat-costs{font-size:12px}
.leat-account table.leat-costs th{width:7.7em;padding-right:.3em;white-space:normal}
.leat-account table.leat-costs td.leat-number{width:5.8em;padding-left:.3em}}
"""


def group_of(cost):
    return "leat-" + GROUPS.get(cost["kind"], "prepare")


def unit_of(total_ns):
    """The unit for all times of a part, its nanoseconds, and how many digits follow the decimal point."""
    name, size_ns = "s", 1e9
    for shorter, shorter_ns, limit_ns in (("ms", 1e6, 1e9), ("\N{MICRO SIGN}s", 1e3, 1e6)):
        if total_ns < limit_ns:
            name, size_ns = shorter, shorter_ns
    return name, size_ns, 3 if total_ns < 10 * size_ns else 2 if total_ns < 100 * size_ns else 1


def time_of(time_ns, unit):
    return f"{time_ns / unit[1]:,.{unit[2]}f}\N{NO-BREAK SPACE}{unit[0]}"


def percent(time_ns, total_ns):
    share = 100 * time_ns / total_ns if total_ns else 0
    return f"{share:.1f}\N{NO-BREAK SPACE}%"


def bytes_of(count):
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            break
        value /= 1000
    else:
        unit = "TB"
    return f"{value:.{1 if unit != 'B' and value < 99.95 else 0}f}\N{NO-BREAK SPACE}{unit}"


def rate_of(cost):
    """Bytes in a nanosecond are GB/s. A cost that moves nothing has no rate, nor has one that took no time to speak of."""
    rate = cost["bytes"] / cost["time_ns"] if cost["time_ns"] and cost["kind"] in MOVING else 0
    return f"{rate:.{2 if rate < 9.995 else 1 if rate < 99.95 else 0}f}\N{NO-BREAK SPACE}GB/s" if 0 < rate < 2e4 else ""


def width_of(time_ns, total_ns):
    return f"width:{min(100.0, 100 * time_ns / total_ns if total_ns else 0):.2f}%"


def row(cost, total_ns, unit):
    escape = html.escape
    times = f" <span class='leat-soft'>\N{MULTIPLICATION SIGN}{cost['count']:,}</span>" if cost["count"] > 1 else ""
    what = f"<code>{escape(cost['what'])}</code>" if cost["what"] else ""
    cause = f" <span class='leat-soft'>{escape(cost['cause'])}</span>" if cost["cause"] else ""
    size = bytes_of(cost["bytes"]) if cost["bytes"] else ""
    bar = f"<i class='{group_of(cost)}' style='{width_of(cost['time_ns'], total_ns)}'></i>" if cost["time_ns"] else ""
    exact = f"{cost['time_ns']:,} ns, {cost['count']:,} times, {cost['bytes']:,} bytes, {cost['operations']:,} operations"
    return (
        f"<tr title='{exact}'><th scope='row'><span class='leat-dot {group_of(cost)}'></span>{escape(cost['kind'])}{times}"
        f"</th><td>{what}{cause}<div class='leat-bar'>{bar}</div></td>"
        f"<td class='leat-number'>{size}<br><span class='leat-soft'>{rate_of(cost)}</span></td>"
        f"<td class='leat-number'>{time_of(cost['time_ns'], unit)}<br>"
        f"<span class='leat-soft'>{percent(cost['time_ns'], total_ns)}</span></td></tr>"
    )


def table(costs, total_ns, unit):
    return f"<table class='leat-costs'><tbody>{''.join(row(cost, total_ns, unit) for cost in costs)}</tbody></table>"


def strip(costs, total_ns):
    """All costs in the order of the ledger, side by side."""
    parts = (
        f"<i class='{group_of(cost)}' style='{width_of(cost['time_ns'], total_ns)}' "
        f"title='{html.escape(cost['kind'] + ' ' + cost['what'])}'></i>"
        for cost in costs
        if total_ns and cost["time_ns"] >= 0.002 * total_ns
    )
    return f"<div class='leat-strip'>{''.join(parts)}</div>"


def part(title, costs, total_ns, totals):
    """Host or device: a strip, the rows by time, and the sum."""
    unit = unit_of(total_ns)
    rows = sorted(costs, key=lambda cost: -cost["time_ns"])
    small = [cost for cost in rows if cost["time_ns"] < FOLD_SHARE * total_ns] if len(rows) > FOLD_ROWS else []
    shown = table(rows[: len(rows) - len(small)], total_ns, unit)
    if small:
        together = percent(sum(cost["time_ns"] for cost in small), total_ns)
        shown += (
            f"<details><summary class='leat-soft'>{len(small)} smaller costs, together {together}</summary>"
            f"{table(small, total_ns, unit)}</details>"
        )
    words = " ".join(f"{sign}{name} <b>{time_of(time_ns, unit)}</b>" for sign, name, time_ns in totals)
    return (
        f"<div class='leat-head'><span>{title}</span> <span>{time_of(total_ns, unit)}</span></div>"
        f"{strip(costs, total_ns)}{shown}<div class='leat-total'>{words}</div>"
    )


def host_part(costs):
    empty = {"what": "", "cause": "no record covers it", "count": 1, "bytes": 0, "operations": 0}
    costs = [{**empty, **cost} for cost in costs]
    rest_ns = sum(cost["time_ns"] for cost in costs if cost["kind"] == "unaccounted")
    wall_ns = sum(cost["time_ns"] for cost in costs)
    totals = (("", "costs", wall_ns - rest_ns), ("+ ", "unaccounted", rest_ns), ("= ", "wall time", wall_ns))
    return part("Host", costs, wall_ns, totals)


def with_bytes(cost, host_costs):
    """The ledger has the bytes of a kernel in the host's record: the device's gets them if that is certain."""
    same = [other for other in host_costs if (other["kind"], other.get("what")) == (cost["kind"], cost["what"])]
    if cost["bytes"] or len(same) != 1 or same[0]["count"] != cost["count"]:
        return cost
    return {**cost, "bytes": same[0]["bytes"], "operations": same[0]["operations"]}


def device_part(costs, host_costs, sums):
    costs = [with_bytes(cost, host_costs) for cost in costs]
    totals = [("", "busy", sums["busy_ns"]), ("+ ", "idle", sums["idle_ns"]), ("= ", "span", sums["span_ns"])]
    if sums["overlap_ns"]:
        work_ns = sums["busy_ns"] + sums["overlap_ns"]
        totals[:1] = [
            ("", "operations", work_ns),
            ("\N{MINUS SIGN} ", "overlap", sums["overlap_ns"]),
            ("= ", "busy", sums["busy_ns"]),
        ]
    return part("Device", costs, sums["span_ns"], totals)


def first_part(costs):
    total_ns = sum(cost["time_ns"] for cost in costs)
    return part("First run only, before this one", costs, total_ns, (("", "together", total_ns),))


def draw(account):
    host = [cost for cost in account["ledger"] if not cost.get("on_device")]
    device = [cost for cost in account["ledger"] if cost.get("on_device")]
    verdict, _, advice = account["verdict"].partition("\n")
    bound, colon, reason = verdict.partition(": ")
    pieces = [
        f"<div class='leat-account'><style>{STYLE}</style>",
        f"<p class='leat-verdict'><b>{html.escape(bound + colon)}</b>{html.escape(reason)}</p>"
        f"<p class='leat-help leat-soft'>{html.escape(advice)}</p>",
    ]
    if account.get("device_time") and device:
        pieces.append(device_part(device, host, account["device_time"]))
    pieces.append(host_part(host))
    if account.get("first_run"):
        pieces.append(first_part(account["first_run"]))
    pieces.append("</div>")
    return "".join(pieces)
