package app

import (
	"fmt"
	"sync"

	"go.uber.org/zap"

	"appserver/core/tool"
	"appserver/protocol"
)

// confiner returns the command line of the supervisor that confines commands.
func confiner() []string { return []string{self(), ConfineCommand} }

// confinement returns a function that reports whether the kernel can confine commands. The first call
// tests it.
func confinement(log *zap.Logger) func() protocol.SandboxDiagnostics {
	return sync.OnceValue(func() protocol.SandboxDiagnostics {
		err := tool.Probe(confiner())
		if err == nil {
			return protocol.SandboxDiagnostics{Enforced: true}
		}
		log.Warn("commands are not confined", zap.Error(err))
		return protocol.SandboxDiagnostics{Reason: new(fmt.Sprintf("commands are not confined here (%v): unless the sandbox policy is danger-full-access, "+
			"a command that may do more than read needs an approval, and is rejected if the approval policy permits none", err))}
	})
}
