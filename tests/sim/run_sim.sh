#!/bin/sh
# Runs a kernel of bugs/ or right/ with sim's checks, with several seeds, and checks the reports.
#   // launch: KERNEL OPTIONS AND ARGUMENTS   the arguments of `leat launch FILE:KERNEL`
#   // says: TEXT                             the report contains TEXT, for every seed; without such a line there must be no report
# usage: run_sim.sh LEAT FILE.cu [SEED ...]; exit status 77 if there is no C++ compiler, which sim needs
set -u
leat=${1:?usage: run_sim.sh LEAT FILE.cu [SEED ...]}
file=${2:?usage: run_sim.sh LEAT FILE.cu [SEED ...]}
case $leat in /*) ;; *) leat=$PWD/$leat ;; esac
shift 2
[ $# -gt 0 ] || set -- 1 2 3
command -v "${CXX:-c++}" >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || exit 77
cd "$(dirname "$file")" || exit 2
file=$(basename "$file")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

fail() {
    failed=1
    echo "$file, seed $seed: $1"
    sed 's/^/    /' "$scratch/err"
}

launch=$(sed -n 's,^// launch: ,,p' "$file")
sed -n 's,^// says: ,,p' "$file" >"$scratch/says"
expected=0
[ ! -s "$scratch/says" ] || expected=6
for seed in "$@"; do
    # shellcheck disable=SC2086 # splits a line without quotes into words
    LEAT_SIM_SEED=$seed "$leat" launch --device sim --check "$file:"$launch >"$scratch/out" 2>"$scratch/err"
    code=$?
    [ $code = $expected ] || fail "exit status $code, not $expected"
    while IFS= read -r text; do
        grep -Fq -e "$text" "$scratch/err" || fail "not in the report: $text"
    done <"$scratch/says"
done
exit $failed
