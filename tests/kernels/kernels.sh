#!/bin/sh
# Every generated kernel of the programs in tests/programs, compiled by NVRTC for sm_75, sm_90 and sm_100; what registers, spills and
# local memory they take. Without arguments but the folder: some of the cases, for `make check`. `all`: all of them, into table.txt
# beside this script. Needs no GPU; exit status 77 where there is no NVRTC.
# usage: kernels.sh BUILD [all]
set -u
build=${1:?usage: kernels.sh BUILD [all]}
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
only=11/97 every=6
[ "${2:-}" = all ] && only=0/1 every=1
"$build/kernel_table" </dev/null >"$scratch/none"
[ $? = 77 ] && cat "$scratch/none" && exit 77
"$build/run_programs" --device sim --show cuda --only $only "$here"/../programs/*.txt >"$scratch/kernels" 2>"$scratch/errors" || exit 1
sort "$scratch/errors" | head -20 >&2
"$build/kernel_table" --every $every <"$scratch/kernels" >"$scratch/table"
code=$?
cat "$scratch/table"
[ "${2:-}" != all ] || cp "$scratch/table" "$here/table.txt"
exit $code
