package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
)

const day = 24 * time.Hour

// retain begins retention in an engine whose client 1 is there.
func (r *rig) retain(bounds rollout.Retention) {
	r.connections = []uint64{1}
	r.Retain(bounds)
}

// TestRetentionWaitsForAListOrAMinute lets a day pass for the thread first, then looks at when it goes.
func TestRetentionWaitsForAListOrAMinute(t *testing.T) {
	for name, asked := range map[string]bool{"a list": true, "a minute": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.stored("say hello")
				time.Sleep(2 * day)
				r.retain(rollout.Retention{MaxAge: day})
				synctest.Wait()
				require.Empty(t, r.clients.notices(1, "thread/archived"), "not at once")
				if asked {
					r.ask(1, list(protocol.ThreadListParams{}))
				} else {
					time.Sleep(time.Minute)
				}
				synctest.Wait()
				notices := r.clients.notices(1, "thread/archived")
				require.Len(t, notices, 1)
				require.Equal(t, id, notices[0].body.Get("threadId").Str)
				require.Len(t, r.clients.notices(1, "warning"), 1)
				path, err := rollout.NewStore(worstCrash(r.mem), home).Find(id)
				require.NoError(t, err)
				require.Contains(t, path, "archived_sessions", "a crash now does not bring it back")
			})
		})
	}
}

// TestRetentionRunsEveryHour has a thread that is loaded at first.
func TestRetentionRunsEveryHour(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "say hello")
		time.Sleep(2 * day)
		r.retain(rollout.Retention{MaxAge: day})
		time.Sleep(time.Hour + time.Minute)
		synctest.Wait()
		require.Empty(t, r.clients.notices(1, "thread/archived"))
		require.Equal(t, []string{id}, r.loaded())
		r.setup.unload = time.Second
		r.ask(1, unsubscribe(id))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Empty(t, r.loaded())
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Len(t, r.clients.notices(1, "thread/archived"), 1)
	})
}
