"""%%leat: a notebook's cell as a program. Imported by %load_ext leat only."""

import functools
import sys

from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from . import Error, ProgramError, program

checked = functools.lru_cache(maxsize=64)(program)


class CellError(Error):
    """A ProgramError of a cell, which IPython shows as a syntax error of the cell: with the caret, without a traceback."""

    def __init__(self, shell, error):
        super().__init__(str(error))
        self.shell, self.error = shell, error

    def _render_traceback_(self):
        return self.shell.SyntaxTB.structured_traceback(ProgramError, self.error, [])


def cell_name(shell):
    """The file name under which IPython has compiled the cell that is running, which it shows as "Cell In[1]"."""
    frame = sys._getframe()
    while frame and frame.f_globals is not shell.user_ns:
        frame = frame.f_back
    return frame.f_code.co_filename if frame else "cell"


def check(shell, cell):
    """The program of the cell. A line before it stands for `%%leat`, so that lines are numbered as the cell's are."""
    try:
        return checked("\n" + cell.rstrip(), name="cell")
    except ProgramError as error:
        error.filename = cell_name(shell)
        raise CellError(shell, error) from None


def show_briefly(shell, error):
    """Has IPython show an error of the run as it shows one of the text: where it is, if that is known, and the message.

    An error from elsewhere, such as an argument's own method, keeps its traceback."""
    innermost = error.__traceback__
    while innermost.tb_next:
        innermost = innermost.tb_next
    if innermost.tb_frame.f_globals is not globals() or error.__cause__ or hasattr(error, "_render_traceback_"):
        return
    label = shell.compile.format_code_name(cell_name(shell)) or ("cell",)
    line = getattr(error, "lineno", None)
    place = f"  {' '.join(label)}" + (f", line {line}" if line else "")
    error._render_traceback_ = lambda: [place, *shell.InteractiveTB.get_exception_only(type(error), error)]


def find_inputs(shell, checked_program):
    """The notebook's variables with the names of the inputs."""
    found = {}
    for name in checked_program.inputs:
        value = shell.user_ns.get(name, shell)
        if value is not shell and value is not shell.user_ns_hidden.get(name, shell):
            found[name] = value
        elif name not in checked_program.optional:
            raise NameError(f"the cell reads '{name}', but there is no variable of this name", name=name)
    return found


def run_program(shell, options, made):
    inputs = find_inputs(shell, made)
    named = {"device": options.device} if options.device else {}
    if options.show:
        return made.show(options.show, **inputs, **named, **({"arch": options.arch} if options.arch else {}))
    account = made.explain(**inputs, **named) if options.explain else None
    results = made(**inputs, **named, **({"like": options.like} if options.like else {}))
    shell.push(dict(zip(made.results, results if len(made.results) > 1 else (results,))))
    return account


def run(shell, options, cell):
    try:
        return run_program(shell, options, check(shell, cell))
    except Exception as error:
        show_briefly(shell, error)
        raise


def register(shell):
    @magic_arguments("%leat")
    @argument("--device", help='where it runs: "cpu", "cuda", "cuda:1" or "sim"')
    @argument("--like", help="the library of the results: numpy, cupy, torch, jax or leat")
    @argument("--explain", action="store_true", help="show what the run cost and what bounds it")
    @argument("--show", metavar="FORM", help="show a form instead of running: tree, ir, plan, bytecode, kernel, cuda, ptx or sass")
    @argument("--arch", help='the architecture for --show ptx and sass, such as "sm_90"')
    def leat(line, cell):
        """Run the cell as a program. Its inputs are the notebook's variables; its results become variables."""
        return run(shell, parse_argstring(leat, line), cell)

    shell.register_magic_function(leat, "cell", "leat")
