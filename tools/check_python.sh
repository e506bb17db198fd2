#!/bin/sh
# A part of `make check`: makes the wheel from the release build, installs it into fresh virtual environments below build/check, and runs
# tests/python there, on cpu and sim at a time. With a later version of Python, if the machine has one, it imports the package and runs
# the command. PYTHON: the interpreter. The last line counts: "python: N passed, M failed". The exit status is 0 only if all passed.
# `tools/check_python.sh prepare` only installs what the next run needs besides the wheel.
set -u
cd "$(dirname "$0")/.."
root=$PWD
logs=$root/build/check
python=${PYTHON:-python3}
mkdir -p "$logs"
passed=0
failed=0

# add PACKAGES...: to $home, with the pip that makes the wheel
add() {
    build/wheel/tools/bin/pip --python "$home/bin/python" install --no-compile --disable-pip-version-check "$@" >>"$home.log" 2>&1 || {
        tail -20 "$home.log"
        echo "python: pip cannot install the wheel and what its tests need (LEAT_PYTHON=OFF make check goes without)"
        return 1
    }
}

# environment NAME PYTHON PACKAGES...: makes $logs/NAME with the packages
environment() {
    home=$logs/$1
    rm -rf "$home"
    "$2" -m venv --without-pip "$home" >"$logs/$1.log" 2>&1 || {
        cat "$logs/$1.log"
        return 1
    }
    shift 2
    add "$@"
}

prepare() {
    tools/wheel.sh tools && environment python "$python" -r tests/python/requirements.txt && touch "$home/prepared"
}

# count LOG STATUS: adds pytest's counts; its output is shown if not all passed. Another exit status than 0 is a failure, whatever the
# output says: Python may crash after the tests.
count() {
    said=$(grep -E '^([0-9]+ [a-z]+,? )+in [0-9.]+s' "$1" | tail -1)
    good=$(echo "$said" | grep -oE '[0-9]+ passed' | cut -d' ' -f1)
    bad=$(echo "$said" | grep -oE '[0-9]+ (failed|error)' | awk '{ sum += $1 } END { print sum + 0 }')
    [ -n "$good" ] || bad=$((bad + 1))
    [ "$2" -eq 0 ] || [ "$bad" -gt 0 ] || { bad=1 && said="$said, then exit status $2"; }
    [ "$bad" -eq 0 ] || tail -100 "$1"
    passed=$((passed + ${good:-0}))
    failed=$((failed + bad))
    echo "python: on $device: ${said:-did not finish}"
}

run_tests() {
    echo "== python: tests"
    for device in cpu sim; do
        (cd "$home" && LEAT_TEST_DEVICE=$device LEAT_CACHE_DIR=$root/build/cache LEAT_THREADS=2 \
            bin/python -m pytest -q -p no:cacheprovider "$root/tests/python") >"$logs/python-$device.log" 2>&1 &
        tests="${tests:-} $device:$!"
    done
    for test in $tests; do
        device=${test%:*}
        wait "${test#*:}"
        count "$logs/python-$device.log" $?
    done
}

# The general GPU benchmark's values, with the environment's NumPy; without it, ctest skips this test.
run_benchmark() {
    if PYTHON=$home/bin/python tests/bench/general.sh "$root/build/release" >"$logs/python-bench.log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        cat "$logs/python-bench.log"
    fi
    echo "python: the general GPU benchmark, on cpu: $(tail -1 "$logs/python-bench.log")"
}

try_later() {
    for later in python3.14 python3.13 python3.12; do
        found=$("$later" -c 'import sys; print(sys.executable)' 2>/dev/null) || continue
        [ "$found" != "$("$python" -c 'import sys; print(sys.executable)')" ] || return
        if environment "$later" "$found" --no-deps dist/*.whl && (cd "$home" && bin/leat run -e 's = sum(i in 0..10: i)' &&
            bin/python -c 'import leat; print(leat.__version__)') >>"$home.log" 2>&1; then
            passed=$((passed + 1))
            echo "python: the wheel works with $later"
        else
            failed=$((failed + 1))
            tail -20 "$home.log"
            echo "python: the wheel does not work with $later"
        fi
        return
    done
}

if [ "${1:-}" = prepare ]; then
    prepare
    exit
fi
echo "== python: wheel"
home=$logs/python
if { [ -e "$home/prepared" ] || prepare; } && rm "$home/prepared" && tools/wheel.sh && add --no-deps dist/*.whl; then
    run_tests
    run_benchmark
    try_later
else
    failed=1
fi
echo "python: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
