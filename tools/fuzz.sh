#!/bin/sh
# Builds the fuzzers with clang and runs each for SECONDS. New inputs are stored in build/fuzz-corpus. A crash is stored in
# build/fuzz-crashes, and the run fails. Exit status 3: clang's fuzzer runtime is not installed.
set -eu
seconds=${1:?usage: tools/fuzz.sh SECONDS}
cd "$(dirname "$0")/.."
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n); int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return d && n > 9 ? 0 : 0; }' >"$probe/probe.c"
if ! clang -fsanitize=fuzzer,address "$probe/probe.c" -o "$probe/probe" >/dev/null 2>&1; then
    echo "fuzz: skipped: clang's fuzzer runtime is not installed (Debian: clang libclang-rt-14-dev)" >&2
    exit 3
fi
cmake --preset fuzz ${LEAT_CMAKE_ARGS:-} >/dev/null
cmake --build --preset fuzz --target leat_fuzzers
mkdir -p build/fuzz-crashes
export seconds
ls build/fuzz/fuzz/fuzz_* | xargs -P "$(nproc)" -n 1 sh -euc '
    name=$(basename "$0" | sed s/fuzz_//)
    mkdir -p "build/fuzz-corpus/$name"
    dictionary=tests/fuzz/$name.dict
    [ -f "$dictionary" ] && dictionary="-dict=$dictionary" || dictionary=
    echo "fuzz: $name for $seconds s"
    "$0" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -max_len=4096 -print_funcs=0 -verbosity=0 $dictionary \
        -artifact_prefix=build/fuzz-crashes/"$name"- build/fuzz-corpus/"$name" tests/fuzz/corpus/"$name"'
