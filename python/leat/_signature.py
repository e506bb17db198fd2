"""The signature of a program, for help(), inspect and editors."""

import inspect
import keyword

OPTIONS = ("out", "stream", "device", "like")


class Default:
    """Stands for the default that the program's text gives an input. It is only shown, and is no value to pass."""

    def __repr__(self):
        return "<default>"


DEFAULT = Default()


def of(program):
    """Inputs may be passed by position or by name; those that may be left out are shown as `k=<default>`."""
    # Only a parameter by position may have the name of a keyword.
    last_keyword = max((k for k, name in enumerate(program.inputs) if keyword.iskeyword(name)), default=-1)
    parameters, by_name = [], []
    for k, name in enumerate(program.inputs):
        kind = inspect.Parameter.POSITIONAL_ONLY if k <= last_keyword else inspect.Parameter.POSITIONAL_OR_KEYWORD
        default = DEFAULT if name in program.optional else inspect.Parameter.empty
        if k > last_keyword and default is inspect.Parameter.empty and any(p.default is DEFAULT for p in parameters):
            # Python has no required parameter after an optional one, so it is shown as one by name.
            by_name.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY))
        else:
            parameters.append(inspect.Parameter(name, kind, default=default))
    options = (
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
        for name in OPTIONS
        if name not in program.inputs
    )
    return inspect.Signature([*parameters, *by_name, *options])


def document(program, about):
    """What help(program) shows: how to call it, its text, and the words about all programs."""
    import textwrap

    about = textwrap.fill(about, 79)
    lines = program.text.strip("\n").splitlines()
    return f"{program.name}{of(program)} -> {', '.join(program.results)}\n\n    " + "\n    ".join(lines) + f"\n\n{about}"
