package postgres

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"appserver/rollout/fleet"
)

// Stats are numbers since Open.
type Stats struct {
	// Appends are the stored appends. Lines and Bytes are what they had. The first lines of a thread
	// are not among them.
	Appends, Lines, Bytes int64
	// Failed are the other appends, by the reason.
	Failed map[string]int64
	// FencedWrites are the writes of a former owner that the database has rejected, appends included.
	FencedWrites int64
	// Seconds are the times of appends, from the call until the result. BatchSizes are the numbers of
	// appends in a statement.
	Seconds, BatchSizes Histogram
	// SyncStandby is false if the primary had no synchronous standbys when the lease was renewed or a
	// connection was opened last.
	SyncStandby bool
	Pools       []PoolStats
}

// Reasons in Stats.Failed.
const (
	failedFenced  = "fenced"
	failedOrder   = "order"
	failedInDoubt = "in_doubt"
	failedOther   = "other"
)

// PoolStats are the connections of a pool. Waited is the number of times that a call waited for one.
type PoolStats struct {
	Name                 string
	Idle, InUse, Maximum int32
	Waited               int64
}

// Histogram counts values by their size. Counts has, for each of Bounds, the number of values that are
// not above it.
type Histogram struct {
	Bounds []float64
	Counts []int64
	Count  int64
	Sum    float64
}

// Mean returns the mean of the values, or 0 without values.
func (h Histogram) Mean() float64 { return h.Sum / float64(max(h.Count, 1)) }

// Quantile returns an estimate of the value that a part of the values does not exceed, or 0 without values.
// It assumes that values are spread evenly between two bounds. Above the last bound it returns that bound.
func (h Histogram) Quantile(part float64) float64 {
	rank := part * float64(h.Count)
	lower, below := 0.0, 0.0
	for i, bound := range h.Bounds {
		count := float64(h.Counts[i])
		if count >= rank && count > below {
			return lower + (bound-lower)*(rank-below)/(count-below)
		}
		lower, below = bound, count
	}
	if h.Count == 0 {
		return 0
	}
	return lower
}

// counters count what Stats returns.
type counters struct {
	appends, lines, bytes         atomic.Int64
	fenced, order, inDoubt, other atomic.Int64
	fencedWrites                  atomic.Int64
	latencies, batches            histogram
}

func newCounters() *counters {
	return &counters{
		latencies: newHistogram(time.Second.Nanoseconds(), latencyBounds),
		batches:   newHistogram(1, batchBounds),
	}
}

// latencyBounds are in nanoseconds, batchBounds in appends.
var (
	latencyBounds = []int64{500e3, 1e6, 2e6, 5e6, 10e6, 20e6, 50e6, 100e6, 200e6, 500e6, 1e9, 2e9, 5e9, 10e9, 30e9}
	batchBounds   = []int64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}
)

// append counts the result of an append.
func (c *counters) append(p *pending, err error) {
	c.latencies.add(time.Since(p.begun).Nanoseconds())
	var order *fleet.OrderError
	switch {
	case err == nil:
		c.appends.Add(1)
		c.lines.Add(int64(len(p.lines)))
		c.bytes.Add(int64(p.size))
	case errors.Is(err, fleet.ErrFenced):
		c.fenced.Add(1)
	case errors.As(err, &order):
		c.order.Add(1)
	case errors.Is(err, fleet.ErrInDoubt):
		c.inDoubt.Add(1)
	default:
		c.other.Add(1)
	}
	c.write(err)
}

// write counts the result of any write.
func (c *counters) write(err error) {
	if errors.Is(err, fleet.ErrFenced) {
		c.fencedWrites.Add(1)
	}
}

// Stats returns the numbers. It does not wait.
func (db *DB) Stats() Stats {
	c := db.counts
	return Stats{
		Appends: c.appends.Load(), Lines: c.lines.Load(), Bytes: c.bytes.Load(),
		Failed: map[string]int64{failedFenced: c.fenced.Load(), failedOrder: c.order.Load(),
			failedInDoubt: c.inDoubt.Load(), failedOther: c.other.Load()},
		FencedWrites: c.fencedWrites.Load(),
		Seconds:      c.latencies.snapshot(), BatchSizes: c.batches.snapshot(),
		SyncStandby: db.standbys.has(),
		Pools: []PoolStats{poolStats("leases", db.leases), poolStats("writes", db.writes),
			poolStats("reads", db.reads)},
	}
}

func poolStats(name string, p *pgxpool.Pool) PoolStats {
	s := p.Stat()
	return PoolStats{Name: name, Idle: s.IdleConns(), InUse: s.AcquiredConns(), Maximum: s.MaxConns(),
		Waited: s.EmptyAcquireCount()}
}

// histogram counts integers.
type histogram struct {
	// unit is the value that snapshot returns as 1.
	unit   int64
	bounds []int64
	// counts has one more element than bounds, for values above all of them.
	counts []atomic.Int64
	sum    atomic.Int64
}

func newHistogram(unit int64, bounds []int64) histogram {
	return histogram{unit: unit, bounds: bounds, counts: make([]atomic.Int64, len(bounds)+1)}
}

func (h *histogram) add(value int64) {
	i, _ := slices.BinarySearch(h.bounds, value)
	h.counts[i].Add(1)
	h.sum.Add(value)
}

func (h *histogram) snapshot() Histogram {
	s := Histogram{Sum: float64(h.sum.Load()) / float64(h.unit)}
	for i := range h.counts {
		s.Count += h.counts[i].Load()
		if i < len(h.bounds) {
			s.Bounds = append(s.Bounds, float64(h.bounds[i])/float64(h.unit))
			s.Counts = append(s.Counts, s.Count)
		}
	}
	return s
}
