#!/bin/sh
# `make gpu-check`: runs compute-sanitizer on programs with every kind of kernel, then the Python package's tests, then the tests that need
# a GPU, then all other tests on that machine. Compiled code is kept in the tests' cache, which all of them share. Prints results as it goes, and at the end how many
# programs were compared in which way, also if it is stopped or runs out of time.
# Writes bench/results/DATE-GPU-check.txt (or $CHECK_TO/gpu-check.txt). GPU_CHECK: all, or quick, which skips compute-sanitizer.
# CHECK_SECONDS: the time limit; 0, the default, is none. CHECK_DEVICE=sim with CHECK_PART (run one in this many programs): a rehearsal.
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck disable=SC1091
. tools/packages.sh
begun=$(date +%s)
build=${GPU_BUILD:-build/gpu}
device=${CHECK_DEVICE:-cuda}
jobs=$(nproc)
seconds=${CHECK_SECONDS:-0}
gpu=$device driver=none
if [ "$device" = cuda ]; then
    command -v nvidia-smi >/dev/null 2>&1 || {
        echo "gpu-check: no nvidia-smi, and so no GPU" >&2
        exit 1
    }
    gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
    driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)
fi
slug=$(echo "$gpu" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9-')
to=${CHECK_TO:+$CHECK_TO/gpu-check.txt}
to=${to:-bench/results/$(date +%Y-%m-%d)-$slug-check.txt}
logs=$build/gpu-check

build_all() {
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DLEAT_EXAMPLES=ON -DBUILD_TESTING=ON && cmake --build "$build"
}
if ! build_all >"$build.log" 2>&1; then
    tail -40 "$build.log"
    exit 1
fi
rm -rf "$logs" && mkdir -p "$logs/sanitizer"
: >"$logs/tests.txt"
LEAT_CACHE_DIR=$PWD/build/cache # as the tests
export LEAT_CACHE_DIR LEAT_TEST_CUDA=1

# left MOST: prints the seconds that are left, at most MOST
left() {
    [ "$seconds" = 0 ] && echo "$1" && return
    rest=$((begun + seconds - 5 - $(date +%s)))
    [ "$rest" -lt 1 ] && rest=1
    [ "$rest" -lt "$1" ] && echo "$rest" || echo "$1"
}

# ---- compute-sanitizer: programs of small arrays with every kind of kernel, in slices

kinds="examples corners operators_bool reductions_bodies blocks_moves complex_defs scatters each_stores large windows_across ragged joined gathered_rows"
slices=$jobs
part=${CHECK_PART:-1} # run one in this many programs

# sanitize TOOL SLICE: one line in its file; slice `interpreted`: some of them, by the interpreter
sanitize() {
    log=$logs/sanitizer/$1-$2
    which="--only $2/$((slices * part))"
    [ "$2" != interpreted ] || which="--interpret only --only 0/$((slices * part / 2 + 1))"
    files=$(for kind in $kinds; do echo "tests/programs/$kind.txt"; done)
    with="compute-sanitizer --tool $1 --error-exitcode 9"
    [ "$device" = cuda ] || with=
    # shellcheck disable=SC2086 # words
    timeout "$(left 120)" $with "$build/tests/run_programs" --device "$device" $which $files >"$log.log" 2>&1
    case $? in
    0) said=passed ;;
    124) said=unfinished ;;
    9) said="FAILED (the sanitizer)" ;;
    *) said=FAILED ;;
    esac
    cases=$(sed -n 's/^\([0-9]*\) cases passed.*/\1/p' "$log.log")
    echo "$said: $1, slice $2, ${cases:-0} programs; $(grep -E '(ERROR|RACECHECK) SUMMARY' "$log.log" | tail -1)" | tee "$log.txt"
    case $said in FAILED*) grep -vE 'Host Frame|Saved host' "$log.log" | head -30 | sed 's/^/    /' ;; esac
}

# The first tool's run compiles the kernels; the other tools' runs find them in the cache.
sanitize_all() {
    until=$(($(date +%s) + $(left 100000) * 2 / 5))
    for tool in memcheck racecheck synccheck initcheck; do
        slice=0
        [ "$seconds" = 0 ] || [ "$(date +%s)" -lt "$until" ] || break
        while [ "$slice" -lt "$slices" ]; do
            sanitize "$tool" "$slice" &
            slice=$((slice + 1))
        done
        sanitize "$tool" interpreted &
        wait
    done
}

# ---- ctest

# tests MOST_SECONDS OPTIONS: prints a line as each test ends; all output goes into the log
tests() {
    most=$(left "$1")
    shift
    ctest --test-dir "$build" -N "$@" | sed -n 's/^ *Test *#[0-9]*: //p' >>"$logs/asked.txt"
    timeout "$most" ctest --test-dir "$build" --parallel "$jobs" -V "$@" 2>&1 | tee -a "$logs/tests.txt" |
        grep --line-buffered -E '^ *[0-9]+/[0-9]+ Test '
}

on_device="^tests/(programs|device)/.*$device|^device/cuda/|^tests/api/on_device"
others="tests/programs/(sim|cuda)_|^tests/device/.*/(sim|cuda)$|^device/cuda/|^tests/api/on_device"

# ---- the Python package

# Installs the wheel that `make gpu-packages` has made into a virtual environment that sees the machine's packages, and runs tests/python.
# python3 may itself be of a virtual environment, whose packages a new one sees only through a .pth file.
python_tests() {
    home=$(cd "$build" && pwd)/python
    if ! [ -d .packages/wheels ]; then
        echo "python: skipped, no wheel in .packages/wheels (make gpu-packages)"
        return
    fi
    rm -rf "$home"
    if ! { python3 -m venv --system-site-packages "$home" &&
        python3 -c 'import site; print("\n".join(site.getsitepackages()))' >"$(echo "$home"/lib/python3*/site-packages)/machine.pth" &&
        "$home/bin/pip" install --no-index --find-links .packages/wheels \
        leat -r .packages/wheels/requirements.txt; } >"$logs/python-install.log" 2>&1; then
        echo "FAILED: python: the wheel could not be installed"
        tail -20 "$logs/python-install.log"
        return
    fi
    tests=$PWD/tests/python
    (cd "$home" && LEAT_TEST_DEVICE=$device timeout "$(left 300)" bin/python -m pytest -q -p no:cacheprovider "$tests") >"$logs/python.log" 2>&1
    case $? in
    0) said=passed ;;
    124) said=unfinished ;;
    *) said=FAILED && tail -60 "$logs/python.log" | sed 's/^/    /' ;;
    esac
    echo "$said: python: $(tail -1 "$logs/python.log")" | tee "$logs/python.txt"
}

# ---- summary

# example PATTERN COUNT ARGUMENTS...: COUNT lines of output must match PATTERN
example() {
    pattern=$1 count=$2 program=$build/examples/$3
    shift 3
    timeout "$(left 60)" "$program" "$@" device="$device" >"$logs/example.txt" 2>&1
    [ "$(grep -c "$pattern" "$logs/example.txt")" = "$count" ] && return
    echo "FAILED: $program $*"
    cat "$logs/example.txt"
}

examples() {
    example '^largest error 0$' 1 matmul
    example 'sums to 1.0000$' 2 normalise memory=pinned
    example 'sums to 1.0000$' 2 normalise memory=host
}

# Reads the output of ctest -V, whose lines begin with the number of the test.
summarise() {
    echo "== summary after $(($(date +%s) - begun)) s"
    awk '
        / programs compared byte for byte/ { bytes += $2; near += $(NF - 3) }
        / cases passed, / { cases += $2; wrong += $5 }
        / Test +#[0-9]+: / && $1 ~ /^[0-9]+\/[0-9]+$/ {
            if (/Passed +[0-9.]+ sec/) passed++
            else if (/\*\*\*Skipped/) skipped++
            else if (!/Not Run/) { failed++; print "FAILED: " $0 }
        }
        END {
            printf "%d tests passed, %d failed, %d skipped\n", passed, failed, skipped
            printf "%d cases of programs passed, %d failed\n", cases, wrong
            printf "%d programs compared byte for byte with the CPU, %d within a tolerance\n", bytes, near
        }' "$logs/tests.txt"
    sed -n 's/^ *[0-9]*\/[0-9]* Test *#[0-9]*: \([^ ]*\) .*/\1/p' "$logs/tests.txt" | sort >"$logs/ended.txt"
    sort -u "$logs/asked.txt" 2>/dev/null | comm -23 - "$logs/ended.txt" | sed 's/^/unfinished: /'
    cat "$logs/python.txt" 2>/dev/null || echo "python: skipped, no wheel"
    for tool in memcheck racecheck synccheck initcheck; do
        cat "$logs/sanitizer/$tool"-*.txt 2>/dev/null | awk -v tool=$tool '
            { kinds[/^passed/ ? "passed" : /^unfinished/ ? "unfinished" : "FAILED"]++; programs += $(/^FAILED \(/ ? 7 : 5) }
            END { printf "compute-sanitizer %s: %d slices passed, %d %s, %d unfinished; %d programs\n", tool, kinds["passed"],
                         kinds["FAILED"], kinds["FAILED"] ? "FAILED" : "failed", kinds["unfinished"], programs }'
    done
}

stopped=
finish() {
    trap '' TERM INT
    [ -z "$stopped" ] || kill 0
    { cat "$logs/head.txt" && summarise && cat "$logs/log.txt"; } >"$logs/all.txt" 2>&1
    cp "$logs/all.txt" "$to"
    sed -n '/^== summary/,/^== log/p' "$to"
    grep -qE 'FAILED|^unfinished' "$to" && exit 1
    exit 0
}

echo "$(date +%Y-%m-%d), $gpu, driver $driver, $jobs cores, commit ${LEAT_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}" | tee "$logs/head.txt"
echo "== log" >"$logs/log.txt"
trap 'stopped=1; finish' TERM INT
{
    [ "$device" != cuda ] || examples # sim would take long
    if [ "${GPU_CHECK:-all}" = all ]; then
        if [ "$device" = cuda ] && ! command -v compute-sanitizer >/dev/null 2>&1; then
            echo "FAILED: compute-sanitizer is not installed (GPU_CHECK=quick skips it)"
        else
            sanitize_all
        fi
    fi
    python_tests
    tests 100000 -R "$on_device"
    tests 100000 -LE once -E "$others"
} 2>&1 | tee -a "$logs/log.txt" &
wait $!
finish
