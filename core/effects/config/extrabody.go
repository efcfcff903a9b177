package config

import (
	"fmt"
	"slices"
	"strings"

	"appserver/protocol"
)

// ExtraBody has members for the requests to a provider, as a JSON object, or is empty.
type ExtraBody string

// ProviderModel has settings for one model of a provider.
type ProviderModel struct {
	// ExtraBody is merged into that of the provider. MaxOutputTokens replaces that of the provider.
	ExtraBody       ExtraBody `key:"extra_body"`
	MaxOutputTokens *int64    `key:"max_output_tokens" min:"1" max:"100000000"`
}

// serverMembers are the members of requests that the server needs as it writes them: the conversation, the form of the
// answer, and what the provider stores.
var serverMembers = []string{"messages", "input", "instructions", "tools", "functions", "model", "stream", "store", "n",
	"previous_response_id", "conversation", "background"}

// maxExtraBody bounds the members, in bytes: they are in each request.
const maxExtraBody = 64 << 10

// MarshalJSON returns the table, or null.
func (e ExtraBody) MarshalJSON() ([]byte, error) {
	if e == "" {
		return []byte("null"), nil
	}
	return []byte(e), nil
}

// UnmarshalJSON reads a table without members that the server needs.
func (e *ExtraBody) UnmarshalJSON(b []byte) error {
	var members map[string]any
	if err := protocol.Unmarshal(b, &members); err != nil {
		return fmt.Errorf("expected a table of members for requests")
	}
	for _, name := range sortedKeys(members) {
		if slices.Contains(serverMembers, strings.ToLower(name)) {
			return fmt.Errorf("it cannot have the member %s, which the server writes itself: remove it", name)
		}
	}
	raw, err := protocol.Marshal(members)
	if err != nil {
		return err
	}
	if len(raw) > maxExtraBody {
		return fmt.Errorf("it has %d bytes, at most %d are possible", len(raw), maxExtraBody)
	}
	*e = ExtraBody(raw)
	return nil
}
