package mcp

import (
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"appserver/protocol"
)

// versionError reports that this program and a server have no version of the protocol in common.
type versionError struct{ text string }

func (e *versionError) Error() string { return e.text }

// unsupportedPrefix begins the library's error for a version in a response that it does not support. The version
// follows in quotation marks.
const unsupportedPrefix = `unsupported protocol version: "`

// maxVersion bounds versions and texts of a server in errors, in bytes.
const maxVersion = 200

// explainVersion adds the versions of both sides if the error of a handshake is about them.
func explainVersion(err error) error {
	var response *jsonrpc.Error
	var refused *refusedVersion
	ours := fmt.Sprintf("appserver supports %s and asked for %s", strings.Join(sdk.SupportedProtocolVersions(), ", "),
		wireVersion)
	todo := "use a version of the server that supports one of these"
	switch _, theirs, found := strings.Cut(err.Error(), unsupportedPrefix); {
	case found:
		theirs, _, _ = strings.Cut(theirs, `"`)
		return &versionError{fmt.Sprintf("unsupported MCP version: the server answered with version %q; %s; %s",
			cleanLine(theirs, maxVersion), ours, todo)}
	case errors.As(err, &refused):
		return &versionError{fmt.Sprintf("unsupported MCP version: the server refused version %s: %s; %s; %s",
			wireVersion, refused.text, ours, todo)}
	case errors.As(err, &response) && mentionsVersion(response.Message):
		return &versionError{fmt.Sprintf("unsupported MCP version: the server refused version %s: %s%s; %s; %s",
			wireVersion, cleanLine(response.Message, maxVersion), supportedText(response.Data), ours, todo)}
	}
	return err
}

// supportedText returns the versions that a server supports, by the data of its error, or "".
func supportedText(data []byte) string {
	var given struct {
		Supported []string `json:"supported"`
	}
	if protocol.Unmarshal(data, &given) != nil || len(given.Supported) == 0 {
		return ""
	}
	return " (it supports " + cleanLine(strings.Join(given.Supported, ", "), maxVersion) + ")"
}
