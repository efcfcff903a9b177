package cmdline

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// bashScript cuts the line itself, because bash cuts words at "=" and ":", too. The offered words lose the part that
// bash does not replace. The script runs in bash 3.2 of macOS, which has neither mapfile nor compopt.
const bashScript = `# Completion of PROGRAM for bash. Use it with: eval "$(PROGRAM completion bash)"
_PROGRAM() {
    local line=${COMP_LINE:0:COMP_POINT} current=${COMP_WORDS[COMP_CWORD]} kind= list= word cut one
    local -a words
    COMPREPLY=()
    read -ra words <<<"$line"
    case $line in *[[:space:]]) words+=("") ;; esac
    word=${words[${#words[@]}-1]}
    case $current in "=" | ":") current= ;; esac
    cut=${word%"$current"}
    while IFS= read -r one; do
        if [[ -z $kind ]]; then
            kind=$one
            continue
        fi
        one=${one%%$'\t'*}
        COMPREPLY+=("${one#"$cut"}")
    done < <("${COMP_WORDS[0]}" __complete -- "${words[@]:1}" 2>/dev/null)
    case $kind in
    files) list=-f ;;
    folders) list=-d ;;
    *) return ;;
    esac
    compopt -o filenames 2>/dev/null
    while IFS= read -r one; do
        COMPREPLY+=("$one")
    done < <(compgen $list -- "$current")
}
complete -F _PROGRAM PROGRAM
`

const zshScript = `#compdef PROGRAM
# Completion of PROGRAM for zsh. Write it to a file _PROGRAM in a folder of $fpath, or use it after compinit with:
# source <(PROGRAM completion zsh)
_PROGRAM() {
    local -a lines offered
    local kind one name
    lines=("${(@f)$("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    kind=${lines[1]}
    for one in "${(@)lines[2,-1]}"; do
        name=${one%%$'\t'*}
        [[ -n $name ]] && offered+=("${name//:/\\:}:${one#*$'\t'}")
    done
    (( ${#offered} )) && _describe -V 'PROGRAM' offered
    case $kind in
    files) _files ;;
    folders) _files -/ ;;
    esac
}
if [[ ${funcstack[1]-} == _PROGRAM ]]; then _PROGRAM "$@"; else compdef _PROGRAM PROGRAM; fi
`

const fishScript = `# Completion of PROGRAM for fish. Write it to ~/.config/fish/completions/PROGRAM.fish, or use it with:
# PROGRAM completion fish | source
function __PROGRAM_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($typed[1] __complete -- $typed[2..] "$current" 2>/dev/null)
    for line in $lines[2..]
        echo $line
    end
    switch "$lines[1]"
        case files
            __fish_complete_path "$current"
        case folders
            __fish_complete_directories "$current"
    end
end
complete -c PROGRAM -f -a '(__PROGRAM_complete)'
`

const powershellScript = `# Completion of PROGRAM for PowerShell. Use it with: PROGRAM completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName PROGRAM -ScriptBlock {
    param($current, $tree, $position)
    $typed = @($tree.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $position -or ($current -eq '' -and $_.Extent.EndOffset -le $position) } |
        ForEach-Object { $_.Extent.Text })
    $last = if ($current -eq '') { '""' } else { $current }
    if ($PSVersionTable.PSVersion -ge [version]'7.3' -and $last -eq '""') { $last = '' }
    $lines = @(& $tree.CommandElements[0].Extent.Text __complete '--' @typed $last 2>$null)
    $lines | Select-Object -Skip 1 | ForEach-Object {
        $name, $doc = $_ -split [char]9, 2
        if ($name) {
            if (-not $doc) { $doc = $name }
            [System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterValue', $doc)
        }
    }
    if ($lines[0] -in 'files', 'folders') {
        [System.Management.Automation.CompletionCompleters]::CompleteFilename($current)
    }
}
`

// scripts returns the script of each shell, by its name.
func scripts() map[string]string {
	return map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript, "powershell": powershellScript}
}

// CompletionCommand returns the command that prints the script of a shell.
func (p *Program) CompletionCommand(group string) Command {
	const shells = "bash|zsh|fish|powershell"
	return Command{Name: "completion", Doc: "print a script for the completion of commands in a shell", Args: shells,
		Group: group, Text: "Each script begins with a line about its use. It asks this program for the words.",
		Define: func(*flag.FlagSet) Run {
			return func(args []string) error {
				if len(args) == 0 {
					return UsageError{fmt.Errorf("the name of the shell is missing: give one of %s", shells)}
				}
				script, known := scripts()[args[0]]
				if !known {
					return UsageError{fmt.Errorf("unknown shell %q%s: give one of %s", args[0],
						suggestion(args[0], strings.Split(shells, "|")), shells)}
				}
				_, err := io.WriteString(p.Out, strings.ReplaceAll(script, "PROGRAM", p.Root.Name))
				return err
			}
		}}
}
