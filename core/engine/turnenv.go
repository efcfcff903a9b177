package engine

import (
	"go.uber.org/zap"

	"appserver/core"
)

// turnEnv returns the environment of a turn. An error rejects the turn. Inputs that may need no model accept an error
// for which notReady is true: the environment is complete then, and the provider is not ready.
func (a *actor) turnEnv(s core.Settings) (core.TurnEnv, error) {
	env, err := a.config().Turns.Env(s)
	env.Tracking, env.Memory = a.tracking(), a.memoryRules()
	return env, err
}

// idleEnv returns the environment of a thread that starts no turn now. A thread without its directory
// or provider can still be read and changed.
func (a *actor) idleEnv(s core.Settings) core.TurnEnv {
	env, _ := a.loggedEnv(s)
	return env
}

// loggedEnv does the same as turnEnv, and logs the error.
func (a *actor) loggedEnv(s core.Settings) (core.TurnEnv, error) {
	env, err := a.turnEnv(s)
	if err != nil {
		a.engine.parts.Log.Info("the thread cannot start turns", zap.String("thread", a.id), zap.Error(err))
	}
	return env, err
}

// resumedEnv returns the environment of a thread that was loaded, and whether it cannot run turns. The
// environment of a resumable turn has the tools of MCP servers.
func (a *actor) resumedEnv(s core.Settings) (env core.TurnEnv, noTurns bool) {
	env, err := a.loggedEnv(s)
	if a.thread.Resumable() {
		a.engine.skipRequests()
		env.Tools, env.ToolsPending = a.serverTools(s.Cwd)
	}
	return env, err != nil && !notReady(err)
}
