#!/bin/sh
# Runs the examples on sim and compares their output. Because sim's clock is virtual, the output is the same for every seed. Runs them
# with checks as well, which must report nothing. UPDATE=1 writes the expected output.
# usage: examples.sh FOLDER-OF-THE-PROGRAMS
set -u
programs=${1:?usage: examples.sh FOLDER}
cd "$(dirname "$0")/../.." || exit 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# example NAME CHECK SEED KERNEL_NS ARGUMENTS...: each kernel takes KERNEL_NS, its time on a GPU at full size
example() {
    name=$1 check=$2 seed=$3 kernel_ns=$4
    shift 4
    LEAT_SIM_KERNEL_NS=$kernel_ns LEAT_SIM_SEED=$seed LEAT_SIM_CHECK=$check "$programs/$name" device=sim "$@" \
        >"$scratch/said" 2>&1 || { echo "$name $*: exit status $?" && failed=1; }
    expected=tests/examples/$name-$(echo "$*" | tr ' =' '-_').txt
    [ "${UPDATE:-}" != 1 ] || cp "$scratch/said" "$expected"
    diff -u "$expected" "$scratch/said" || { echo "$name $*: seed $seed, check $check: not what is expected" && failed=1; }
}

example matmul 0 1 62000 n=16
example matmul 0 2 62000 n=8
example matmul 1 3 62000 n=8
example normalise 0 1 30000 n=2000 arrays=4 repeat=1
example normalise 0 2 30000 n=2000 arrays=4 repeat=1
example normalise 1 2 30000 n=2000 arrays=4 repeat=1
example normalise 1 3 30000 n=2000 arrays=4 repeat=1 memory=host

"$programs/normalise" repeats=3 >"$scratch/said" 2>&1
[ $? = 2 ] && grep -q '^usage: .*normalise \[device=' "$scratch/said" || { echo "normalise repeats=3: no usage" && failed=1; }
exit $failed
