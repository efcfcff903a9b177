package tool

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"appserver/core"
)

// harmlessGit are settings by which git runs no program that a repository's configuration names, as far as a setting
// can do that, and trusts no folder that only looks like a repository. Filters and drivers of diffs have names of
// their own, so no setting removes them.
var harmlessGit = []struct{ key, value string }{
	{"core.fsmonitor", "false"}, {"core.hooksPath", "/dev/null"}, {"core.pager", "cat"}, {"core.editor", "false"},
	{"core.sshCommand", "false"}, {"core.alternateRefsCommand", "false"}, {"credential.helper", ""},
	{"log.showSignature", "false"}, {"gpg.program", "false"}, {"gpg.ssh.program", "false"}, {"gpg.x509.program", "false"},
	{"protocol.allow", "never"}, {"safe.bareRepository", "explicit"},
}

// programVariables name programs, or files with options that name programs.
var programVariables = []string{"GIT_EXTERNAL_DIFF", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_EDITOR",
	"GIT_PROXY_COMMAND", "GREP_OPTIONS", "RIPGREP_CONFIG_PATH"}

// readingEnv returns the environment of a command that only reads. It names no programs of a workspace, and PATH has
// absolute folders only.
func readingEnv(env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return named(programVariables, name) || strings.HasPrefix(name, "GIT_TRACE")
	})
	settings := 0
	for i, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case sameName(name, "PATH"):
			env[i] = name + "=" + absolutePath(value)
		case name == "GIT_CONFIG_COUNT":
			settings, _ = strconv.Atoi(value)
		}
	}
	for i, s := range harmlessGit {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", settings+i, s.key),
			fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", settings+i, s.value))
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", settings+len(harmlessGit)),
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0")
}

// absolutePath removes entries of PATH that depend on the working directory.
func absolutePath(path string) string {
	kept := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(kept, string(filepath.ListSeparator))
}

// environmentOf returns the environment of a command.
func (s *Shell) environmentOf(c core.Command) []string {
	env := environment(s.env(), s.secrets(), c.Environment)
	if c.Access == core.AccessOfPolicy {
		return env
	}
	return readingEnv(env)
}
