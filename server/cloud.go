package server

import (
	"strings"

	"appserver/protocol"
)

// cloudMethods lists methods of the reference implementation that need its vendor's cloud or
// desktop program. An entry that ends with a slash is a prefix.
var cloudMethods = []string{
	"account/bedrock/", "account/gcp/", "account/rateLimitResetCredit/", "account/securitySetup/",
	"account/sendAddCreditsNudgeEmail", "account/usage/", "account/workspaceMessages/", "accountSession/",
	"app/", "feedback/", "marketplace/", "plugin/", "remoteControl/",
	"skills/remote/", "thread/realtime/", "windowsSandbox/",
}

func methodNotFound(name string) *protocol.Error {
	message := "Method not found: " + string(quote([]byte(name)))
	if isCloudMethod(name) {
		message += " (not available: it needs the vendor's cloud)"
	}
	return &protocol.Error{
		Code: protocol.CodeMethodNotFound, Message: message,
		Data: &protocol.ErrorData{Kind: protocol.KindMethodNotFound},
	}
}

func isCloudMethod(name string) bool {
	for _, method := range cloudMethods {
		if name == method || (strings.HasSuffix(method, "/") && strings.HasPrefix(name, method)) {
			return true
		}
	}
	return false
}
