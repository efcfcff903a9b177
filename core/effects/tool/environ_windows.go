package tool

import "strings"

// coreNames are the variables that core.InheritCore keeps. Most programs of Windows need the places that
// they name.
var coreNames = strings.Fields("ALLUSERSPROFILE APPDATA COMSPEC HOMEDRIVE HOMEPATH LANG LOCALAPPDATA " +
	"NUMBER_OF_PROCESSORS OS PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) " +
	"PROGRAMW6432 PSMODULEPATH PUBLIC SYSTEMDRIVE SYSTEMROOT TEMP TMP USERDOMAIN USERNAME USERPROFILE WINDIR")

// sameName reports whether two names are of one variable: Windows ignores their case.
func sameName(a, b string) bool { return strings.EqualFold(a, b) }

// isAlias reports whether a name in a folder can be another name of a file: a short one such as GIT~1, or
// one with a stream such as .git::$INDEX_ALLOCATION.
func isAlias(name string) bool {
	_, number, short := strings.Cut(name, "~")
	return strings.Contains(name, ":") || short && number != "" && number[0] >= '0' && number[0] <= '9'
}
