#!/bin/sh
# The examples on sim, whose clock is virtual: what they print is the same each time, whatever the seed; and with the
# checks on, which must have nothing to say. With UPDATE=1 writes what is expected.
# usage: examples.sh FOLDER-OF-THE-PROGRAMS
set -u
programs=${1:?usage: examples.sh FOLDER}
cd "$(dirname "$0")/../.." || exit 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# example NAME KERNEL_NS ARGUMENTS...: the kernels take what they would on a GPU at full size
example() {
    name=$1 kernel_ns=$2
    shift 2
    for seed in 1 2; do
        for check in 0 1; do
            LEAT_SIM_KERNEL_NS=$kernel_ns LEAT_SIM_SEED=$seed LEAT_SIM_CHECK=$check "$programs/$name" device=sim "$@" \
                >"$scratch/said" 2>&1 || { echo "$name $*: exit status $?" && cat "$scratch/said" && failed=1; }
            [ "${UPDATE:-}" = 1 ] && cp "$scratch/said" "tests/examples/$name.txt"
            diff -u "tests/examples/$name.txt" "$scratch/said" || {
                echo "$name $*: seed $seed, check $check: not what is expected"
                failed=1
            }
        done
    done
}

example matmul 62000 n=32
example normalise 30000 n=10000 arrays=4 repeat=2
exit $failed
