#!/bin/sh
# Runs the command lines of *.txt beside this script and checks their output and exit status.
#   $ COMMAND        a shell command; `leat` in it is the command under test. A case begins here.
#   | TEXT           a line of its stdout; without any, stdout is not compared
#   |                (alone, once) stdout is empty
#   ~ REGEX          a line of stdout matches
#   ! REGEX          a line of stderr matches
#   ? CODE           the exit status; defaults to 0
#   = json           stdout is one JSON value
#   = one line       stderr is one line
#   = quiet          stderr is empty
# The cases of a file run in order, in one new folder. $tests is the folder of this script. usage: run_tests.sh LEAT [FILE ...]
set -u
leat=${1:?usage: run_tests.sh LEAT [FILE ...]}
case $leat in /*) ;; *) leat=$PWD/$leat ;; esac
shift
start=$PWD
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || set -- "$here"/*.txt
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bin=$scratch/bin out=$scratch/out err=$scratch/err want=$scratch/want
mkdir "$bin" && ln -s "$leat" "$bin/leat"
PATH=$bin:$PATH tests=$here LEAT_CACHE_DIR=$scratch/cache LC_ALL=C
export PATH tests LEAT_CACHE_DIR LC_ALL
unset LEAT_DEVICE LEAT_SIMD LEAT_CACHE_CAP_BYTES NO_COLOR COLUMNS
run=0 failed=0

fail() {
    [ "$sound" ] && failed=$((failed + 1)) && echo "$file: $command"
    sound=
    echo "    $1"
}

begin_case() {
    command=$1 expected=0 sound=yes
    run=$((run + 1))
    : >"$want"
    compares=
    sh -c "$command" >"$out" 2>"$err" </dev/null
    code=$?
}

run_file() {
    file=$(basename "$1") command=
    folder=$scratch/$file
    mkdir "$folder" && cd "$folder" || exit 2
    while IFS= read -r line; do
        text=${line#??}
        case $line in
        '$ '*) end_case && begin_case "$text" ;;
        '| '*) compares=yes && printf '%s\n' "$text" >>"$want" ;;
        '|') compares=yes ;;
        '~ '*) grep -Eq -e "$text" "$out" || fail "stdout lacks $text: $(head -n 1 "$out")" ;;
        '! '*) grep -Eq -e "$text" "$err" || fail "stderr lacks $text: $(head -n 1 "$err")" ;;
        '? '*) expected=$text ;;
        '= json') awk -f "$here/json.awk" "$out" || fail "no JSON: $(head -c 200 "$out")" ;;
        '= one line') [ "$(wc -l <"$err")" = 1 ] || fail "stderr is $(wc -l <"$err") lines" ;;
        '= quiet') [ ! -s "$err" ] || fail "stderr is not empty: $(head -n 1 "$err")" ;;
        '' | '#'*) ;;
        *) echo "$file: cannot read: $line" && exit 2 ;;
        esac
    done <"$1"
    end_case
}

end_case() {
    [ "$command" ] || return 0
    [ "$code" = "$expected" ] || fail "exit status $code, not $expected: $(head -n 1 "$err")"
    if [ "$compares" ] && ! cmp -s "$want" "$out"; then
        fail "prints otherwise (< expected):"
        diff "$want" "$out" | sed 's/^/    /'
    fi
    command=
}

for cases; do
    case $cases in /*) ;; *) cases=$start/$cases ;; esac
    run_file "$cases"
done
echo "$((run - failed)) of $run command lines"
[ "$failed" = 0 ]
