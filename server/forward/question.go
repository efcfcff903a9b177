package forward

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"

	"appserver/protocol"
)

// ask sends a request of the owner to the client, with an id of this node. A repeated request keeps it.
func (l *link) ask(m message) {
	id, err := strconv.ParseUint(string(m.ID), 10, 64)
	if err != nil {
		return
	}
	l.mu.Lock()
	own, repeated := l.asked[id]
	if !repeated {
		own = protocol.ServerRequestResolvedNotification{ThreadID: threadOf(m.Params), RequestID: l.NextRequest()}
		l.asked[id] = own
	}
	l.mu.Unlock()
	l.Server.Ask(l.conn, own.RequestID, m.Method, m.Params, func(result json.RawMessage, err error) {
		l.answer(id, result, err)
	})
}

// answer sends the response of the client to the owner.
func (l *link) answer(id uint64, result json.RawMessage, err error) {
	response := struct {
		ID     uint64          `json:"id"`
		Result json.RawMessage `json:"result,omitempty"`
		Error  *protocol.Error `json:"error,omitempty"`
	}{ID: id, Result: result}
	if err != nil && !errors.As(err, &response.Error) {
		response.Error = protocol.Internal(protocol.KindInternal, "%v", err)
	}
	text, err := protocol.Marshal(response)
	if err != nil || !l.queue(text) {
		l.end() // the owner then asks the other clients, or the client again
	}
}

// resolve notifies the client that a request of the owner needs no response any more.
func (l *link) resolve(params json.RawMessage) {
	var n protocol.ServerRequestResolvedNotification
	if protocol.Unmarshal(params, &n) != nil {
		return
	}
	l.mu.Lock()
	own, known := l.asked[n.RequestID]
	delete(l.asked, n.RequestID)
	l.mu.Unlock()
	if known {
		l.Server.Notify(l.conn, own)
	}
}

// resolveAll resolves all open requests of the owner.
func (l *link) resolveAll() {
	l.mu.Lock()
	asked := l.asked
	l.asked = nil
	l.mu.Unlock()
	for _, own := range asked {
		l.Server.Notify(l.conn, own)
	}
}

// translate replaces the ids of the owner in a list of open requests.
func (l *link) translate(method protocol.Method, result json.RawMessage) json.RawMessage {
	var list protocol.ServerRequestListResponse
	if method.Result != reflect.TypeFor[protocol.ServerRequestListResponse]() || protocol.Unmarshal(result, &list) != nil {
		return result
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, open := range list.Data {
		if own, known := l.asked[open.RequestID]; known {
			list.Data[i].RequestID = own.RequestID
		}
	}
	translated, err := protocol.Marshal(list)
	if err != nil {
		return result
	}
	return translated
}
