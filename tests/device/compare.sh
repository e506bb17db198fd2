#!/bin/sh
# What a suite of devices prints on stdout must be what was committed: on the simulator and on a GPU the same, times
# masked. TRANSCRIPT.cpu.txt, where there is one, is what the CPU prints.
# usage: compare.sh PROGRAM DEVICE TRANSCRIPT; REGENERATE=1 writes it anew
set -u
program=${1:?usage: compare.sh PROGRAM DEVICE TRANSCRIPT}
device=${2:?}
expected=${3:?}
[ "$device" = cpu ] && [ -f "${expected%.txt}.cpu.txt" ] && expected=${expected%.txt}.cpu.txt
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
"$program" "$device" >"$printed"
status=$?
[ $status -eq 77 ] && cat "$printed" && exit 77
grep '^| ' "$printed" >"$printed.said"
if [ -n "${REGENERATE:-}" ]; then
    cp "$printed.said" "$expected"
fi
diff -u "$expected" "$printed.said" >"$printed.diff"
same=$?
[ $same -eq 0 ] || cat "$printed.diff"
[ $status -eq 0 ] || cat "$printed"
rm -f "$printed.said" "$printed.diff"
[ $same -eq 0 ] && [ $status -eq 0 ]
