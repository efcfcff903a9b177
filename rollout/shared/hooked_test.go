package shared_test

import (
	"cmp"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/fleet"
	"appserver/rollout/postgres"
	"appserver/rollout/shared"
)

// hooked is a driver that calls a hook before some of its calls. An error of the hook is the result of the call.
type hooked struct {
	fleet.Driver
	mu   sync.Mutex
	hook func(ctx context.Context, call string) error
	// ttl replaces the time to live of leases, unless it is 0.
	ttl time.Duration
}

func (h *hooked) Join(ctx context.Context, n fleet.Node) (time.Duration, error) {
	ttl, err := h.Driver.Join(ctx, n)
	return cmp.Or(h.ttl, ttl), err
}

func (h *hooked) set(hook func(ctx context.Context, call string) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hook = hook
}

func (h *hooked) before(ctx context.Context, call string) error {
	h.mu.Lock()
	hook := h.hook
	h.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(ctx, call)
}

func (h *hooked) Take(ctx context.Context, id string, n fleet.Node) (fleet.Own, error) {
	if err := h.before(ctx, "Take"); err != nil {
		return fleet.Own{}, err
	}
	return h.Driver.Take(ctx, id, n)
}

func (h *hooked) Append(ctx context.Context, o fleet.Own, first int64, lines [][]byte, head *fleet.Head) error {
	if err := h.before(ctx, "Append"); err != nil {
		return err
	}
	return h.Driver.Append(ctx, o, first, lines, head)
}

func (h *hooked) Read(ctx context.Context, id string, from int64, line func(int64, []byte) bool) (int64, error) {
	if err := h.before(ctx, "Read"); err != nil {
		return 0, err
	}
	return h.Driver.Read(ctx, id, from, line)
}

func (h *hooked) Move(ctx context.Context, o fleet.Own, archived bool) error {
	if err := h.before(ctx, "Move"); err != nil {
		return err
	}
	return h.Driver.Move(ctx, o, archived)
}

// reports collects the errors that a node reports.
type reports struct {
	mu  sync.Mutex
	all []error
}

func (r *reports) add(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, err)
}

func (r *reports) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all)
}

// hookedNode opens a node of a fleet. It changes the options with change, unless that is nil.
func hookedNode(t *testing.T, url string, change func(*shared.Options)) (*shared.Threads, *hooked, *reports) {
	t.Helper()
	ctx, reported := context.Background(), &reports{}
	db, err := postgres.Open(ctx, postgres.Options{URL: url, Lease: 30 * time.Second})
	require.NoError(t, err)
	driver, id := &hooked{Driver: db}, uuid.NewString()
	o := shared.Options{Driver: driver, Copies: t.TempDir(), Timeout: time.Minute, Report: reported.add,
		Node: fleet.Node{ID: "node-" + id[:4], Incarnation: id}}
	if change != nil {
		change(&o)
	}
	threads, err := shared.Open(ctx, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		driver.set(nil)
		require.NoError(t, threads.Close())
		require.NoError(t, db.Close())
	})
	return threads, driver, reported
}

// onDisk makes a node write its copies to a disk.
func onDisk(fs rollout.FS) func(*shared.Options) {
	return func(o *shared.Options) { o.Disk = fs }
}
