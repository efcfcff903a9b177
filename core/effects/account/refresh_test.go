package account

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/platform/disk"
	"appserver/platform/httpclient"
	"appserver/platform/vault"
)

// fullDisk is a disk on which no file can be made while full is set. It overrides OpenFile.
type fullDisk struct {
	disk.FS
	full atomic.Bool
}

var errFull = errors.New("no space left on device")

// OpenFile rejects files for writing, other than locks.
func (d *fullDisk) OpenFile(name string, flag int, perm os.FileMode) (disk.File, error) {
	if d.full.Load() && flag&os.O_CREATE != 0 && !strings.HasSuffix(name, ".lock") {
		return nil, errFull
	}
	return d.FS.OpenFile(name, flag, perm)
}

// TestTokensOfARefreshSurviveAFullDisk: the issuer accepts a refresh token once, so the tokens of a refresh that could
// not be stored are stored by the next request.
func TestTokensOfARefreshSurviveAFullDisk(t *testing.T) {
	var refreshes atomic.Int32
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refreshes.Add(1) > 1 {
			http.Error(w, `{"error":{"code":"refresh_token_reused"}}`, http.StatusBadRequest)
			return
		}
		_, _ = w.Write([]byte(`{"access_token":"n.e.w","refresh_token":"next"}`))
	}))
	defer issuer.Close()
	host := Hosts{strings.TrimPrefix(issuer.URL, "http://")}
	d := &fullDisk{FS: disk.OS()}
	s := NewStore(t.TempDir(), vault.File)
	s.Disk = d
	l := sample()
	l.Tokens.Issuer, l.Refreshed = issuer.URL, time.Now()
	put(t, s, l)
	a := New(Options{Store: s, HTTP: httpclient.New(func(string) string { return "" }).Transport(),
		Rules: func() Rules { return Rules{Hosts: host} }, Getenv: func(string) string { return "" }})

	d.full.Store(true)
	require.ErrorIs(t, a.Refresh(context.Background()), errFull)
	now, err := a.Current()
	require.NoError(t, err)
	require.Equal(t, "refresh", now.Tokens.Refresh, "tokens are stored before they are used")
	require.ErrorIs(t, a.Refresh(context.Background()), errFull)

	d.full.Store(false)
	require.NoError(t, a.Refresh(context.Background()))
	now, err = a.Current()
	require.NoError(t, err)
	require.Equal(t, "next", now.Tokens.Refresh)
	require.Equal(t, "n.e.w", now.Tokens.Access)
	require.EqualValues(t, 1, refreshes.Load())
}
