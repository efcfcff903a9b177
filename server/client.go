package server

import "appserver/protocol"

// ClientState holds the identity and the capabilities that a client sent in initialize.
type ClientState struct {
	Info protocol.ClientInfo
	// ExperimentalAPI allows experimental methods and experimental members of params.
	ExperimentalAPI bool
	// ContextItemsDelta limits notifications about context items to the items that changed.
	ContextItemsDelta bool
	// SlashCommands is one of the Slash constants of package protocol. If it is empty, slash
	// commands in turn/start are sent to the model as text.
	SlashCommands string
	// OptOut lists the methods of notifications that are not sent to the client.
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

// optedOut reports whether the client declined notifications of this method. Before initialize
// it returns false.
func (c *client) optedOut(method string) bool {
	return c != nil && len(c.optOut) > 0 && c.optOut[method]
}
