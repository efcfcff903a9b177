package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.uber.org/zap"

	"appserver/protocol"
)

const (
	methodInitialize  = "initialize"
	methodInitialized = "initialized"
)

// methodsByName returns the rows of protocol.Methods by name.
func methodsByName() map[string]protocol.Method {
	methods := protocol.Methods()
	table := make(map[string]protocol.Method, len(methods))
	for _, m := range methods {
		table[m.Name] = m
	}
	return table
}

// receiveNotification logs an unknown notification of the client.
func (c *conn) receiveNotification(method string) {
	if method != methodInitialized {
		c.log.Debug("unknown notification", zap.ByteString("method", quote([]byte(method))))
	}
}

func (c *conn) dispatch(number uint64, method string, params json.RawMessage) error {
	m, err := c.lookUp(method)
	if err != nil {
		return err
	}
	if err := c.checkParams(m, params); err != nil {
		return err
	}
	to := protocol.Caller{Conn: c.id, Request: number}
	if c.route(to, m, params) {
		return nil
	}
	return c.call(m, to, params)
}

// lookUp returns the row of a method, or an error if the connection does not allow the method
// now.
func (c *conn) lookUp(name string) (protocol.Method, error) {
	m, known := c.server.methods[name]
	initialized := c.client.Load() != nil
	switch {
	case c.server.stopped.Load():
		return m, protocol.Refuse(protocol.KindShuttingDown, "Server is shutting down")
	case !initialized && !m.BeforeInitialize:
		return m, protocol.Refuse(protocol.KindNotInitialized, "Not initialized")
	case initialized && name == methodInitialize:
		return m, protocol.Refuse(protocol.KindAlreadyInitialized, "Already initialized")
	case !known:
		return m, methodNotFound(name)
	}
	return m, nil
}

// checkParams rejects params that are not an object. Unless the client has the capability
// experimentalApi, it also rejects experimental methods and members.
func (c *conn) checkParams(m protocol.Method, params json.RawMessage) error {
	if isSet(params) && params[0] != '{' {
		return protocol.InvalidParams("", "`params` must be an object")
	}
	if state := c.client.Load(); state != nil && state.ExperimentalAPI {
		return nil
	}
	if m.Gated {
		return needsExperimental(m.Name)
	}
	if !isSet(params) {
		return nil
	}
	for name, value := range protocol.Members(params) {
		switch {
		case !isSet(value) || string(value) == "false":
		case slices.Contains(m.Experimental, name):
			return needsExperimental(m.Name + "." + name)
		case name == "approvalPolicy" && isGranular(value):
			return needsExperimental("askForApproval.granular")
		}
	}
	return nil
}

// isGranular reports whether an approval policy has the form {"granular": {...}}.
func isGranular(policy json.RawMessage) bool {
	if policy[0] != '{' {
		return false
	}
	for name := range protocol.Members(policy) {
		if name == protocol.ApprovalGranular {
			return true
		}
	}
	return false
}

func needsExperimental(what string) error {
	return protocol.Refuse(protocol.KindNotExperimental, "%s requires experimentalApi capability", what)
}

// call runs the handler of a method. A panic is logged and becomes an internal error.
func (c *conn) call(m protocol.Method, to protocol.Caller, params json.RawMessage) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error(
				"handler panicked",
				zap.String("method", m.Name),
				zap.String("panic", fmt.Sprint(p)),
				zap.Stack("stack"),
			)
			err = protocol.Internal(
				protocol.KindInternal,
				"%s failed: internal error; details are in the server's log",
				m.Name,
			)
		}
	}()
	return m.Serve(c.server.service.Handler, to, params)
}

// asProtocolError converts err for a response. Any error that is not a *protocol.Error becomes
// an internal error.
func asProtocolError(err error) *protocol.Error {
	var e *protocol.Error
	switch {
	case !errors.As(err, &e):
		return protocol.Internal(protocol.KindInternal, "%s", shorten(err.Error()))
	case e == nil:
		return protocol.Internal(protocol.KindInternal, "internal error")
	case e.Data != nil && e.Data.Kind != "" && len(e.Message) <= maxErrorMessage:
		return e
	}
	full := *e
	full.Message = shorten(full.Message)
	if full.Code == 0 {
		full.Code = protocol.CodeInternalError
	}
	full.Data = new(protocol.ErrorData)
	if e.Data != nil {
		*full.Data = *e.Data
	}
	if full.Data.Kind == "" {
		full.Data.Kind = kindOfCode(full.Code)
	}
	return &full
}

func kindOfCode(code int) protocol.Kind {
	switch code {
	case protocol.CodeParseError:
		return protocol.KindParseError
	case protocol.CodeInvalidRequest:
		return protocol.KindInvalidRequest
	case protocol.CodeMethodNotFound:
		return protocol.KindMethodNotFound
	case protocol.CodeInvalidParams:
		return protocol.KindInvalidParams
	case protocol.CodeOverloaded:
		return protocol.KindOverloaded
	}
	return protocol.KindInternal
}
