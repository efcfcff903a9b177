package engine

import (
	"appserver/core/effects/workspace"
	"appserver/protocol"
)

// selectedCwd returns the working directory that a client selects: that of the environment, if
// it names one, or else cwd.
func selectedCwd(environments *[]protocol.TurnEnvironmentParams, cwd *string) (*string, error) {
	if environments == nil {
		return cwd, nil
	}
	list := *environments
	if len(list) == 0 {
		return nil, badEnvironment("a turn without an environment is not supported: name the environment `local`, or leave `environments` out")
	}
	for i, env := range list {
		switch {
		case env.EnvironmentID != protocol.EnvironmentLocal:
			return nil, badEnvironment("unknown turn environment id `" + env.EnvironmentID + "`")
		case i > 0:
			return nil, badEnvironment("duplicate turn environment id `" + env.EnvironmentID + "`")
		case !workspace.IsAbs(env.Cwd):
			return nil, badEnvironment("invalid cwd for environment `local`: path `" + env.Cwd + "` is not absolute")
		}
	}
	return &list[0].Cwd, nil
}

// selectedRoots returns the workspace roots that a client selects: those of the environment, or else roots. The
// environments were accepted by selectedCwd.
func selectedRoots(environments *[]protocol.TurnEnvironmentParams, roots *[]string) *[]string {
	if environments == nil || (*environments)[0].RuntimeWorkspaceRoots == nil {
		return roots
	}
	return (*environments)[0].RuntimeWorkspaceRoots
}

func badEnvironment(message string) error {
	return &protocol.Error{Code: protocol.CodeInvalidRequest, Message: message,
		Data: &protocol.ErrorData{Kind: protocol.KindInvalidParams, Field: "environments"}}
}
