// Package metrics publishes the numbers of a node of a fleet in the text format of Prometheus, version
// 0.0.4. The names begin with appserver_; docs/fleet.md lists them. Those of the process have the names
// of the libraries of Prometheus.
//
// # Decisions
//
// The package writes the text itself. The library github.com/prometheus/client_golang adds 4.6 MB to the
// program and about 1 ms to each start, also of commands that serve no metrics. A test reads the text with
// the parser of Prometheus.
package metrics

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"time"

	"appserver/protocol"
	"appserver/rollout/postgres"
	"appserver/rollout/shared"
)

// Source has the numbers. Its functions do not wait.
type Source struct {
	// Version is the version of this program. Started is the time of its start.
	Version  string
	Started  time.Time
	Database func() postgres.Stats
	Fleet    func() shared.Stats
	Threads  func() protocol.ThreadDiagnostics
	// Links returns the numbers of open links from and to other nodes.
	Links func() (accepted, dialed int64)
	// Forwarded returns the numbers of messages that were forwarded to and from other nodes.
	Forwarded func() (requests, notifications int64)
}

// ServeHTTP answers a request for the metrics.
func (s Source) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	var text bytes.Buffer
	p := &page{to: &text}
	s.writeThreads(p)
	s.writeFleet(p)
	writeAppends(p, s.Database())
	writeDatabase(p, s.Database())
	s.writeProcess(p)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(text.Bytes()) // the client may have gone
}

func (s Source) writeThreads(p *page) {
	p.gauge("appserver_info", "The version of the program, and the node.", 1,
		"version", s.Version, "node", s.Fleet().Node.ID)
	threads := s.Threads()
	p.gauge("appserver_threads_loaded", "Threads that are loaded.", float64(threads.Loaded))
	p.gauge("appserver_threads_in_turns", "Threads with an active turn.", float64(threads.InTurns))
	p.gauge("appserver_threads_owned", "Threads that the node writes.", float64(s.Fleet().Owned))
}

func (s Source) writeFleet(p *page) {
	f := s.Fleet()
	p.gauge("appserver_nodes", "Nodes with a valid lease.", float64(len(f.Nodes)))
	p.gauge("appserver_lease_remaining_seconds", "Time until the node stops writing unless it renews its lease.",
		f.LeaseLeft.Seconds())
	const renewals, byResult = "appserver_lease_renewals_total", "Attempts to renew the lease, by result."
	p.counter(renewals, byResult, f.Renewals, "result", "ok")
	p.counter(renewals, byResult, f.FailedRenewals, "result", "error")
	p.counter("appserver_leases_lost_total", "Leases that could not be kept. The node closed its threads.", f.LostLeases)
	accepted, dialed := s.Links()
	const links, bySide = "appserver_links", "Open links, by the side that opened them."
	p.gauge(links, bySide, float64(accepted), "direction", "accepted")
	p.gauge(links, bySide, float64(dialed), "direction", "dialed")
	requests, notifications := s.Forwarded()
	p.counter("appserver_forwarded_requests_total", "Requests that were forwarded to the owners of threads.", requests)
	p.counter("appserver_forwarded_notifications_total", "Notifications that were forwarded to clients.", notifications)
}

func writeAppends(p *page, s postgres.Stats) {
	p.counter("appserver_appends_total", "Appends that the database has stored.", s.Appends)
	p.counter("appserver_append_lines_total", "Lines of the stored appends.", s.Lines)
	p.counter("appserver_append_bytes_total", "Bytes of the stored appends.", s.Bytes)
	for _, reason := range slices.Sorted(maps.Keys(s.Failed)) {
		p.counter("appserver_append_errors_total", "Appends that were not stored, by reason.", s.Failed[reason],
			"reason", reason)
	}
	p.histogram("appserver_append_seconds", "Time of an append until its lines are durable.", s.Seconds)
	p.histogram("appserver_append_batch_size", "Appends in one statement.", s.BatchSizes)
	p.counter("appserver_fenced_writes_total", "Writes of a former owner that the database has rejected.", s.FencedWrites)
}

func writeDatabase(p *page, s postgres.Stats) {
	var standby float64
	if s.SyncStandby {
		standby = 1
	}
	p.gauge("appserver_database_sync_standby", "1 if the primary has synchronous standbys.", standby)
	const connections = "appserver_database_connections"
	for _, pool := range s.Pools {
		const help = "Connections to the database, by pool and state."
		p.gauge(connections, help, float64(pool.InUse), "pool", pool.Name, "state", "in_use")
		p.gauge(connections, help, float64(pool.Idle), "pool", pool.Name, "state", "idle")
	}
	for _, pool := range s.Pools {
		p.gauge(connections+"_max", "Maximum number of connections of a pool.", float64(pool.Maximum), "pool", pool.Name)
	}
	for _, pool := range s.Pools {
		p.counter("appserver_database_waits_total", "Calls that waited for a connection of a pool.", pool.Waited,
			"pool", pool.Name)
	}
}

// writeProcess writes numbers of the process that the system reports.
func (s Source) writeProcess(p *page) {
	p.gauge("go_goroutines", "Goroutines that exist.", float64(runtime.NumGoroutine()))
	p.gauge("process_start_time_seconds", "Start of the process, in Unix seconds.", float64(s.Started.Unix()))
	if spent, err := processorTime(); err == nil {
		p.begin("process_cpu_seconds_total", "Processor time of the process.", "counter")
		p.value("process_cpu_seconds_total", spent.Seconds(), nil)
	}
	var size, resident int64 // in pages
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if _, err := fmt.Sscan(string(text), &size, &resident); err == nil {
			p.gauge("process_resident_memory_bytes", "Resident memory of the process.", float64(resident*int64(os.Getpagesize())))
		}
	}
}
