package server

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// heap returns the heap memory in use, in bytes.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestLineIsNotKept checks that a long line is freed after its response, even if no other line
// follows.
func TestLineIsNotKept(t *testing.T) {
	const size = 32 << 20
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		before := heap()
		require.Equal(t, answerOf("1"),
			p.ask(`{"id":1,"method":"model/list","params":{"cursor":"`+strings.Repeat("x", size)+`"}}`))
		require.Less(t, heap()-before, size/2)
	})
}
