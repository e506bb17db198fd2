#!/bin/sh
# The house rules that a script can check. Prints each breach; exit status 1 if there is one.
#   includes   a file includes its own folder and lower floors only; cli: leat.h and its own folder; headers have no cycle;
#              device/cpu, device/cuda and device/sim do not include each other, and of the files directly in
#              device/ only device_open.c and tests include them
#   headers    every header compiles alone; leat.h as C11, as C++ and pedantically
#   names      file names are unique
#   lengths    functions at most 60 lines, files at most 600 (tables, .def, and leat.h, the one public header, apart)
#   columns    lines of at most 120 bytes, but for tables marked with clang-format off
#   format     clang-format 14 would change nothing; exit status 77 where it is not installed
#   calls      memory goes through base/memory.h; no stdout, stderr or exit below cli, but for bounds_check.c, which reports a
#              bug and aborts in builds that look for those
# usage: floors.sh RULE [SOURCE-FOLDER]
set -u
rule=${1:?usage: floors.sh includes|headers|names|lengths|columns|format|calls [FOLDER]}
cd "${2:-$(dirname "$0")/../..}" || exit 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
breaches=$scratch/breaches
: >"$breaches"

sources() { find src include -name '*.[ch]' -o -name '*.inc' | LC_ALL=C sort; }

# What is laid out by rule: tests and benchmarks, too.
laid_out() {
    for folder in include src tests bench; do
        [ ! -d $folder ] || find $folder -name '.?*' -prune -o -name '*.[ch]' -print
    done | LC_ALL=C sort
}

# floor FOLDER: sets $floor; without a process of its own, since there are thousands of includes
floor() {
    case $1 in
    base) floor=0 ;; spec) floor=1 ;; lang | trace) floor=2 ;; ir | device) floor=3 ;; gen) floor=4 ;;
    array) floor=5 ;; run) floor=6 ;; api) floor=7 ;; cli) floor=8 ;; *) floor=unknown ;;
    esac
}

# FILE INCLUDED for every #include "..." of src/, the path from src/ or of the file's own folder
include_pairs() {
    sources | while read -r file; do
        sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$file" | while read -r name; do
            beside=${file%/*}/$name
            if [ -f "src/$name" ]; then echo "$file src/$name"
            elif [ -f "$beside" ]; then echo "$file $beside"
            elif [ -f "include/$name" ]; then echo "$file include/$name"
            else echo "$file ?$name"; fi
        done
    done | sed ':a; s: \(.*/\)*[^/ .][^/ ]*/\.\./: \1:; ta'
}

# apart FILE INCLUDED: a backend's folder may be included by itself, device_open.c and tests. What backends share is
# directly in device/.
apart() {
    case $2 in src/device/*/*) theirs=${2#src/device/} ;; *) return ;; esac
    case $1 in
    src/device/*/*) ours=${1#src/device/} ;;
    src/device/device_open.c | *_test.c | *_testing.h) return ;;
    *) echo "$1: the front door may not include the backend's $2" && return ;;
    esac
    [ "${ours%%/*}" = "${theirs%%/*}" ] || echo "$1: device/${ours%%/*} may not include $2"
}

check_includes() {
    include_pairs >"$scratch/pairs"
    while read -r file included; do
        case $included in
        \?*) echo "$file: no such file: ${included#?}" && continue ;;
        include/leat.h) continue ;;
        esac
        from=${file#*/} to=${included#*/}
        from=${from%%/*} to=${to%%/*}
        [ "$from" = device ] && apart "$file" "$included"
        [ "$from" = "$to" ] && continue
        floor "$from"
        upper=$floor
        floor "$to"
        lower=$floor
        if [ "$upper" = unknown ] || [ "$lower" = unknown ]; then echo "$file: folder without a floor"
        elif [ "$from" = cli ]; then echo "$file: the command uses leat.h alone, not $included"
        elif [ "$lower" -ge "$upper" ]; then echo "$file: $from may not include $included"; fi
    done <"$scratch/pairs" >>"$breaches"
    grep '\.h .*\.h$' "$scratch/pairs" | tsort >/dev/null 2>"$scratch/cycles"
    sed 's/^tsort: //; s/^/header cycle: /' "$scratch/cycles" >>"$breaches"
}

check_headers() {
    cc=${CC:-cc}
    flags="-fsyntax-only -Wall -Wextra -Wno-unused-function -Werror -Iinclude -Isrc"
    sources | grep '\.h$' | while read -r header; do
        include=${header#src/}
        printf '#include "%s"\ntypedef int not_empty;\n' "${include#include/}" >"$scratch/alone.c"
        $cc -std=c11 -D_GNU_SOURCE -DLE_SIMD=0 $flags "$scratch/alone.c" >"$scratch/said" 2>&1 ||
            { echo "$header: does not compile alone" && cat "$scratch/said"; }
    done >>"$breaches"
    printf '#include "leat.h"\nint main(void) { return 0; }\n' >"$scratch/user.c"
    $cc -std=c11 -pedantic $flags "$scratch/user.c" >>"$breaches" 2>&1 || echo "leat.h: not C11" >>"$breaches"
    if command -v "${CXX:-c++}" >/dev/null 2>&1; then
        ${CXX:-c++} -x c++ -std=c++11 -pedantic $flags "$scratch/user.c" >>"$breaches" 2>&1 || echo "leat.h: not C++" >>"$breaches"
    fi
}

check_names() {
    sources | sed 's:.*/::' | LC_ALL=C sort | uniq -d | sed 's/$/: more than one file has this name/' >>"$breaches"
}

# A function's body opens and closes with a brace in the first column, or opens at the end of a line that starts there.
check_lengths() {
    sources | while read -r file; do
        lines=$(wc -l <"$file")
        [ "$lines" -le 600 ] || [ "$file" = include/leat.h ] || echo "$file: $lines lines"
    done >>"$breaches"
    sources | grep '\.c$' | xargs -r awk '
        FNR == 1 { start = 0 }
        /^[A-Za-z_].*\(/ && !/;[ \t]*$/ && !/^(typedef|enum|struct [a-z_]+ \{|union)/ { if (!inside) { start = FNR; name = $0 } }
        /^[A-Za-z_].*\{[ \t]*$/ && start && !/=[ \t]*\{/ { inside = 1 }
        /^[ \t]+.*\)[ \t]*\{[ \t]*$/ && start && !inside { inside = 1 }
        /^\{/ && start { inside = 1 }
        /^\}/ { if (inside && FNR - start + 1 > 60) printf "%s:%d: a function of %d lines: %s\n", FILENAME, start, FNR - start + 1, name
                inside = 0; start = 0 }
        /;[ \t]*$/ && !inside { start = 0 }' >>"$breaches"
}

check_columns() {
    laid_out | LC_ALL=C xargs -r awk '
        FNR == 1 { off = 0 }
        /clang-format off/ { off = 1 }
        /clang-format on/ { off = 0 }
        !off && length($0) > 120 { printf "%s:%d: %d columns\n", FILENAME, FNR, length($0) }' >>"$breaches"
}

# Other versions lay some things out otherwise.
check_format() {
    for formatter in "${CLANG_FORMAT:-clang-format}" clang-format-14; do
        if "$formatter" --version 2>/dev/null | grep -q 'version 14\.'; then
            laid_out | xargs -r "$formatter" --dry-run -Werror 2>&1 | grep 'error:' >>"$breaches"
            return
        fi
    done
    echo "skipped: clang-format 14 is not installed"
    exit 77
}

check_calls() {
    sources | grep '\.c$' | grep -v '_test\.c$' | grep -v '^src/cli/' >"$scratch/below"
    # comments and strings are blanked first
    while read -r file; do
        sed 's:"\([^"\\]\|\\.\)*":"":g; s:/\*.*\*/::; s:^[[:space:]]*/\*.*::; s:^ \*.*::' "$file" >"$scratch/plain"
        [ "$file" = src/device/cpu/bounds_check.c ] ||
            grep -nE '(^|[^A-Za-z0-9_>.])(printf|puts|putchar|perror|exit|abort|_exit)[[:space:]]*\(|(^|[^A-Za-z0-9_])(stdout|stderr)([^A-Za-z0-9_]|$)' \
                "$scratch/plain" | sed "s|^|$file:|"
        [ "$file" = src/base/memory.c ] ||
            grep -nE '(^|[^A-Za-z0-9_>.])(malloc|calloc|realloc|free|strdup|strndup|asprintf|aligned_alloc|posix_memalign)[[:space:]]*\(' \
                "$scratch/plain" | sed "s|^|$file:|"
    done <"$scratch/below" >>"$breaches"
}

case $rule in
includes | headers | names | lengths | columns | format | calls) "check_$rule" ;;
*) echo "floors.sh: no rule $rule" >&2 && exit 2 ;;
esac
cat "$breaches"
[ ! -s "$breaches" ]
