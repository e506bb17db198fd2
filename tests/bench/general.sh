#!/bin/sh
# The works of the general GPU benchmark have NumPy's values: all of them on cpu, some on sim. A wrong value, and a program that fails, are
# reported. Needs a Python with NumPy: $PYTHON, python3, or the environment of `make bench`; exit status 77 if there is none.
# tools/check_python.sh runs it with the environment of the Python package's tests.
# usage: general.sh BUILD-FOLDER
set -u
build=${1:?usage: general.sh BUILD-FOLDER}
cd "$(dirname "$0")/../.." || exit 2
python=
for one in "${PYTHON:-python3}" /usr/bin/python3 bench/.venv/bin/python; do
    if [ -z "$python" ] && "$one" -c 'import numpy' 2>/dev/null; then python=$one; fi
done
[ -n "$python" ] || { echo "general: no Python with NumPy" && exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# dry WHAT EXPECTED-STATUS OPTIONS...
dry() {
    what=$1 expected=$2
    shift 2
    PYTHONDONTWRITEBYTECODE=1 "$python" "${general:-bench/gpu/general.py}" --build "$build" --dry "$@" >"$scratch/said" 2>&1
    status=$?
    [ "$status" = "$expected" ] || { echo "$what: exit status $status, expected $expected" && cat "$scratch/said" && failed=1; }
}

dry "all works on cpu" 0 --device cpu
tail -1 "$scratch/said"
dry "an eighth of the works on sim" 0 --device sim --shard 3/8

# Breaks a program and an expected value.
cp -r bench include "$scratch"
general=$scratch/bench/gpu/general.py
sed -i "s/'y\[i\] = argmax(j: x\[i,j\])'/'y[i] = argmin(j: x[i,j])'/; s/lambda xp, v: v\['x'\].mean((2, 3))/lambda xp, v: v['x'].mean((2, 3)) + 1e-3/" \
    "$scratch/bench/gpu/general_reductions.py"
sed -i "s/'y\[i,j\] = max(p in 0..3, q/'y[i,j] = max(p in 0..3, r/" "$scratch/bench/gpu/general_windows.py"
dry "three broken works" 1 --device cpu --only argmax_rows,mean_channels,max3x3_u8,cosine_rows
[ "$(grep -c 'WRONG, differs from NumPy' "$scratch/said")" = 2 ] && [ "$(grep -c ' Refused: ' "$scratch/said")" = 1 ] &&
    grep -q '^cosine_rows .* ok ' "$scratch/said" || { echo "three broken works: not reported as expected" && cat "$scratch/said" && failed=1; }

# Two shards' lines make one report, in which a later line of a work replaces an earlier one.
general=
cat >"$scratch/1.jsonl" <<'END'
{"header": "first shard"}
{"case": "argmax_rows/odd", "peer": "leat", "ways": {"leat": 30.0}, "errors": {}, "uncounted": [], "floors": {"bytes": 10.0}, "size": {}, "seconds": 1}
{"case": "argmax_rows/odd", "peer": "torch", "ways": {"eager": 20.0, "other": 5.0}, "errors": {}, "uncounted": ["other"], "floors": {}, "size": {}, "seconds": 1}
END
cat >"$scratch/2.jsonl" <<'END'
{"case": "argmax_rows/odd", "peer": "leat", "ways": {"leat": 10.5}, "errors": {}, "uncounted": [], "floors": {"bytes": 10.0}, "size": {}, "seconds": 1}
{"case": "distances/odd", "peer": "leat", "ways": {"leat": 30.0}, "errors": {}, "uncounted": [], "floors": {"bytes": 10.0, "issue": 20.0}, "size": {}, "seconds": 1}
{"case": "distances/odd", "peer": "torch", "ways": {}, "errors": {"eager": "ValueError: WRONG, differs from Leat: off"}, "uncounted": [], "floors": {}, "size": {}, "seconds": 1}
{"case": "gray/odd", "peer": "leat", "ways": {"leat": 10.0}, "errors": {}, "uncounted": [], "floors": {"bytes": 8.0}, "size": {}, "seconds": 1}
{"case": "gray/odd", "pe
END
dry "a report" 0 --report "$scratch/1.jsonl" "$scratch/2.jsonl"
for line in 'argmax_rows, .* 10\.5  *10\.0 bytes  *1\.05  *20\.0  *0\.53  ok  *torch, eager' 'no peer computes the same values' \
    'distances, .* -  *20\.0 issue .* MISSED' 'gray, .* 10\.0  *8\.0 bytes  *1\.25  *-  *-  MISSED' 'all  *3  *0\.53  *1  *2 ' 'eager 20\.0; (other 5\.0)'; do
    grep -q "$line" "$scratch/said" || { echo "the report lacks: $line" && cat "$scratch/said" && failed=1; }
done
exit $failed
