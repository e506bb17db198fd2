#!/bin/sh
# Runs all tests: the release build with all tests, the Python package, sanitizer builds with the tests that make sense there, and a
# short run of the fuzzers. LEAT_CHECK=release stops before the sanitizers. LEAT_PYTHON=OFF leaves out the Python package. The last line
# is a summary. The exit status is 0 only if all tests passed.
set -u
cd "$(dirname "$0")/.."
begun=$(date +%s)
logs=build/check
mkdir -p "$logs"
passed=0
failed=0
broken=""
skipped=""

# build PRESET [TARGET]: configures and builds, quietly unless it fails
build() {
    preset=$1
    echo "== $preset: build"
    with_python=OFF
    [ "$preset" != release ] || with_python=$extension
    cmake --preset "$preset" -DLEAT_WERROR="${LEAT_WERROR:-OFF}" -DLEAT_PYTHON=$with_python >"$logs/$preset-configure.log" 2>&1 || {
        cat "$logs/$preset-configure.log"
        broken="$broken $preset-configure"
        return 1
    }
    cmake --build --preset "$preset" --target "${2:-all}" >"$logs/$preset-build.log" 2>&1 || {
        grep -vE '^\[[0-9]+/[0-9]+\] (Building|Linking|Generating)' "$logs/$preset-build.log"
        broken="$broken $preset-build"
        return 1
    }
    grep -E 'warning:' "$logs/$preset-build.log"
    return 0
}

# run_tests PRESET [CTEST OPTIONS]: runs the tests and adds to the counts. One more test than there are cores runs at a time, because some
# mostly wait.
run_tests() {
    preset=$1
    shift
    echo "== $preset: tests"
    ctest --preset "$preset" --parallel "$(($(nproc) + 1))" "$@" 2>&1 | tee "$logs/$preset-tests.log"
    counts=$(sed -n 's/^\([0-9]*\)% tests passed, \([0-9]*\) tests failed out of \([0-9]*\)$/\2 \3/p' "$logs/$preset-tests.log")
    if [ -z "$counts" ]; then
        broken="$broken $preset-tests"
        return
    fi
    failed=$((failed + ${counts% *}))
    passed=$((passed + ${counts#* } - ${counts% *}))
}

# the Python package, in the release build
extension=${LEAT_PYTHON:-ON}
twice=
[ "${LEAT_CHECK:-all}" != all ] || twice="-LE watched" # these run with sanitizers
[ "$extension" != ON ] || tools/check_python.sh prepare >"$logs/python-prepare.log" 2>&1 & # it waits for the network
build release && run_tests release $twice
wait
if [ "$extension" = ON ] && [ -z "$broken" ]; then
    tools/check_python.sh 2>&1 | tee "$logs/python.log"
    counts=$(sed -n 's/^python: \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$logs/python.log")
    [ -n "$counts" ] || broken="$broken python"
    counts=${counts:-0 0}
    passed=$((passed + ${counts% *}))
    failed=$((failed + ${counts#* }))
fi
if [ "${LEAT_CHECK:-all}" = all ] && [ -z "$broken" ]; then
    build asan && run_tests asan -LE once
    build tsan leat_thread_tests && run_tests tsan -L threads
    echo "== fuzz: a short run of each"
    LEAT_CMAKE_ARGS="-DLEAT_WERROR=${LEAT_WERROR:-OFF} -DLEAT_SANITIZE_LEVEL=0" tools/fuzz.sh "${FUZZ_SECONDS:-2}" >"$logs/fuzz.log" 2>&1
    case $? in
    0) passed=$((passed + $(grep -c '^fuzz: .* for ' "$logs/fuzz.log"))) && grep '^fuzz:' "$logs/fuzz.log" ;;
    3) skipped=" (fuzzers skipped: no clang runtime for them)" ;;
    *) grep -vE "^(INFO|\\[[0-9])| # Uses:" "$logs/fuzz.log" | tail -40 && failed=$((failed + 1)) ;;
    esac
fi

took=$(($(date +%s) - begun))
echo "make check: $passed passed, $failed failed, $took s$skipped"
[ -z "$broken" ] || echo "make check: not run:$broken"
[ "$failed" -eq 0 ] && [ -z "$broken" ]
