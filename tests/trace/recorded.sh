#!/bin/sh
# Compares the output of `leat report` for each recorded trace, NAME.trace, with NAME.txt, byte for byte: the report, the source lines
# of operations, and the number of operations of each line. small.trace was made by report_test.c. The others were recorded on an H200
# (driver 580.159.04, CUPTI 13.0; CuPy 14.2.0, numba-cuda, PyTorch) by `make gpu-findings` with GPU_KEEP, on 2026-11-22, with the
# recorder of commit 36e2243. They are named after programs of bench/gpu/findings and bench/gpu/tracing. Traces of findings contain no
# device: that recorder did not write it if recording began late.
# usage: recorded.sh LEAT [write]      write: writes the present output to NAME.txt
set -u
leat=${1:?usage: recorded.sh LEAT [write]}
here=$(dirname "$0")
failed=0
count=0
tell() {
    "$leat" report "$1" && echo && "$leat" report "$1" --trace --json |
        awk -F'"source":"' '{ for (k = 2; k <= NF; k++) { sub(/".*/, "", $k); lines[$k]++ } }
            END { for (line in lines) printf "%6d from %s\n", lines[line], line }' | LC_ALL=C sort -k3
}
for trace in "$here"/*.trace; do
    count=$((count + 1))
    expected=${trace%.trace}.txt
    if [ "${2:-}" = write ]; then
        tell "$trace" >"$expected" || failed=1
    elif ! tell "$trace" | diff -u "$expected" -; then
        echo "$trace: the report is another"
        failed=1
    fi
done
[ $count -gt 0 ] || echo "no traces in $here"
[ $count -gt 0 ] && [ $failed = 0 ]
