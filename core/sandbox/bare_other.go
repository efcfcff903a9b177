//go:build linux && !amd64

package sandbox

// olderCalls are calls of bareCalls that newer machines do not have.
var olderCalls []uint32
