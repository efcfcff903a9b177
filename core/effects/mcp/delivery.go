package mcp

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// delivery records whether a request has left this program. It is a value of the request's context, because the
// library does not report it.
type delivery struct{ sent atomic.Bool }

type deliveryKey struct{}

// withDelivery returns a context for one request.
func withDelivery(ctx context.Context) (context.Context, *delivery) {
	d := &delivery{}
	return context.WithValue(ctx, deliveryKey{}, d), d
}

// setSent marks the request of a context as sent.
func setSent(ctx context.Context) {
	if d, ok := ctx.Value(deliveryKey{}).(*delivery); ok {
		d.sent.Store(true)
	}
}

// traceSent marks the request as sent when it gets a connection to the service.
func traceSent(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { setSent(ctx) }})
}
