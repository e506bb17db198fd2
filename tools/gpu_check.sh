#!/bin/sh
# `make gpu-check`: the tests that need a GPU, and all others on that machine; then compute-sanitizer over the suite of devices.
# Writes bench/results/DATE-GPU-check.txt (or $CHECK_TO/gpu-check.txt). GPU_CHECK: all, or quick without compute-sanitizer.
set -u
cd "$(dirname "$0")/.."
. tools/packages.sh
build=${GPU_BUILD:-build/gpu}
command -v nvidia-smi >/dev/null 2>&1 || {
    echo "gpu-check: no nvidia-smi, and so no GPU" >&2
    exit 1
}
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)
slug=$(echo "$gpu" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9-')
to=${CHECK_TO:+$CHECK_TO/gpu-check.txt}
to=${to:-bench/results/$(date +%Y-%m-%d)-$slug-check.txt}

cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DLEAT_EXAMPLES=ON -DBUILD_TESTING=ON >"$build.log" 2>&1 &&
    cmake --build "$build" >>"$build.log" 2>&1 || {
    tail -40 "$build.log"
    exit 1
}

# Its verdict on one program, into a file of its own.
sanitize() {
    name=$build/sanitizer/$tool-$1
    shift
    compute-sanitizer --tool $tool --error-exitcode 9 "$@" >"$name.log" 2>&1 || echo "FAILED" >"$name.txt"
    grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$name.log" >>"$name.txt" || tail -5 "$name.log" >>"$name.txt"
    rm "$name.log"
}

rm -rf "$build/sanitizer" && mkdir -p "$build/sanitizer"
{
    echo "$(date +%Y-%m-%d), $gpu, driver $driver"
    echo "== tests"
    LEAT_TEST_CUDA=1 ctest --test-dir "$build" --parallel "$(nproc)" -LE once --output-on-failure >"$build/ctest.txt" 2>&1 || echo "FAILED"
    sed -n '/tests passed/,$p' "$build/ctest.txt"
    echo "== examples"
    "$build/examples/matmul" device=cuda >"$build/examples.txt" 2>&1 && grep -qx 'largest error 0' "$build/examples.txt" ||
        { echo "FAILED: matmul" && cat "$build/examples.txt"; }
    for memory in pinned host; do
        "$build/examples/normalise" device=cuda memory=$memory >"$build/examples.txt" 2>&1 &&
            [ "$(grep -c 'sums to 1.0000$' "$build/examples.txt")" = 2 ] || { echo "FAILED: normalise" && cat "$build/examples.txt"; }
    done
    if [ "${GPU_CHECK:-all}" = all ] && ! command -v compute-sanitizer >/dev/null 2>&1; then
        echo "FAILED: no compute-sanitizer here (GPU_CHECK=quick goes without it)"
    elif [ "${GPU_CHECK:-all}" = all ]; then
        for tool in memcheck racecheck initcheck synccheck; do
            for test in "$build"/tests/test_device_suite_*; do
                case $test in *_faults) continue ;; esac # its kernels are meant to fault
                sanitize "$(basename "$test")" "$test" cuda &
            done
            for part in 0 1 2 3; do # the kernels of one program of sixteen
                sanitize "run_programs_$part" "$build/tests/run_programs" --device cuda --only $part/64 tests/programs/*.txt &
            done
            wait
            for name in "$build"/sanitizer/$tool-*; do
                echo "== compute-sanitizer $(basename "$name" .txt)"
                cat "$name"
            done
        done
    fi
} >"$build/gpu-check.txt" 2>&1
cp "$build/gpu-check.txt" "$to"
cat "$to"
! grep -q FAILED "$to"
