#!/bin/sh
# Tests the source lines of Python calls, with each python3 that is installed. Exit status 77 if there is none that can be read.
# usage: source_python.sh PROBE
set -u
probe=${1:?usage: source_python.sh PROBE}
here=$(dirname "$0")
seen=" "
ran=0
for name in python3 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 python3.15; do
    python=$($name -c 'import ctypes, os, sys; print(os.path.realpath(sys.executable))' 2>/dev/null) || continue
    case $seen in *" $python "*) continue ;; esac
    seen="$seen$python "
    "$python" "$here/source_python_test.py" "$probe"
    status=$?
    [ $status = 77 ] && continue
    [ $status = 0 ] || exit 1
    ran=$((ran + 1))
done
[ $ran -gt 0 ] && exit 0
echo "skipped: no python3 that is read"
exit 77
