package server

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// heap is what is in use.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestLineIsNotKept: nothing holds a long line once it is answered, also where no other comes.
func TestLineIsNotKept(t *testing.T) {
	const size = 32 << 20
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		before := heap()
		require.Equal(t, answerOf("1"), p.ask(`{"id":1,"method":"model/list","params":{"cursor":"`+strings.Repeat("x", size)+`"}}`))
		require.Less(t, heap()-before, size/2)
	})
}
