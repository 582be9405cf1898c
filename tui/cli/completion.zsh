#compdef nooscope
# zsh completion for nooscope
# put this into ~/.zshrc after compinit:  eval "$(nooscope doctor completion zsh)"
_nooscope() {
    local line name
    local -a described assignable
    for line in "${(@f)$(nooscope completion --words "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        name="${line%%$'\t'*}"
        case "$name" in
            :files) _files ;;
            :folders) _files -/ ;;
            *=) assignable+=("$name") ;;
            ?*) described+=("${name//:/\\:}:${line#*$'\t'}") ;;
        esac
    done
    (( $#described )) && _describe -t nooscope nooscope described
    (( $#assignable )) && compadd -S '' -a assignable
}
compdef _nooscope nooscope
