"""The classes of what Program.explain and Program.show return."""

import builtins
import sys


# what a call does once for its types and shapes
ONCE = ("init", "library", "check", "compile", "module load", "in memory", "on disk", "plan")


class Text(str):
    """A text that a prompt shows with its lines, as `print` does."""

    __slots__ = ()

    def __repr__(self):
        return str(self).rstrip("\n")


class Account:
    """The account of one run, after a first one. A prompt shows it as a table, and a notebook as a picture.

    text: the table, as the command `leat run --explain` prints it, with what only the first run cost.
    json: the same as a dict: "ledger", "device_time" (of a run on a GPU), "verdict", and "first_run", the costs of the
        first run that the second did not have.
    """

    __slots__ = ("text", "json")

    def __init__(self, text, json):
        self.text = text
        self.json = json

    def __repr__(self):
        return self.text

    def _repr_html_(self):
        from . import _picture

        return _picture.draw(self.json)


def is_interactive():
    """Whether a prompt or a notebook displays what an expression returns."""
    return hasattr(sys, "ps1") or hasattr(builtins, "get_ipython")


def first_costs(first_json, ledger):
    """The costs of the first run that are paid once, without those that the second run had as well."""
    import json

    again = {(cost["kind"], cost["what"], cost["cause"]) for cost in ledger if "what" in cost}
    return [
        cost
        for cost in json.loads(first_json)["ledger"]
        if cost["kind"] in ONCE
        and not cost["on_device"]
        and not cost["in_background"]
        and (cost["kind"], cost["what"], cost["cause"]) not in again
    ]


def first_table(costs):
    """The lines of a table with the columns of the account's first ones."""
    rows = [(cost["kind"], cost["count"], cost["time_ns"], cost["what"], cost["cause"]) for cost in costs]
    rows.append(("sum", "", sum(cost["time_ns"] for cost in costs), "", ""))
    lines = (
        f"{kind:<11} {count:>8} {time_ns * 1e-6:>11.3f}  {what}{f' ({cause})' if cause else ''}"
        for kind, count, time_ns, what, cause in rows
    )
    return ["in the first run only, before this one", *(line.rstrip() for line in lines)]


def explained(text, json_text, first_json=None):
    """The account of what the library printed. The verdict is in the last two lines of the text.

    first_json: the account of the run before, which had the one-time costs."""
    import json

    lines = text.rstrip("\n").splitlines()
    parsed = json.loads(json_text)
    parsed["verdict"] = "\n".join(lines[-2:])
    if first_json:
        parsed["first_run"] = first_costs(first_json, parsed["ledger"])
        lines[-2:-2] = first_table(parsed["first_run"])
    account = Account("\n".join(lines), parsed)
    if not is_interactive():
        print(account)
    return account
