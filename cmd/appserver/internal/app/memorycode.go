package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"appserver/core/effects/codeindex"
	"appserver/core/effects/config"
	"appserver/core/effects/find"
	"appserver/core/effects/memory"
	"appserver/protocol"
)

// codeReader indexes the files of repositories in the memory.
type codeReader struct {
	index  *codeindex.Index
	ctx    context.Context
	cancel context.CancelFunc
	warn   func(message string)

	mu    sync.Mutex
	repos []string
}

// newCodeReader returns a codeReader without repositories.
func newCodeReader(c config.Memory, home string, store *memory.Store, finder *find.Finder,
	notices *memoryNotices) *codeReader {
	r := &codeReader{warn: notices.warn}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.index = codeindex.New(codeindex.Options{
		Sink: sink{store}, Finder: finder, Locks: filepath.Join(home, "appserver-code-locks"),
		Share:    float64(c.IndexShare) / 100,
		Progress: func(s codeindex.Status) { notices.progress(codeView(s)) },
	})
	return r
}

// Open starts to index a repository, unless it was opened before. It skips bare repositories and folders
// without a repository.
func (c *codeReader) Open(repo string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.repos, repo) {
		return
	}
	if _, err := os.Stat(filepath.Join(repo, ".git")); err != nil {
		return
	}
	c.repos = append(c.repos, repo)
	if err := c.index.Start(c.ctx, repo, repo); err != nil {
		c.warn(err.Error())
	}
}

// Pause pauses or resumes the indexing of a repository. It returns false for an unknown repository.
func (c *codeReader) Pause(repo string, paused bool) bool {
	if paused {
		return c.index.Pause(repo)
	}
	return c.index.Resume(repo)
}

// Status returns the progress of each repository.
func (c *codeReader) Status() []protocol.MemoryCodeIndex {
	c.mu.Lock()
	defer c.mu.Unlock()
	views := []protocol.MemoryCodeIndex{}
	for _, repo := range c.repos {
		if s, known := c.index.Status(repo); known {
			views = append(views, codeView(s))
		}
	}
	return views
}

// Close stops the indexing of all repositories.
func (c *codeReader) Close() {
	c.cancel()
	c.index.Close()
}

func codeView(s codeindex.Status) protocol.MemoryCodeIndex {
	v := protocol.MemoryCodeIndex{RepoKey: s.Repo, Phase: string(s.Phase), Files: s.FilesTotal, Done: s.FilesDone,
		Chunks: s.Chunks, Bytes: s.Bytes, Skipped: map[string]int{}}
	for reason, n := range s.Skipped {
		v.Skipped[string(reason)] = n
	}
	if s.Error != "" {
		v.Error = &s.Error
	}
	return v
}

// sink writes files to the store.
type sink struct{ store *memory.Store }

func (s sink) CodeFiles(ctx context.Context, repo string) (map[string]string, error) {
	return s.store.CodeFiles(ctx, repo)
}

func (s sink) PutCode(ctx context.Context, repo string, files []codeindex.File) error {
	kept := make([]memory.CodeFile, len(files))
	for i, f := range files {
		kept[i] = memory.CodeFile{Path: f.Path, Hash: f.Hash}
		for _, c := range f.Chunks {
			kept[i].Chunks = append(kept[i].Chunks, memory.Chunk{Title: c.Title, Text: c.Text})
		}
	}
	return s.store.PutCode(ctx, repo, kept)
}

func (s sink) DropCode(ctx context.Context, repo string, paths []string) error {
	return s.store.DropCode(ctx, repo, paths)
}
