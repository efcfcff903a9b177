package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"appserver/core/command"
	"appserver/protocol"
)

// shellNames are the names under which models ask for the shell: ours, and those of
// histories that other programs wrote.
var shellNames = map[string]bool{"shell": true, "exec_command": true, "shell_command": true, "container.exec": true, "local_shell": true}

// shellName is the name under which the shell is offered.
const shellName = "shell"

// defaultTimeout ends commands for which the model names no timeout.
const defaultTimeout = 10 * time.Minute

// longestTimeout is the longest that a model can ask for.
const longestTimeout = 24 * time.Hour

// shellTool is the shell, with a way out of the sandbox where the user may grant one.
func shellTool(escalation bool) ToolSpec {
	return ToolSpec{
		Name:        shellName,
		Description: "Runs a command in the user's shell and returns its output, standard output and error together. Long output is cut in the middle.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"command":{"type":"string","description":"The shell script to run."},` +
			`"workdir":{"type":"string","description":"The directory to run it in; the working directory by default."},` +
			`"timeout_ms":{"type":"integer","description":"After how many milliseconds to end it; ten minutes by default."},` + permissions(escalation) +
			`"justification":{"type":"string","description":"Why it is needed, for the user who may be asked to allow it."}},` +
			`"required":["command"],"additionalProperties":false}`),
	}
}

// permissions is the parameter by which the model asks for a way out of the sandbox.
func permissions(escalation bool) string {
	if !escalation {
		return ""
	}
	return `"sandbox_permissions":{"type":"string","enum":["use_default","require_escalated"],` +
		`"description":"require_escalated asks the user to run it outside of the sandbox, for what the sandbox does not allow; use_default by default."},`
}

// mayEscalate tells whether the model may ask to run a command outside of the sandbox.
func (t *Thread) mayEscalate() bool {
	return asksOutside(t.settings.ApprovalPolicy) && !unconfined(t.settings.Sandbox)
}

var planTool = ToolSpec{
	Name:        "update_plan",
	Description: "Shows the user the plan for the task: its steps, and how far each is. At most one step is in progress at a time.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"explanation":{"type":"string"},` +
		`"plan":{"type":"array","items":{"type":"object","properties":{"step":{"type":"string"},` +
		`"status":{"type":"string","enum":["pending","in_progress","completed"]}},"required":["step","status"],"additionalProperties":false}}},` +
		`"required":["plan"],"additionalProperties":false}`),
}

// stringOrList reads "a b" and ["a", "b"].
type stringOrList struct {
	text string
	list []string
}

// UnmarshalJSON reads either form.
func (v *stringOrList) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return protocol.Unmarshal(b, &v.list)
	}
	return protocol.Unmarshal(b, &v.text)
}

type shellArguments struct {
	Command       stringOrList `json:"command"`
	Cmd           stringOrList `json:"cmd"`
	Workdir       string       `json:"workdir"`
	TimeoutMs     int64        `json:"timeout_ms"`
	Justification string       `json:"justification"`
	// SandboxPermissions asks to run outside of the sandbox, as Escalated did in its place.
	SandboxPermissions string `json:"sandbox_permissions"`
	Escalated          bool   `json:"with_escalated_permissions"`
}

// escalates tells whether the call asks to run outside of the sandbox.
func (a *shellArguments) escalates() (bool, error) {
	switch a.SandboxPermissions {
	case "", "use_default":
		return a.Escalated, nil
	case "require_escalated":
		return true, nil
	}
	return false, fmt.Errorf("sandbox_permissions is %q, which is neither use_default nor require_escalated", a.SandboxPermissions)
}

// errNul refuses what no program can be given, and what keys of approvals are cut with.
var errNul = errors.New("they hold a NUL character")

// parseShell reads the arguments of a shell call.
func (s *step) parseShell(arguments string) (*shellCommand, error) {
	var a shellArguments
	if err := protocol.Unmarshal([]byte(arguments), &a); err != nil {
		return nil, err
	}
	script := scriptOf(a.Command)
	if script == "" {
		script = scriptOf(a.Cmd)
	}
	if strings.TrimSpace(script) == "" {
		return nil, errors.New("command is missing")
	}
	escalates, err := a.escalates()
	if err != nil {
		return nil, err
	}
	c := &shellCommand{script: script, cwd: s.settings.Cwd, timeout: defaultTimeout, reason: a.Justification,
		dangerous: command.Dangerous(script), escalates: escalates}
	c.argv = []string{s.active.world.Shell, "-lc", script}
	if a.Workdir != "" {
		c.cwd = a.Workdir
		if !filepath.IsAbs(c.cwd) {
			c.cwd = filepath.Join(s.settings.Cwd, a.Workdir)
		}
	}
	if strings.Contains(c.cwd+c.script, "\x00") {
		return nil, errNul
	}
	c.safe = command.SafeIn(c.cwd, script)
	if a.TimeoutMs > 0 {
		c.timeout = time.Duration(min(a.TimeoutMs, longestTimeout.Milliseconds())) * time.Millisecond
	}
	return c, nil
}

// scriptOf is the script in a command: the text itself, the script that a list
// hands to a shell, or the list quoted.
func scriptOf(v stringOrList) string {
	if v.list == nil {
		return v.text
	}
	if len(v.list) == 3 && shells[path.Base(v.list[0])] && (v.list[1] == "-lc" || v.list[1] == "-c") {
		return v.list[2]
	}
	return command.Quote(v.list)
}

var shells = map[string]bool{"sh": true, "bash": true, "zsh": true}

// quoteCommand is a command line as user interfaces show it.
func quoteCommand(argv []string) string { return command.Quote(argv) }
