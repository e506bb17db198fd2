#!/usr/bin/env bash
# Prints what completion offers after the given words: completion.sh leat run prog.leat a = b
. "$(dirname "$0")/../../completion/leat.bash"
compopt() { :; }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
_leat
printf '%s\n' "${COMPREPLY[@]}"
