package app

import (
	"fmt"
	"sync"

	"go.uber.org/zap"

	"appserver/core/tool"
	"appserver/protocol"
)

// confiner runs a command that a sandbox policy confines.
func confiner() []string { return []string{"/proc/self/exe", ConfineCommand} }

// confinement returns a function that reports whether the kernel confines commands. The first call
// tries it.
func confinement(log *zap.Logger) func() protocol.SandboxDiagnostics {
	return sync.OnceValue(func() protocol.SandboxDiagnostics {
		err := tool.Probe(confiner())
		if err == nil {
			return protocol.SandboxDiagnostics{Enforced: true}
		}
		log.Warn("commands are not confined", zap.Error(err))
		return protocol.SandboxDiagnostics{Reason: new(fmt.Sprintf("commands are not confined here (%v): unless the policy is danger-full-access, "+
			"one that may do more than read is asked for first, and not run where nobody may be asked", err))}
	})
}
