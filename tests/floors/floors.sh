#!/bin/sh
# Checks the house rules that a script can check. Prints each breach. The exit status is 1 if there is one.
#   includes   a file includes its own room and the rooms that its room may use (the table below); headers have no cycles
#              the Python extension includes leat.h, its own py_*.h, and headers of Python and of the C library
#   headers    every header compiles alone; leat.h compiles as C11, as C++ and with -pedantic
#   names      file names are unique
#   tags       a struct, union or enum tag is declared in one header at most, and is no function's name
#   documents  every .md file and every source file that is named in a document, a comment or a script exists
#   lengths    functions have at most 60 lines, files at most 600 (.def tables and leat.h excepted)
#   columns    lines have at most 120 bytes, except in tables marked with clang-format off
#   format     clang-format 14 changes nothing; exit status 77 if it is not installed
#   calls      memory goes through base/memory.h; nothing below cli uses stdout, stderr or exit, except bounds_check.c, which
#              reports a bug of Leat's and aborts, in builds that check
# usage: floors.sh RULE [SOURCE-FOLDER]
set -u
rule=${1:?usage: floors.sh includes|headers|names|tags|documents|lengths|columns|format|calls [FOLDER]}
cd "${2:-$(dirname "$0")/../..}" || exit 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
breaches=$scratch/breaches
: >"$breaches"

sources() { find src include -name '*.[ch]' -o -name '*.inc' | LC_ALL=C sort; }

# The files that clang-format formats. Includes tests and benchmarks.
laid_out() {
    for folder in include src python tests bench; do
        [ ! -d $folder ] || find $folder -name '.?*' -prune -o -name '*.[ch]' -print
    done | LC_ALL=C sort
}

# The rooms, lowest first, and the rooms that each may use besides itself. Each subfolder of device is a room; the room `device` is
# the files directly in that folder. No room may use a later one.
rooms() {
    cat <<'END'
base
spec            base
device/driver   base spec
sim             base spec device/driver
lang            base spec
trace           base spec
account         base
ir              base spec lang
device/front    base spec
device/cpu      base spec device/front
device/cuda     base spec device/driver device/front
device          base spec sim device/driver device/front device/cpu device/cuda
gen             base spec lang ir device device/cpu
array           base spec device device/front
run             base spec lang ir gen array sim device device/front device/cpu device/cuda
api             base spec lang ir gen array run trace account sim device device/front device/cpu device/cuda
cli
END
}

# room FILE: sets $room to the room of FILE, a path below src/
room() {
    case $1 in
    device/*/*) room=${1#device/} && room=device/${room%%/*} ;;
    *) room=${1%%/*} ;;
    esac
}

# Prints FILE INCLUDED for every #include "..." of src/. The path is relative to src/ or to the file's folder.
include_pairs() {
    sources | while read -r file; do
        sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$file" | while read -r name; do
            beside=${file%/*}/$name
            if [ -f "src/$name" ]; then echo "$file src/$name"
            elif [ -f "$beside" ]; then echo "$file $beside"
            elif [ -f "include/$name" ]; then echo "$file include/$name"
            elif [ -f "$name" ]; then echo "$file $name"
            else echo "$file ?$name"; fi
        done
    done | sed ':a; s: \(.*/\)*[^/ .][^/ ]*/\.\./: \1:; ta'
}

check_extension() {
    grep -nE '^[[:space:]]*#[[:space:]]*include\>' python/leat/*.[ch] /dev/null |
        grep -vE '"(leat|py_[a-z_0-9]+)\.h"|<(Python|structmember|assert|complex|ctype|errno|fenv|inttypes|limits|math|pthread|sched|setjmp|signal|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|time|unistd|sys/[a-z]+)\.h>' |
        sed 's/$/: the extension may not include this/'
}

check_includes() {
    include_pairs >"$scratch/pairs"
    rooms | tr -s ' ' >"$scratch/rooms"
    while read -r file included; do
        case $included in
        \?*) echo "$file: no such file: ${included#?}" && continue ;;
        include/leat.h) continue ;;
        tests/*)
            case $file in *_test.c | *_testing.h) ;; *) echo "$file: only a test may include $included" ;; esac
            continue ;;
        esac
        room "${file#src/}"
        from=$room
        room "${included#src/}"
        [ "$from" = "$room" ] && continue
        case $file in src/cli/*) ;; *_test.c | *_testing.h) continue ;; esac # tests reach further
        grep -q "^$from\( \|\$\)" "$scratch/rooms" || { echo "$file: $from is not in the table of rooms" && continue; }
        grep -q "^$from .*\b$room\( \|\$\)" "$scratch/rooms" || echo "$file: $from may not include $included"
    done <"$scratch/pairs" >>"$breaches"
    [ ! -d python/leat ] || check_extension >>"$breaches"
    grep '\.h .*\.h$' "$scratch/pairs" | tsort >/dev/null 2>"$scratch/cycles"
    sed 's/^tsort: //; s/^/header cycle: /' "$scratch/cycles" >>"$breaches"
}

check_headers() {
    cc=${CC:-cc}
    flags="-fsyntax-only -Wall -Wextra -Wno-unused-function -Werror -Iinclude -Isrc -I."
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

# A tag that is declared inside another struct counts for its header as well.
check_tags() {
    sources | grep '\.h$' | grep -v '_testing\.h$' | xargs -r grep -oHE '\b(struct|union|enum) [a-z_0-9]+ \{' |
        sed 's/^\(.*\):\(struct\|union\|enum\) \(.*\) {$/\3 \1/' | LC_ALL=C sort -u >"$scratch/header_tags"
    cut -d' ' -f1 "$scratch/header_tags" | uniq -d | while read -r tag; do
        echo "$tag: a tag in more than one header: $(sed -n "s/^$tag //p" "$scratch/header_tags" | tr '\n' ' ')"
    done >>"$breaches"
    sources | grep -v '_test\.c$' | grep -v '_testing\.h$' >"$scratch/code"
    xargs -r grep -ohE '\b(struct|union|enum) [a-z_0-9]+ \{' <"$scratch/code" | sed 's/^[a-z]* \(.*\) {$/\1/' | LC_ALL=C sort -u >"$scratch/tags"
    xargs -r grep -ohE '^[A-Za-z_][A-Za-z_0-9 *]*[ *]([a-z_0-9]+)\(' <"$scratch/code" | sed 's/($//; s/.*[ *]//' | LC_ALL=C sort -u >"$scratch/functions"
    LC_ALL=C comm -12 "$scratch/tags" "$scratch/functions" | sed 's/$/: the name of a tag and of a function/' >>"$breaches"
}

# Checks three kinds of mention: a document by its name (NAME.md), a path relative to the top or to src/, and a source file that a
# comment in src/ names. `theirs` lists headers of other projects.
check_documents() {
    git ls-files >"$scratch/files" 2>/dev/null && [ -s "$scratch/files" ] || find . -type f | sed 's:^\./::' >"$scratch/files"
    grep -E '\.(md|c|h|inc|cu|def|cmake|sh|py|scd)$|(^|/)Makefile$' "$scratch/files" |
        grep -vE '^(bench/results|tests/fuzz/corpus|tests/floors)/|_test\.c$' >"$scratch/texts"
    LC_ALL=C xargs awk '
        BEGIN {
            split("cuda.h nvrtc.h cublas_v2.h cupti.h cupti_activity.h cuda_fp16.h cuda_bf16.h cuda_runtime_api.h cooperative_groups.h stdio.h stdint.h stddef.h math.h", names, " ")
            for (k in names) theirs[names[k]] = 1
        }
        FILENAME == ARGV[1] { known[$0] = 1; below = $0; sub(/^(src|include)\//, "", below); known[below] = 1; sub(/.*\//, "", below); known[below] = 1; next }
        function look(text, pattern,    rest, name) {
            for (rest = " " text " "; match(rest, "[^A-Za-z_0-9./]" pattern "[^A-Za-z_0-9(]"); rest = substr(rest, RSTART + RLENGTH - 1)) {
                name = substr(rest, RSTART + 1, RLENGTH - 2)
                if (!(name in known) && !(name in theirs)) print FILENAME ":" FNR ": no such file: " name
            }
        }
        {
            look($0, "[A-Z][A-Z][A-Z]+\\.md")
            look($0, "(docs|src|include|cmake|tools|bench|examples|man|base|spec|lang|ir|gen|array|run|api|cli|sim|device|trace|account)/[a-z_0-9\\/]*[a-z_0-9]\\.(md|cmake|c|h|inc|cu|def|sh|py|scd)")
            if (FILENAME ~ /^src\// && ($0 ~ /^ ?\*/ || $0 ~ /\/\*/) && $0 !~ /#include/) {
                comment = $0
                sub(/^.*\/\*/, "", comment)
                look(comment, "[a-z][a-z_0-9][a-z_0-9]+\\.[ch]")
            }
        }' "$scratch/files" <"$scratch/texts" >>"$breaches"
}

# A function body begins with a brace in the first column, or at the end of a line that starts in the first column. It ends with a
# brace in the first column.
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

# Other versions format some things differently.
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
    # remove comments and strings first
    while read -r file; do
        sed 's:"\([^"\\]\|\\.\)*":"":g; s:/\*.*\*/::; s:^[[:space:]]*/\*.*::; s:^ \*.*::' "$file" >"$scratch/plain"
        [ "$file" = src/device/cpu/machine/bounds_check.c ] ||
            grep -nE '(^|[^A-Za-z0-9_>.])(printf|puts|putchar|perror|exit|abort|_exit)[[:space:]]*\(|(^|[^A-Za-z0-9_])(stdout|stderr)([^A-Za-z0-9_]|$)' \
                "$scratch/plain" | sed "s|^|$file:|"
        [ "$file" = src/base/memory.c ] ||
            grep -nE '(^|[^A-Za-z0-9_>.])(malloc|calloc|realloc|free|strdup|strndup|asprintf|aligned_alloc|posix_memalign)[[:space:]]*\(' \
                "$scratch/plain" | sed "s|^|$file:|"
    done <"$scratch/below" >>"$breaches"
}

case $rule in
includes | headers | names | tags | documents | lengths | columns | format | calls) "check_$rule" ;;
*) echo "floors.sh: no rule $rule" >&2 && exit 2 ;;
esac
cat "$breaches"
[ ! -s "$breaches" ]
