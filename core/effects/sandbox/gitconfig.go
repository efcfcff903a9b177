package sandbox

import (
	"regexp"
	"slices"
	"strings"
)

// disabledLine begins each line of a configuration that is disabled.
const disabledLine = "# disabled: "

var (
	configSection = regexp.MustCompile(`^\s*\[([A-Za-z0-9.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\]\s*$`)
	configKey     = regexp.MustCompile(`^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=(.*))?$`)
	configComment = regexp.MustCompile(`^\s*(?:[#;].*)?$`)
)

// harmlessKeys are settings, by section, with which git runs no program and reads no other configuration. Nil is all of
// a section.
var harmlessKeys = map[string][]string{
	"advice": nil, "color": nil, "column": nil,
	"branch": {"remote", "merge", "rebase", "pushremote", "description"},
	"core": {"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode",
		"symlinks", "autocrlf", "eol", "safecrlf", "worktree", "compression", "abbrev", "quotepath", "sparsecheckout",
		"sparsecheckoutcone", "untrackedcache", "preloadindex", "longpaths", "protecthfs", "protectntfs"},
	"extensions": {"objectformat", "compatobjectformat", "refstorage", "worktreeconfig"},
	"fetch":      {"prune"}, "gc": {"auto"}, "init": {"defaultbranch"}, "merge": {"conflictstyle", "ff"},
	"pull": {"rebase", "ff"}, "push": {"default", "autosetupremote"}, "rerere": {"enabled"},
	"remote":    {"url", "pushurl", "fetch", "push", "tagopt", "prune", "mirror"},
	"submodule": {"url", "active", "path", "branch", "ignore", "fetchrecursesubmodules"},
	"user":      {"name", "email"},
}

// disableSettings returns a configuration of git with the lines that are not harmless as comments, and these lines.
// Only the plain form that git writes itself can be harmless.
func disableSettings(text string) (clean string, harmful []string) {
	var out strings.Builder
	section, known := "", false
	for line := range strings.Lines(text) {
		text := strings.TrimRight(line, "\r\n")
		if header := configSection.FindStringSubmatch(text); header != nil {
			section = strings.ToLower(header[1])
			_, known = harmlessKeys[section]
		} else if !isHarmless(section, known, text) {
			known = known && configKey.MatchString(text)
			harmful = append(harmful, strings.TrimSpace(text))
			out.WriteString(disabledLine + strings.ReplaceAll(line, "\r", " "))
			continue
		}
		out.WriteString(line)
	}
	return out.String(), harmful
}

func isHarmless(section string, known bool, line string) bool {
	if configComment.MatchString(line) {
		return true
	}
	key := configKey.FindStringSubmatch(line)
	if key == nil || !known || strings.HasSuffix(line, `\`) || strings.Contains(key[2], "::") {
		return false
	}
	allowed := harmlessKeys[section]
	return allowed == nil || slices.Contains(allowed, strings.ToLower(key[1]))
}
