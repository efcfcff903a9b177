package toolspec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/toolspec"
)

func TestOfferedNameFindsTheTool(t *testing.T) {
	var offered []toolspec.Spec
	for _, name := range []string{"shell", "apply_patch", "update_plan", "exec_command", "fs__read_file", "fs__write",
		"db__write", "look_up", "lookup", "Search"} {
		offered = append(offered, toolspec.Spec{Name: name})
	}
	for name, want := range map[string]string{
		"shell":                         "shell",
		" shell\n":                      "shell",
		"`shell`":                       "shell",
		"\"shell\"":                     "shell",
		"shell()":                       "shell",
		"Shell":                         "shell",
		"SHELL":                         "shell",
		"apply-patch":                   "apply_patch",
		"ApplyPatch":                    "apply_patch",
		"applyPatch":                    "apply_patch",
		"apply patch":                   "apply_patch",
		"search":                        "Search",
		"shell<|channel|>commentary":    "shell",
		"shell<|channel|>":              "shell",
		"Shell <|constrain|>json":       "shell",
		"functions.shell<|channel|>x":   "shell",
		"shell<｜tool▁sep｜>":             "shell",
		"functions.shell":               "shell",
		"functions.shell:0":             "shell",
		"functions.exec_command:12":     "exec_command",
		"functions.Exec-Command":        "exec_command",
		"shell:3":                       "shell",
		"default_api:shell":             "shell",
		"default_api.update_plan":       "update_plan",
		"functions::shell":              "shell",
		"functions/shell":               "shell",
		"functions__shell":              "shell",
		"tools.functions.shell":         "shell",
		"commentary to=functions.shell": "shell",
		"fs.read_file":                  "fs__read_file",
		"fs:read_file":                  "fs__read_file",
		"fs/readFile":                   "fs__read_file",
		"fs_read_file":                  "fs__read_file",
		"mcp__fs__read_file":            "fs__read_file",
		"mcp.fs.read_file":              "fs__read_file",
		"functions.fs__read_file":       "fs__read_file",
		"container.exec":                "container.exec", // a name of the shell in histories
		"functions.container.exec":      "container.exec",
		"shell_command":                 "shell_command",
		// No tool, or several.
		"":                                   "",
		"unknown":                            "unknown",
		"<|channel|>":                        "<|channel|>",
		"functions.":                         "functions.",
		"functions.unknown":                  "functions.unknown",
		"Look-Up":                            "Look-Up",
		"fs.shell":                           "fs.shell", // a tool that the server does not have
		"write":                              "write",
		"...":                                "...",
		"shellx":                             "shellx",
		"shell.x":                            "shell.x",
		strings.Repeat("a.", 1000) + "shell": strings.Repeat("a.", 1000) + "shell",
	} {
		require.Equal(t, want, toolspec.OfferedName(name, offered), name)
	}
	require.Equal(t, "lookup", toolspec.OfferedName("x.lookup", offered), "the exact name is unambiguous")
}
