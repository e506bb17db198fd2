#!/bin/sh
# Checks that floors.sh finds each kind of breach. Makes a small tree with one breach at a time.
set -u
floors=$(cd "$(dirname "$0")" && pwd)/floors.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
status=0
fresh() {
    rm -rf "$tree/src" "$tree/include"
    mkdir -p "$tree/src/base" "$tree/src/gen" "$tree/src/cli" "$tree/include"
    echo '/* public */' >"$tree/include/leat.h"
    printf '#include "leat.h"\nint le_low(void);\n' >"$tree/src/base/low.h"
    printf '#include "base/low.h"\nint le_high(void);\n' >"$tree/src/gen/high.h"
}
# expect RULE 0|1 WHAT
expect() {
    "$floors" "$1" "$tree" >/dev/null 2>&1
    got=$?
    [ "$got" -eq "$2" ] || { echo "$1: $3: expected $2, got $got" && status=1; }
}
fresh
for rule in includes headers names tags documents lengths columns calls; do expect "$rule" 0 "a tree without a breach"; done
fresh && echo '#include "gen/high.h"' >"$tree/src/base/up.c" && expect includes 1 "upwards"
fresh && echo '#include "base/low.h"' >"$tree/src/cli/main.c" && expect includes 1 "the command below leat.h"
fresh && echo '#include "base/none.h"' >"$tree/src/base/up.c" && expect includes 1 "a file that is not there"
fresh && echo '#include "base/b.h"' >"$tree/src/base/a.h" && echo '#include "base/a.h"' >"$tree/src/base/b.h" && expect includes 1 "a cycle"
devices() {
    fresh && mkdir -p "$tree/src/device/cuda" "$tree/src/device/cpu" "$tree/src/device/front" "$tree/src/sim"
    echo 'int le_s(void);' >"$tree/src/sim/s.h" && echo 'int le_d(void);' >"$tree/src/device/front/d.h"
    echo 'int le_p(void);' >"$tree/src/device/cpu/p.h"
}
devices && printf '#include "device/front/d.h"\n#include "device/cuda/c.h"\n' >"$tree/src/device/cuda/c.c" &&
    echo 'int le_c(void);' >"$tree/src/device/cuda/c.h" && expect includes 0 "a backend uses its own room and the front door"
devices && echo '#include "sim/s.h"' >"$tree/src/device/a.c" && expect includes 0 "device chooses a backend"
devices && echo '#include "device/cpu/p.h"' >"$tree/src/device/cuda/c.c" && expect includes 1 "one backend uses another"
devices && echo '#include "../cpu/p.h"' >"$tree/src/device/cuda/c.c" && expect includes 1 "one backend uses another, by a relative path"
devices && echo '#include "device/front/d.h"' >"$tree/src/sim/s.c" && expect includes 1 "sim uses a device"
fresh && mkdir "$tree/src/attic" && echo '#include "base/low.h"' >"$tree/src/attic/a.c" && expect includes 1 "a room that is not in the table"
fresh && mkdir -p "$tree/tests" && echo 'int le_t(void);' >"$tree/tests/t.h" && echo '#include "tests/t.h"' >"$tree/src/gen/a.c" && expect includes 1 "a header of the tests"
rm -rf "$tree/tests"
fresh && mkdir -p "$tree/python/leat" && printf '#include "leat.h"\n#include "py_a.h"\n#include <Python.h>\n#include <string.h>\n' >"$tree/python/leat/py_a.c" && expect includes 0 "what the extension may include"
for name in '"base/low.h"' '"array/dlpack.h"' '<dlpack.h>' '"../../src/base/low.h"'; do
    echo "#include $name" >"$tree/python/leat/py_a.c" && expect includes 1 "what the extension may not include: $name"
done
rm -rf "$tree/python"
fresh && echo 'struct low { int a; };' | tee "$tree/src/base/a.h" >"$tree/src/gen/b.h" && expect tags 1 "a tag in two headers"
fresh && printf 'struct low {\n    int a;\n};\nstatic int low(void) {\n    return 1;\n}\n' >"$tree/src/base/a.c" && expect tags 1 "a tag that is a function's name"
fresh && echo 'See HOUSE.md.' >"$tree/README.md" && expect documents 1 "a document that does not exist"
rm -f "$tree/README.md"
fresh && echo '/* See none.h. */' >"$tree/src/base/a.c" && expect documents 1 "a header that does not exist, in a comment"
fresh && echo '/* See low.h. */' >"$tree/src/base/a.c" && expect documents 0 "a header that exists, in a comment"
fresh && echo 'le_none le_f(void);' >"$tree/src/base/a.h" && expect headers 1 "a type that is not there"
fresh && echo '/* */' >"$tree/src/gen/low.h" && expect names 1 "two of one name"
fresh && { printf 'int le_f(int a) {\n' && yes '    a++;' | head -60 && printf '    return a;\n}\n'; } >"$tree/src/base/a.c" && expect lengths 1 "a long function"
fresh && yes '' | head -601 >"$tree/src/base/a.c" && expect lengths 1 "a long file"
fresh && printf 'void le_f(void *p) {\n    free(p);\n}\n' >"$tree/src/base/a.c" && expect calls 1 "free"
fresh && printf 'void le_f(void) {\n    printf("x");\n}\n' >"$tree/src/base/a.c" && expect calls 1 "printf"
long='int le_f(int first_of_many_parameters, int second_of_many_parameters, int third_of_many_parameters, int the_fourth_and_last_of_them);'
fresh && echo "$long" >"$tree/src/base/a.h" && expect columns 1 "a long line"
fresh && printf '// clang-format off\n%s\n// clang-format on\n' "$long" >"$tree/src/base/a.h" && expect columns 0 "a long line of a table"
cp "$(dirname "$floors")/../../.clang-format" "$tree"
fresh && "$floors" format "$tree" >/dev/null 2>&1
if [ $? -ne 77 ]; then
    fresh && expect format 0 "a tree that is laid out"
    fresh && echo 'int   le_f( void );' >"$tree/src/base/a.h" && expect format 1 "spaces"
fi
exit $status
