package metrics_test

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"appserver/cmd/appserver/internal/metrics"
	"appserver/protocol"
	"appserver/rollout/fleet"
	"appserver/rollout/postgres"
	"appserver/rollout/shared"
	"appserver/test/apptest"
)

// scrape returns the metrics of a node with some numbers.
func scrape(t *testing.T) string {
	source := metrics.Source{
		Version: "1.2.3",
		Database: func() postgres.Stats {
			return postgres.Stats{Appends: 3, Lines: 7, Bytes: 900, Failed: map[string]int64{"fenced": 2}, FencedWrites: 4,
				Seconds:    postgres.Histogram{Bounds: []float64{0.001, 0.01}, Counts: []int64{1, 4}, Count: 5, Sum: 0.5},
				BatchSizes: postgres.Histogram{Bounds: []float64{1, 2}, Counts: []int64{2, 2}, Count: 2, Sum: 2},
				Pools:      []postgres.PoolStats{{Name: "reads", Idle: 2, InUse: 1, Maximum: 8, Waited: 6}}}
		},
		Fleet: func() shared.Stats {
			return shared.Stats{Node: fleet.Node{ID: "one \"\\\n"}, LeaseLeft: 1500 * time.Millisecond, Renewals: 10,
				FailedRenewals: 1, Owned: 2, Nodes: make([]fleet.Node, 3)}
		},
		Threads:   func() protocol.ThreadDiagnostics { return protocol.ThreadDiagnostics{Loaded: 2, InTurns: 1} },
		Links:     func() (accepted, dialed int64) { return 4, 5 },
		Forwarded: func() (requests, notifications int64) { return 6, 7 },
	}
	w := httptest.NewRecorder()
	source.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	require.Equal(t, 200, w.Code, w.Body.String())
	return w.Body.String()
}

// TestMetricsHaveTheNumbersOfTheNode checks a line of each kind.
func TestMetricsHaveTheNumbersOfTheNode(t *testing.T) {
	text := scrape(t)
	for _, line := range []string{
		`appserver_info{version="1.2.3",node="one \"\\\n"} 1`, "appserver_threads_in_turns 1", "appserver_nodes 3",
		"appserver_lease_remaining_seconds 1.5", `appserver_lease_renewals_total{result="error"} 1`,
		`appserver_links{direction="dialed"} 5`, "appserver_forwarded_requests_total 6", "appserver_appends_total 3",
		`appserver_append_errors_total{reason="fenced"} 2`, `appserver_append_seconds_bucket{le="0.01"} 4`,
		"appserver_append_seconds_sum 0.5", "appserver_append_seconds_count 5", "appserver_fenced_writes_total 4",
		"appserver_database_sync_standby 0", `appserver_database_connections{pool="reads",state="in_use"} 1`,
		`appserver_database_waits_total{pool="reads"} 6`,
	} {
		require.Contains(t, text, "\n"+line+"\n")
	}
	require.Contains(t, text, "\ngo_goroutines ")
}

// TestPrometheusReadsTheMetrics parses them, and finds the name of each in the documentation.
func TestPrometheusReadsTheMetrics(t *testing.T) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	found, err := parser.TextToMetricFamilies(strings.NewReader(scrape(t)))
	require.NoError(t, err)
	require.Equal(t, "one \"\\\n", found["appserver_info"].Metric[0].Label[1].GetValue())
	require.EqualValues(t, 5, found["appserver_append_seconds"].Metric[0].Histogram.GetSampleCount())
	require.Positive(t, found["process_resident_memory_bytes"].Metric[0].Gauge.GetValue())
	page, err := os.ReadFile(apptest.Root("docs/fleet.md"))
	require.NoError(t, err)
	require.Len(t, found, 26)
	for name := range found {
		require.Contains(t, string(page), "`"+name+"`")
	}
}
