#!/bin/sh
# What `leat report` says of each trace that is kept here, NAME.trace, against NAME.txt, byte for byte. small.trace was made by
# report_test.c; the others were recorded on an H200 by `bench/gpu/findings.py --small --keep FOLDER`, from the programs of
# bench/gpu/findings that they are named after.
# usage: recorded.sh LEAT [write]      write: what it says now is what is expected
set -u
leat=${1:?usage: recorded.sh LEAT [write]}
here=$(dirname "$0")
failed=0
count=0
for trace in "$here"/*.trace; do
    count=$((count + 1))
    expected=${trace%.trace}.txt
    if [ "${2:-}" = write ]; then
        "$leat" report "$trace" >"$expected" || failed=1
    elif ! "$leat" report "$trace" | diff -u "$expected" -; then
        echo "$trace: the report is another"
        failed=1
    fi
done
[ $count -gt 0 ] || echo "no traces in $here"
[ $count -gt 0 ] && [ $failed = 0 ]
