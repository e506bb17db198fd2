"""The classes of what Program.explain and Program.show return."""

import builtins
import sys


class Text(str):
    """A text that a prompt shows with its lines, as `print` does."""

    __slots__ = ()

    def __repr__(self):
        return str(self).rstrip("\n")


class Account:
    """The account of one run. A prompt shows it as a table, and a notebook as a picture.

    text: the table, as the command `leat run --explain` prints it.
    json: the same as a dict: "ledger", "device_time" (of a run on a GPU) and "verdict".
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


def explained(text, json_text):
    """The account of what the library printed. The verdict is in the last two lines of the text."""
    import json

    text = text.rstrip("\n")
    parsed = json.loads(json_text)
    parsed["verdict"] = "\n".join(text.splitlines()[-2:])
    account = Account(text, parsed)
    if not is_interactive():
        print(account)
    return account
