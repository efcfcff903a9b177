package server

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"time"

	"appserver/protocol"
)

// ServerDiagnostics serves server/diagnostics. It replies from memory and does not wait.
func (m Methods) ServerDiagnostics(to protocol.Caller, _ *protocol.ServerDiagnosticsParams) error {
	threads, index := m.Diagnose()
	m.ServerHandlers.Outbox.Reply(to, protocol.ServerDiagnosticsResponse{
		Version: m.Version, ProtocolLevel: protocol.Level, Pid: os.Getpid(),
		StartedAt: m.Started.Unix(), UptimeMs: time.Since(m.Started).Milliseconds(), CodexHome: m.Home,
		Threads: threads, Connections: m.ServerHandlers.Outbox.diagnose(),
		Memory: memoryDiagnostics(), Goroutines: runtime.NumGoroutine(),
		Index: index, Sandbox: m.Sandbox(), Fleet: m.Fleet(),
	})
	return nil
}

// diagnose returns the state of the initialized connections, oldest first.
func (s *Server) diagnose() []protocol.ConnectionDiagnostics {
	all := []protocol.ConnectionDiagnostics{}
	for _, id := range s.Clients() {
		if c := s.conn(id); c != nil {
			all = append(all, protocol.ConnectionDiagnostics{
				ClientName:  c.client.Load().Info.Name,
				Unanswered:  c.pending.count(),
				QueuedBytes: c.out.backlog(),
				Congested:   c.out.congestion() != nil,
			})
		}
	}
	return all
}

// Names of metrics in package runtime/metrics.
const (
	heapObjects = "/memory/classes/heap/objects:bytes"
	heapLive    = "/gc/heap/live:bytes"
)

// memoryDiagnostics returns the memory usage in bytes. It reads runtime/metrics because
// runtime.ReadMemStats stops the program.
func memoryDiagnostics() (m protocol.MemoryDiagnostics) {
	samples := []metrics.Sample{{Name: heapObjects}, {Name: heapLive}}
	metrics.Read(samples)
	m.HeapBytes, m.LiveBytes = bytesOf(samples[0].Value), bytesOf(samples[1].Value)
	var size, resident int64 // in pages
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if _, err := fmt.Sscan(string(text), &size, &resident); err == nil {
			m.ResidentBytes = new(resident * int64(os.Getpagesize()))
		}
	}
	return m
}

// bytesOf returns the value of a metric, or 0 if the runtime does not support the metric.
func bytesOf(v metrics.Value) int64 {
	if v.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(v.Uint64())
}
