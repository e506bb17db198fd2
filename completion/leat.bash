# bash completion for leat(1)

_leat_program() # prints the program's file on the line, if it can be read
{
    local word
    for word in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
        [[ $word == *.leat && -r $word ]] && printf '%s\n' "$word" && return
    done
}

_leat_names() # prints the names of one kind (inputs, results) of the program on the line, from `leat check`
{
    local program
    program=$(_leat_program)
    [[ $program ]] || return
    leat check "$program" 2>/dev/null | awk -v kind="$1" '/^[a-z]/ { on = $1 == kind; next } on { print $1 }'
}

_leat_kernels() # FILE: prints the kernels in a file of CUDA C
{
    [[ -r $1 ]] && sed -n 's/.*__global__[^(]*[ *]\([A-Za-z_][A-Za-z0-9_]*\) *(.*/\1/p' "$1"
}

_leat_files() # PART ENDING...: prints folders, and files with one of the endings
{
    local part=$1 ending file
    shift
    compopt -o filenames 2>/dev/null
    for ending; do
        while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -X "!*$ending" -- "$part")
    done
    while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -d -- "$part")
}

_leat_words()
{
    local word
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$1" -- "$2")
}

_leat()
{
    local line current previous command
    COMPREPLY=()
    # "=" separates words: name=fi is three words
    current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
    if ((COMP_CWORD == 1)); then
        _leat_words 'run check show launch devices cache trace report help --help --version' "$current"
        return
    fi
    if [[ $previous == = || $current == = ]]; then
        [[ $current == = ]] && current=
        _leat_files "$current" .npy .npz .csv .tsv .png
        return
    fi
    if [[ ($previous == : || $current == :) && $COMP_LINE == *ir:* ]]; then # ":" separates words as well
        _leat_words 'lower demand dead-code contract scan loops inline hoist fuse-reductions finish-totals copy-elision' "${current#:}"
        return
    fi
    if [[ $command == launch && ($previous == : || $current == :) && $COMP_LINE == *.cu:* ]]; then
        local file=${COMP_WORDS[COMP_CWORD-2]}
        [[ $current == : ]] && file=$previous
        _leat_words "$(_leat_kernels "$file")" "${current#:}"
        return
    fi
    if [[ $command == launch && $previous == -o ]]; then # names of the arguments so far
        _leat_words "$(printf '%s ' "${COMP_WORDS[@]}" | grep -o '[A-Za-z_][A-Za-z0-9_]* = ' | tr -d ' =')" "$current"
        compopt -o nospace 2>/dev/null
        return
    fi
    if [[ $command == trace ]]; then # our options, then the command and its own arguments
        case $previous in
        --limit) return ;;
        --from-start) _leat_words 'off' "$current"; return ;;
        --graphs) _leat_words 'only' "$current"; return ;;
        esac
        if [[ $current == -* && ($COMP_CWORD -eq 2 || $previous == -* || ${COMP_WORDS[COMP_CWORD-2]} == -*) ]]; then
            _leat_words '-o --no-source --limit --from-start --graphs --help' "$current"
        else
            compopt -o filenames 2>/dev/null
            [[ $COMP_CWORD -gt 2 ]] || while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -c -- "$current")
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
        fi
        return
    fi
    case $previous in
    -I) compopt -o filenames 2>/dev/null; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$current"); return ;;
    -D | --grid | --block | --shared) return ;;
    --svg) _leat_files "$current" .svg; return ;;
    --perfetto) _leat_files "$current" .json; return ;;
    -e | --threads | --repeat | --precision-digits) return ;;
    --device) _leat_words 'auto cpu cuda sim' "$current"; return ;;
    --precision) _leat_words 'f32 tf32' "$current"; return ;;
    --bits) _leat_words 'default portable' "$current"; return ;;
    --colormap) _leat_words 'grey viridis' "$current"; return ;;
    --emit) _leat_words 'tree ir ir:lower ir:demand ir:dead-code ir:contract ir:scan ir:loops ir:inline ir:hoist ir:fuse-reductions ir:finish-totals ir:copy-elision plan bytecode kernel cuda ptx sass' "$current"; return ;;
    --arch) _leat_words 'sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120' "$current"; return ;;
    -o) _leat_words "$(_leat_names results)" "$current"; compopt -o nospace; return ;;
    esac
    if [[ $current == -* ]]; then
        case $command in
        run) line='-e -o --precision-digits --colormap --sync --device --threads --precision --bits --repeat --explain --json --help' ;;
        check) line='-e --json --help' ;;
        show) line='-e --emit --arch --device --threads --precision --bits --json --help' ;;
        launch) line='--grid --block --shared -D -I -o --precision-digits --colormap --sync --device --check --repeat --explain --json --help' ;;
        devices) line='--device --threads --json --help' ;;
        cache) line='--json --help' ;;
        report) line='--summary --trace --findings --csv --json --svg --perfetto --help' ;;
        *) line= ;;
        esac
        _leat_words "$line" "$current"
        return
    fi
    case $command in
    help) _leat_words 'run check show launch devices cache trace report language functions types files environment exit-status' "$current" ;;
    run | show)
        if [[ $(_leat_program) ]]; then
            _leat_words "$(_leat_names inputs | sed 's/$/=/')" "$current"
            compopt -o nospace
        else
            _leat_files "$current" .leat
        fi
        ;;
    launch) ((COMP_CWORD == 2)) && _leat_files "$current" .cu ;;
    check) _leat_files "$current" .leat ;;
    cache) _leat_words 'stat list clear' "$current" ;;
    report) _leat_files "$current" .trace ;;
    esac
}
complete -F _leat leat
