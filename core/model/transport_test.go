package model_test

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
)

// countingTransport counts the connections that it makes.
func countingTransport(count *atomic.Int32) *http.Transport {
	return &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		count.Add(1)
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
}
