# bash completion for nooscope
# put this into ~/.bashrc:  eval "$(nooscope doctor completion bash)"
_nooscope() {
    local IFS=$'\n' cur="${COMP_WORDS[COMP_CWORD]}" line
    COMPREPLY=()
    for line in $(nooscope completion --words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
        line="${line%%$'\t'*}"
        case "$line" in
            :files) COMPREPLY+=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null || true ;;
            :folders) COMPREPLY+=($(compgen -d -- "$cur")); compopt -o filenames 2>/dev/null || true ;;
            *=) COMPREPLY+=("$line"); compopt -o nospace 2>/dev/null || true ;;
            *) COMPREPLY+=("$line") ;;
        esac
    done
}
complete -F _nooscope nooscope
