# fish completion for nooscope
# nooscope doctor completion fish > ~/.config/fish/completions/nooscope.fish
function __nooscope_complete
    set -l current (commandline -ct)
    set -l before (commandline -opc)
    for line in (nooscope completion --words $before[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':files*'
                __fish_complete_path "$current"
            case ':folders*'
                __fish_complete_directories "$current"
            case '*'
                echo $line
        end
    end
end
complete -c nooscope -f -a '(__nooscope_complete)'
