package server

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// TestParamsOfAllClientsAreBounded sends requests without a response whose params are long. Above the limit of all
// clients, a client may have 1 MiB pending. What a client had is free when it disconnects.
func TestParamsOfAllClientsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall()
		h.params.limit = 3 << 20
		held := func(c *fakeTransport, id, length int) bool {
			c.in <- fmt.Sprintf(`{"id":%d,"method":"thread/read","params":{"threadId":"%s"}}`, id, strings.Repeat("x", length))
			said := c.hear()
			if len(said) > 0 {
				require.Contains(t, said[0], `"kind":"overloaded"`)
			}
			return len(said) == 0
		}
		a, b := h.enter(), h.enter()
		for _, c := range []*fakeTransport{a, b} {
			c.in <- initializeLine
			c.hear()
		}
		require.True(t, held(a, 1, 2<<20))
		require.False(t, held(a, 2, 2<<20))
		require.True(t, held(b, 1, 512<<10))
		require.True(t, held(b, 2, 100))
		require.False(t, held(b, 3, 2<<20))
		a.in <- io.EOF
		synctest.Wait()
		require.True(t, held(b, 4, 2<<20))
		b.in <- io.EOF
		synctest.Wait()
		require.Zero(t, h.params.used.Load())
	})
}
