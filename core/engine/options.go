package engine

import (
	"go.uber.org/zap"

	"appserver/core"
	"appserver/rollout"
)

// newOptions returns the options of a new thread with a configuration.
func (e *Engine) newOptions(scope *Scope, ephemeral bool) core.Options {
	return core.Options{Ephemeral: ephemeral, CompletedFloor: e.parts.CompletedFloor, Tokens: e.tokenizer(),
		Memory: e.memoryRules(scope), Economy: scope.Economy}
}

// storedOptions returns the options of a stored thread. Its own configuration is not known yet, because its settings
// select it: each turn brings the rules.
func (e *Engine) storedOptions(id string, c *rollout.Contents) core.Options {
	name, at, err := e.parts.Threads.Name(id)
	if err != nil {
		e.parts.Log.Warn("the name of a thread cannot be read", zap.Error(err))
	}
	o := e.newOptions(e.parts.Config.Current(), false)
	o.Path, o.Began, o.Written, o.Name, o.NamedAt, o.Next = c.Path, c.Began, c.ModTime, name, at, c.Next
	o.Capabilities = e.parts.Defaults.Capabilities
	return o
}
