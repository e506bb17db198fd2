#!/bin/sh
# floors.sh finds what it is there to find: a small tree with one breach of each kind.
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
for rule in includes headers names lengths columns calls; do expect "$rule" 0 "a tree without a breach"; done
fresh && echo '#include "gen/high.h"' >"$tree/src/base/up.c" && expect includes 1 "upwards"
fresh && echo '#include "base/low.h"' >"$tree/src/cli/main.c" && expect includes 1 "the command below leat.h"
fresh && echo '#include "base/none.h"' >"$tree/src/base/up.c" && expect includes 1 "a file that is not there"
fresh && echo '#include "base/b.h"' >"$tree/src/base/a.h" && echo '#include "base/a.h"' >"$tree/src/base/b.h" && expect includes 1 "a cycle"
apart() {
    fresh && mkdir -p "$tree/src/device/cuda" "$tree/src/device/sim"
    echo 'int le_s(void);' >"$tree/src/device/sim/s.h" && echo 'int le_d(void);' >"$tree/src/device/d.h"
}
apart && printf '#include "device/d.h"\n#include "device/cuda/c.h"\n' >"$tree/src/device/cuda/c.c" &&
    echo 'int le_c(void);' >"$tree/src/device/cuda/c.h" && expect includes 0 "a device's own folder and what is shared"
apart && echo '#include "device/sim/s.h"' >"$tree/src/device/device_open.c" && expect includes 0 "the file that chooses a backend"
apart && echo '#include "device/sim/s.h"' >"$tree/src/device/a.c" && expect includes 1 "a backend in the front door"
apart && echo '#include "device/sim/s.h"' >"$tree/src/device/cuda/c.c" && expect includes 1 "one device in another"
apart && echo '#include "../sim/s.h"' >"$tree/src/device/cuda/c.c" && expect includes 1 "one device in another, by a detour"
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
