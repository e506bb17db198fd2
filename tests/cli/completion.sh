#!/usr/bin/env bash
# What completion offers after the words given: completion.sh leat run prog.leat a = b
. "$(dirname "$0")/../../completion/leat.bash"
compopt() { :; }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
_leat
printf '%s\n' "${COMPREPLY[@]}"
