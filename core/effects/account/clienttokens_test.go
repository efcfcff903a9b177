package account

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"appserver/platform/httpclient"
	"appserver/platform/vault"
)

// inMemory returns an account without a file.
func inMemory(t *testing.T) *Account {
	nothing := func(string) string { return "" }
	return New(Options{Store: NewStore(t.TempDir(), vault.Ephemeral), HTTP: httpclient.New(nothing).Transport(),
		Rules: func() Rules { return Rules{} }, Getenv: nothing})
}

func vendor(string) string { return "https://chatgpt.com/backend-api" }

// TestSilentClientDelaysRequestsOnce: all requests that the vendor rejected share one question to the client, and a
// request that is cancelled does not wait for it.
func TestSilentClientDelaysRequestsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := inMemory(t)
		var asked atomic.Int32
		silent := func(ctx context.Context, _ string) (Given, error) {
			asked.Add(1)
			<-ctx.Done()
			return Given{}, ctx.Err()
		}
		require.NoError(t, a.SetClientTokens(Given{Access: "a.b.c", AccountID: "acct"}, silent))
		rejected, err := a.Authorize(t.Context(), vendor, nil)
		require.NoError(t, err)
		begin := time.Now()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				_, err := a.Authorize(t.Context(), vendor, rejected)
				assert.ErrorContains(t, err, "gave no other tokens")
				assert.Equal(t, askTime, time.Since(begin))
			})
		}
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := a.Authorize(ctx, vendor, rejected)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, time.Second, time.Since(begin))
		})
		all.Wait()
		require.EqualValues(t, 1, asked.Load())
	})
}

// TestTokensGivenMeanwhileAreUsed does not ask the client for tokens that it has given already.
func TestTokensGivenMeanwhileAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := inMemory(t)
		never := func(context.Context, string) (Given, error) {
			t.Error("the client is asked")
			return Given{}, context.Canceled
		}
		require.NoError(t, a.SetClientTokens(Given{Access: "a.b.c", AccountID: "acct"}, never))
		rejected, err := a.Authorize(t.Context(), vendor, nil)
		require.NoError(t, err)
		require.NoError(t, a.SetClientTokens(Given{Access: "d.e.f", AccountID: "acct"}, never))
		g, err := a.Authorize(t.Context(), vendor, rejected)
		require.NoError(t, err)
		require.Equal(t, "Bearer d.e.f", g.Headers["Authorization"])
	})
}

// TestChangesOfALoginInMemoryAreAtomic loses no change of callers at the same time.
func TestChangesOfALoginInMemoryAreAtomic(t *testing.T) {
	s := NewStore(t.TempDir(), vault.Ephemeral)
	put(t, s, &Login{Mode: APIKey})
	const changes = 200
	var all sync.WaitGroup
	for range changes {
		all.Go(func() {
			_, err := s.Update(t.Context(), func(stored *Login) (*Login, error) {
				next := *stored
				next.APIKey += "x"
				return &next, nil
			})
			assert.NoError(t, err)
		})
	}
	all.Wait()
	l, err := s.Load()
	require.NoError(t, err)
	require.Len(t, l.APIKey, changes)
}
