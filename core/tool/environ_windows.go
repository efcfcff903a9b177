package tool

import "strings"

// coreNames are the variables that core.InheritCore keeps. Most programs of Windows need the places that
// they name.
var coreNames = strings.Fields("ALLUSERSPROFILE APPDATA COMSPEC HOMEDRIVE HOMEPATH LANG LOCALAPPDATA " +
	"NUMBER_OF_PROCESSORS OS PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) " +
	"PROGRAMW6432 PSMODULEPATH PUBLIC SYSTEMDRIVE SYSTEMROOT TEMP TMP USERDOMAIN USERNAME USERPROFILE WINDIR")

// sameName reports whether two names are of one variable: Windows ignores their case.
func sameName(a, b string) bool { return strings.EqualFold(a, b) }

// isGit reports whether a name in a folder is that of a repository: .git, its short name, or one of them
// with a stream or with characters at the end that Windows ignores.
func isGit(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}
