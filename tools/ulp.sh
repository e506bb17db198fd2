#!/bin/sh
# Measures every f32 input of each library function and rewrites the table of worst errors. Takes most of an hour on two cores.
set -eu
cd "$(dirname "$0")/.."
table=$(mktemp)
trap 'rm -f "$table"' EXIT
build/release/tests/ulp --all | tee "$table"
cp "$table" tests/ulp/table.txt
