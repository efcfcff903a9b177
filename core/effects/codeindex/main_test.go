package codeindex_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/core/effects/codeindex"
	"appserver/core/effects/find"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// repo is the key that tests use.
const repo = "key of the repository"

// shelf is a sink in memory.
type shelf struct {
	mu      sync.Mutex
	files   map[string]codeindex.File
	puts    []string
	drops   []string
	fail    int           // so many calls from now one fails
	blocked chan struct{} // if any, puts say here that they wait for their context
}

var errShelf = errors.New("the shelf is full")

func (s *shelf) call() error {
	if s.fail--; s.fail == 0 {
		return errShelf
	}
	return nil
}

func (s *shelf) CodeFiles(context.Context, string) (map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hashes := map[string]string{}
	for path, f := range s.files {
		hashes[path] = f.Hash
	}
	return hashes, s.call()
}

func (s *shelf) PutCode(ctx context.Context, key string, files []codeindex.File) error {
	if s.blocked != nil {
		s.blocked <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.call(); err != nil {
		return err
	}
	for _, f := range files {
		s.files[f.Path] = f
		s.puts = append(s.puts, f.Path)
	}
	return nil
}

func (s *shelf) DropCode(_ context.Context, _ string, paths []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.call(); err != nil {
		return err
	}
	for _, path := range paths {
		delete(s.files, path)
		s.drops = append(s.drops, path)
	}
	return nil
}

// texts returns the files with chunks, put together again.
func (s *shelf) texts() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	texts := map[string]string{}
	for path, f := range s.files {
		if len(f.Chunks) > 0 {
			texts[path] = whole(f.Chunks)
		}
	}
	return texts
}

// taken gives what was put and dropped since the last call, in order of names.
func (s *shelf) taken() (puts, drops []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	puts, drops = slices.Sorted(slices.Values(s.puts)), slices.Sorted(slices.Values(s.drops))
	s.puts, s.drops = nil, nil
	return puts, drops
}

// rig is a repository with an index.
type rig struct {
	t     *testing.T
	root  string
	shelf *shelf
	index *codeindex.Index
	heard chan codeindex.Status
	o     codeindex.Options
}

// newRig makes files, "path: content", that were changed an hour ago.
func newRig(t *testing.T, o codeindex.Options, entries ...string) *rig {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	r := &rig{t: t, root: t.TempDir(), shelf: &shelf{files: map[string]codeindex.File{}},
		heard: make(chan codeindex.Status, 10_000)}
	require.NoError(t, os.Mkdir(filepath.Join(r.root, ".git"), 0o755))
	r.write(entries...)
	if o.Sink = r.shelf; o.Finder == nil {
		o.Finder = find.New()
	}
	if o.Locks == "" {
		o.Locks = filepath.Join(t.TempDir(), "locks")
	}
	if o.Share == 0 {
		o.Share = 1
	}
	if o.Rescan == 0 {
		o.Rescan = time.Hour
	}
	o.Progress = func(s codeindex.Status) { r.heard <- s }
	r.o, r.index = o, codeindex.New(o)
	t.Cleanup(func() { r.index.Close() })
	return r
}

func (r *rig) path(name string) string { return filepath.Join(r.root, name) }

func (r *rig) write(entries ...string) {
	r.t.Helper()
	for _, entry := range entries {
		name, content, _ := strings.Cut(entry, ": ")
		require.NoError(r.t, os.MkdirAll(filepath.Dir(r.path(name)), 0o755))
		require.NoError(r.t, os.WriteFile(r.path(name), []byte(content), 0o644))
		r.age(name)
	}
}

func (r *rig) age(name string) {
	r.t.Helper()
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	require.NoError(r.t, os.Chtimes(r.path(name), at, at))
}

func (r *rig) start() {
	r.t.Helper()
	require.NoError(r.t, r.index.Start(r.t.Context(), repo, r.root))
}

// await waits until a status is told that fits.
func (r *rig) await(fits func(codeindex.Status) bool) codeindex.Status {
	r.t.Helper()
	timeout := time.NewTimer(30 * time.Second)
	defer timeout.Stop()
	for {
		select {
		case s := <-r.heard:
			if fits(s) {
				return s
			}
		case <-timeout.C:
			s, _ := r.index.Status(repo)
			require.Fail(r.t, "nothing that fits was told", "%+v", s)
		}
	}
}

func in(phase codeindex.Phase) func(codeindex.Status) bool {
	return func(s codeindex.Status) bool { return s.Phase == phase }
}

// looked starts a new index, waits for its first look and stops it.
func (r *rig) looked() codeindex.Status {
	r.t.Helper()
	r.index.Stop(repo)
	for len(r.heard) > 0 {
		<-r.heard
	}
	r.start()
	s := r.await(in(codeindex.Idle))
	r.index.Stop(repo)
	return s
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
