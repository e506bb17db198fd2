"""python -m leat: the command `leat` of this installation."""

import os
import shutil
import sys
from importlib import metadata


def find_command():
    """The command that was installed with this package, else the one on PATH."""
    try:
        files = metadata.distribution("leat").files or ()
    except metadata.PackageNotFoundError:
        files = ()
    for file in files:
        path = file.locate()
        if file.parts[-2:] == ("bin", "leat") and os.access(path, os.X_OK):
            return os.fspath(path)
    return shutil.which("leat")


def main():
    command = find_command()
    if not command:
        sys.exit("the command leat is not installed: install the wheel, or put the folder of the command on PATH")
    os.execv(command, [command, *sys.argv[1:]])


if __name__ == "__main__":
    main()
