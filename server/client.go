package server

import "appserver/protocol"

// ClientState is what a client said of itself in initialize.
type ClientState struct {
	Info protocol.ClientInfo
	// ExperimentalAPI lets the client use members of params that are experimental.
	ExperimentalAPI bool
	// ContextItemsDelta is set where the client wants changes of context items only.
	ContextItemsDelta bool
	// SlashCommands is one of protocol's Slash constants, "" where texts go to the model.
	SlashCommands string
	// OptOut lists the methods of notifications that the client does not want.
	OptOut []string
}

type client struct {
	ClientState
	optOut map[string]bool
}

func newClient(state ClientState) *client {
	c := &client{state, make(map[string]bool, len(state.OptOut))}
	for _, method := range state.OptOut {
		c.optOut[method] = true
	}
	return c
}

// optedOut is false for every method before initialize.
func (c *client) optedOut(method string) bool {
	return c != nil && len(c.optOut) > 0 && c.optOut[method]
}
