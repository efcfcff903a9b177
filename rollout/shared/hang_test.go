package shared

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/fleet"
	"appserver/rollout/store"
)

// hanging is a database that does not respond from a moment on. Calls wait until their context ends.
type hanging struct {
	fleet.Driver
	hangs atomic.Bool
}

func (h *hanging) await(ctx context.Context) error {
	if !h.hangs.Load() {
		return nil
	}
	<-ctx.Done()
	return fleet.ErrInDoubt
}

func (h *hanging) Join(ctx context.Context, _ fleet.Node) (time.Duration, error) {
	return 6 * time.Second, h.await(ctx)
}

func (h *hanging) Leave(context.Context, fleet.Node) error { return nil }

func (h *hanging) Create(ctx context.Context, id string, n fleet.Node, _ fleet.Content) (fleet.Own, error) {
	return fleet.Own{ID: id, Node: n.ID, Incarnation: n.Incarnation}, h.await(ctx)
}

func (h *hanging) Append(ctx context.Context, _ fleet.Own, _ int64, _ [][]byte, _ *fleet.Head) error {
	return h.await(ctx)
}

func (h *hanging) Find(ctx context.Context, _ string) (fleet.Place, error) {
	return fleet.Place{}, h.await(ctx)
}

func (h *hanging) Rename(ctx context.Context, _, _ string) error { return h.await(ctx) }

func (h *hanging) Release(ctx context.Context, _ fleet.Own) error { return h.await(ctx) }

func (h *hanging) Indexed(context.Context, string) (int64, error) { return 0, nil }

func (h *hanging) Read(context.Context, string, int64, func(int64, []byte) bool) (int64, error) {
	return 0, nil
}

func (h *hanging) AddMessages(context.Context, fleet.Own, int64, int64, []fleet.Message) error {
	return nil
}

// TestCallsOfAnOpenThreadEndWithTheLease calls a database that does not respond any more. The time limit of
// calls is much longer than the lease.
func TestCallsOfAnOpenThreadEndWithTheLease(t *testing.T) {
	const id = "0190a6f8-1111-7aaa-8bbb-000000000001"
	at := store.Ref{ID: id}
	line := []protocol.RolloutLine{{Timestamp: "2026-01-02T03:04:05.000Z", Type: protocol.LineSessionMeta,
		Payload: []byte(`{"id":"` + id + `","timestamp":"2026-01-02T03:04:05.000Z"}`)}}
	for name, call := range map[string]func(*Threads, store.Journal) error{
		"append": func(_ *Threads, j store.Journal) error { return j.Append(line, true) },
		"rename": func(all *Threads, _ store.Journal) error { return all.Rename(id, "name", time.Now()) },
		"check":  func(all *Threads, _ store.Journal) error { return all.Check(at, store.OpArchive) },
		"load": func(all *Threads, _ store.Journal) error {
			_, _, err := all.Load(at, &rollout.LineList{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				driver := &hanging{}
				all, err := Open(t.Context(), Options{Driver: driver, Node: fleet.Node{ID: "a", Incarnation: "x"}, Copies: dir,
					Timeout: time.Hour, Report: func(error) {}})
				require.NoError(t, err)
				journal, err := all.Begin(id, time.Now(), nil)
				require.NoError(t, err)
				require.NoError(t, journal.Append(line, true))
				joined := time.Now()
				driver.hangs.Store(true)
				var lost *store.LostError
				require.ErrorAs(t, call(all, journal), &lost)
				require.Equal(t, 4*time.Second, time.Since(joined), "two thirds of the lease")
				<-journal.Lost()
				require.NoError(t, journal.Close())
				require.NoError(t, all.Close())
			})
		})
	}
}
