#!/bin/sh
# Compiles the generated kernels of the programs in tests/programs with NVRTC for sm_75, sm_90 and sm_100, and measures their registers,
# spills and local memory. Without `all`, it compiles some of them, for `make check`, and compares them with table.txt beside this
# script; it also checks that the kernel in spilling.txt is detected. `all` compiles all of them, or each Nth, and writes table.txt
# (all of them take an hour on one core). Needs no GPU. Exit status 77 if there is no NVRTC.
# usage: kernels.sh BUILD [all [N]]
set -u
build=${1:?usage: kernels.sh BUILD [all [N]]}
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# noticed TABLE: whether a kernel in TABLE spills more than the committed table says for its kind, or has more local memory than any
# kernel there. Exit status 1: no; 2: not compared, because the numbers are another NVRTC's.
noticed() {
    awk '
        / kernels, NVRTC / && NR == FNR { nvrtc = $6 }
        / kernels, NVRTC / && $6 != nvrtc { other = 1 }
        { heading = $0; sub(/^spills [0-9]+ [0-9]+ [0-9]+  /, "", heading) }
        $1 == "spills" && NR == FNR { for (a = 2; a <= 4; a++) if ($a > most[a, heading]) most[a, heading] = $a + 0 }
        $1 == "stack" && NR == FNR && $2 > stack { stack = $2 + 0 }
        $1 == "spills" && NR != FNR { for (a = 2; a <= 4; a++) more += $a > most[a, heading] + 0 }
        $1 == "stack" && NR != FNR { more += $2 > stack }
        more > told { print "new: " $0; told = more }
        END { exit other ? 2 : more == 0 }' "$here/table.txt" "$1"
}

"$build/kernel_table" </dev/null >"$scratch/none"
[ $? = 77 ] && cat "$scratch/none" && exit 77
only=11/97 every=6
[ "${2:-}" = all ] && only=0/1 every=${3:-1}
"$build/run_programs" --device sim --show cuda --only $only "$here"/../programs/*.txt >"$scratch/kernels" 2>"$scratch/errors" || exit 1
sort "$scratch/errors" | head -20 >&2
"$build/kernel_table" --every "$every" <"$scratch/kernels" >"$scratch/table"
code=$?
cat "$scratch/table"
if [ "${2:-}" = all ]; then
    { echo "# Written by tests/kernels/kernels.sh BUILD all." && cat "$scratch/table"; } >"$here/table.txt"
    exit $code
fi
noticed "$scratch/table"
case $? in
0) echo "kernels.sh: if that must be, write table.txt anew: tests/kernels/kernels.sh BUILD all" && exit 1 ;;
2) echo "kernels.sh: table.txt is another NVRTC's, and not compared" && exit $code ;;
esac
"$build/kernel_table" <"$here/spilling.txt" >"$scratch/spilling" && noticed "$scratch/spilling" >"$scratch/said" && exit $code
echo "kernels.sh: the kernel of spilling.txt is not noticed" && cat "$scratch/spilling"
exit 1
