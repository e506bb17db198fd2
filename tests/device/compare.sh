#!/bin/sh
# Compares the output of a device suite with the committed transcript. sim and a GPU print the same; times are masked. If there is a
# TRANSCRIPT.cpu.txt, the CPU's output is compared with it.
# usage: compare.sh PROGRAM DEVICE TRANSCRIPT; REGENERATE=1 writes the transcript
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
