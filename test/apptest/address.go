package apptest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreeAddress returns a loopback address, as HOST:PORT, on which nothing listens. It is for programs that are started
// with a fixed port. Systems take ports of connections, and those for port 0, from a higher range, so no other test
// gets this port before the program listens.
func FreeAddress(t testing.TB) string {
	t.Helper()
	const first, last, attempts = 10_000, 32_000, 100
	var problem error
	for range attempts {
		address := fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(last-first))
		listener, err := net.Listen("tcp", address)
		if err == nil {
			err = listener.Close()
		}
		if err == nil {
			return address
		}
		problem = err
	}
	t.Fatalf("no free port in %d attempts: %v", attempts, problem)
	return ""
}
