#!/bin/sh
# Compiles cupti_headers.c against CUPTI's headers, which checks that the recorder's declarations and the offsets of fields in CUPTI's
# records match cupti.h. An error of each kind in a copy of the tables must not compile. Exit status 77 if there is no cupti.h.
# usage: cupti_headers.sh [SOURCE-FOLDER [INCLUDE-FOLDER]]
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "${1:-$here/../..}" && pwd) || exit 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
headers=
for folder in "${2:-}" "${CUDA_PATH:+$CUDA_PATH/include}" "${CUDA_PATH:+$CUDA_PATH/extras/CUPTI/include}" /usr/local/cuda/include \
    /usr/local/cuda/extras/CUPTI/include; do
    [ -z "$headers" ] && [ -n "$folder" ] && [ -f "$folder/cupti.h" ] && headers=$folder
done
[ -n "$headers" ] || { echo "skipped: no cupti.h in CUDA_PATH or /usr/local/cuda" && exit 77; }
version=$(cat "$headers"/cupti*.h | awk '/^#define CUPTI_API_VERSION/ { print $3 }')
toolkit=/usr/local/cuda/include # cuda.h, where CUPTI's headers are a package of their own

# compare SOURCES: compiles against the tables of SOURCES/trace. Each field is checked in each structure that has it.
compare() {
    sed -n 's/^LE_CUPTI_\(RECORD\|FIELD\)(\(.*\))$/\1 \2/p' "$1/trace/recorder/cupti_layout.def" | tr -d ',' | awk -v most="$version" '
        $1 == "RECORD" && $3 + 0 <= most + 0 {
            printf "SIZE(%s, %s)\n", $4, $5
            count[$2]++; structure[$2, count[$2]] = $4; since[$2, count[$2]] = $3 }
        $1 == "FIELD" { for (k = 1; k <= count[$2]; k++) if ($4 + 0 <= since[$2, k] + 0)
            printf "AT(%s, %s, %s, %s)\n", structure[$2, k], $5, $6, $7 }' >"$scratch/rows.def"
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$1" -isystem "$headers" -isystem "$toolkit" \
        -DLE_CUPTI_ROWS="\"$scratch/rows.def\"" "$here/cupti_headers.c" -o "$scratch/cupti_headers" >"$scratch/said" 2>&1
}
compare "$root/src" || { cat "$scratch/said" && exit 1; }
"$scratch/cupti_headers" || exit 1

status=0
# Rows of this version are checked against the structure that these headers call the current one.
if [ -f "$headers/cupti_activity_deprecated.h" ]; then
    old=$(sed -n 's/^LE_CUPTI_RECORD(\([A-Z0-9]*\), \([0-9]*\), \([A-Za-z0-9_]*\),.*/\1 \2 \3/p' "$root/src/trace/recorder/cupti_layout.def" |
        awk -v most="$version" '$2 + 0 <= most + 0 { last[$1] = $3 } END { for (k in last) print last[k] }' |
        while read -r structure; do grep -q "^} $structure;" "$headers/cupti_activity.h" || echo "$structure"; done)
    [ -z "$old" ] || { echo "not of version $version:" $old && status=1; }
fi

# breach FILE SED-COMMAND WHAT
breach() {
    rm -rf "$scratch/src" && mkdir "$scratch/src" && cp -r "$root/src/trace" "$scratch/src"
    sed "$2" "$root/src/trace/recorder/$1" >"$scratch/src/trace/recorder/$1"
    cmp -s "$root/src/trace/recorder/$1" "$scratch/src/trace/recorder/$1" && echo "$3: nothing was changed" && status=1
    if compare "$scratch/src"; then
        echo "$3: not found" && status=1
    elif ! grep -Eq 'static.assert|has no member|no member named|undeclared|unknown type' "$scratch/said"; then
        echo "$3: fails for another reason" && cat "$scratch/said" && status=1
    fi
}
breach cupti.h 's/KIND_OVERHEAD, 17/KIND_OVERHEAD, 18/' "a constant"
breach cupti.h 's/uint32_t context_id/uint64_t context_id/' "a member's size"
breach cupti.h 's/(uint32_t flag)/(uint64_t flag)/' "a parameter's type"
breach cupti.h 's/typedef int le_cupti_result/typedef long le_cupti_result/' "a type's size"
breach cupti_layout.def 's/graphNodeId, 144, 8/graphNodeId, 152, 8/' "an offset"
breach cupti_layout.def 's/registersPerThread, 6, 2/registersPerThread, 6, 4/' "a field's size"
breach cupti_layout.def 's/KERNEL, graph, 13/KERNEL, graph, 12/' "a field before its time"
breach cupti_layout.def 's/CUpti_ActivityMemset4, 88/CUpti_ActivityMemset4, 96/' "a record's size"
exit $status
