package tool

import (
	"appserver/core"
	"appserver/core/effects/sandbox"
)

// rules returns the rules of a command, or false if it is not confined.
func (s *Shell) rules(c core.Command) (sandbox.Rules, bool) {
	if len(s.Confiner) == 0 {
		return sandbox.Rules{}, false
	}
	rules, confined := sandbox.For(c.Sandbox,
		sandbox.Place{Workspace: c.Workspace, Directory: c.Cwd, Home: s.Home, Env: s.env()})
	if c.Access == core.AccessReading {
		rules, confined = rules.ToRead(), true
		rules.Bare, c.Unconfined = c.Unconfined, false
	}
	return rules, confined && !c.Unconfined
}
