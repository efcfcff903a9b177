package server

import (
	"math"
	"runtime"
	"runtime/debug"
	"time"
)

const (
	// largeLine is the length of a line, in bytes, after which unused memory is returned to the system. Reading
	// and serving a line takes up to four times its length. The runtime would keep that for minutes, because
	// its next collection is due when the heap has grown by as much again.
	largeLine = 4 << 20
	// memoryDelay is the time from the end of the last large line until then, so that many of them cause one collection.
	memoryDelay = time.Second
)

// newMemoryTimer returns a stopped timer.
func newMemoryTimer() *time.Timer {
	timer := time.AfterFunc(math.MaxInt64, returnMemory)
	timer.Stop()
	return timer
}

// returnMemory returns unused memory to the system. It collects twice, because a sync.Pool keeps its buffers for one
// collection. encoding/json has such a pool.
func returnMemory() {
	runtime.GC()
	debug.FreeOSMemory()
}
