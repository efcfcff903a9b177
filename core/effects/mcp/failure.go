package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// failure is the kind of a request's failure.
type failure int

const (
	// failedAnswered is an error response to the request.
	failedAnswered failure = iota
	// failedRefused is a refusal of the session. The server did not handle the request.
	failedRefused
	// failedUnsent means that the request did not leave this program.
	failedUnsent
	// failedLost means that the request was sent and has no response.
	failedLost
)

// failureOf returns the kind of a failure. It asks the server if the error may be about the session.
func (s *server) failureOf(ctx context.Context, session *sdk.ClientSession, d *delivery, err error) failure {
	var refused *refusedSession
	var response *jsonrpc.Error
	switch {
	case errors.As(err, &refused), errors.Is(err, sdk.ErrSessionMissing):
		return failedRefused
	case !d.sent.Load():
		return failedUnsent
	case errors.As(err, &response) && response.Message != rejectedByTransport:
		if mayRefuseSession(response) && s.probe(ctx, session) != nil {
			return failedRefused
		}
		return failedAnswered
	}
	return failedLost
}

// rejectedByTransport is the text of the library's error for requests that a transport did not deliver, and for
// responses with status 429 and from 500 on.
const rejectedByTransport = "rejected by transport"

// probeTime limits the request that finds out whether the server knows a session.
const probeTime = 5 * time.Second

// probe requests the list of tools. It fails if the server does not know the session, and if the connection is lost.
// A server that does not respond in time counts as one that knows it.
func (s *server) probe(ctx context.Context, session *sdk.ClientSession) error {
	limited, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	_, err := session.ListTools(limited, nil)
	if limited.Err() != nil {
		return nil
	}
	return err
}

// withSession runs a request with the session of a server. It runs the request again, once and with another session
// if necessary, if the server cannot have handled it, or if it changes nothing and its response was lost.
func withSession[T any](ctx context.Context, s *server, session *sdk.ClientSession, reads bool,
	request func(ctx context.Context, session *sdk.ClientSession) (T, error)) (T, error) {
	for tries := 1; ; tries++ {
		sending, d := withDelivery(withListChanged(ctx, s.toolsChanged))
		result, err := request(sending, session)
		if err == nil || ctx.Err() != nil {
			return result, err
		}
		kind := s.failureOf(ctx, session, d, err)
		if kind == failedAnswered {
			return result, err
		}
		s.discard(ctx, session, kind, err)
		if tries > 1 || kind == failedLost && !reads || errors.Is(err, errLine) || ctx.Err() != nil {
			return result, s.explainFailure(kind, reads, err)
		}
		next, reconnecting := s.ready(ctx)
		if reconnecting != nil {
			return result, fmt.Errorf("%w; it could not be repeated: %w", s.explainFailure(kind, reads, err), reconnecting)
		}
		session = next
	}
}

// discard ends the session of a failed request, unless the server still knows it. The end of a program is reported
// by the goroutine of the connection.
func (s *server) discard(ctx context.Context, session *sdk.ClientSession, kind failure, err error) {
	closed := errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF) || errors.Is(err, errLine)
	switch {
	case closed && s.def.URL == "":
		s.drop(session)
	case kind == failedRefused || s.probe(ctx, session) != nil:
		s.renew(session)
	}
}

// explainFailure returns the error for a request that has no response.
func (s *server) explainFailure(kind failure, reads bool, err error) error {
	switch {
	case kind == failedRefused:
		return fmt.Errorf("the MCP server `%s` refused the session, and did not run the request; "+
			"call again, or restart the server if this repeats: %w", s.def.Name, err)
	case kind == failedUnsent:
		return fmt.Errorf("the request did not reach the MCP server `%s`, and was not run; "+
			"call again when the server is reachable: %w", s.def.Name, err)
	case errors.Is(err, errLine):
		return fmt.Errorf("%w; %s", err, unknownText(reads))
	}
	return fmt.Errorf("the connection to the MCP server `%s` was lost before its response; %s: %w",
		s.def.Name, unknownText(reads), err)
}

// unknownText returns the text for the model after a request without a response.
func unknownText(reads bool) string {
	if reads {
		return "call the tool again after the connection is restored"
	}
	return "it is unknown whether the tool ran: check its effect before you call it again"
}
