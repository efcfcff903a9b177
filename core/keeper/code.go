package keeper

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"appserver/core/codeindex"
	"appserver/core/find"
	"appserver/core/memory"
	"appserver/protocol"
)

// Code keeps the files of the repositories that are searched in the memory.
type Code struct {
	index  *codeindex.Index
	ctx    context.Context
	cancel context.CancelFunc
	warn   func(message string)

	mu    sync.Mutex
	repos []string
}

// CodeOptions say how files are read.
type CodeOptions struct {
	Store *memory.Store
	// Finder walks repositories.
	Finder *find.Finder
	// Locks is a folder for lock files.
	Locks string
	// Share is the part of one processor that each repository takes.
	Share float64
	// Tell is told how far they are known, Warn what users should know of.
	Tell func(protocol.MemoryCodeIndex)
	Warn func(message string)
}

// NewCode reads nothing before it is asked for.
func NewCode(o CodeOptions) *Code {
	c := &Code{warn: o.Warn}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.index = codeindex.New(codeindex.Options{
		Sink: sink{o.Store}, Finder: o.Finder, Locks: o.Locks, Share: o.Share,
		Progress: func(s codeindex.Status) { o.Tell(codeView(s)) },
	})
	return c
}

// open begins to read a repository, unless that is done. What is none, or bare, is not read.
func (c *Code) open(repo string) {
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

func (c *Code) pause(repo string, paused bool) bool {
	if paused {
		return c.index.Pause(repo)
	}
	return c.index.Resume(repo)
}

func (c *Code) status() []protocol.MemoryCodeIndex {
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

func (c *Code) close() {
	c.cancel()
	c.index.Close()
}

func codeView(s codeindex.Status) protocol.MemoryCodeIndex {
	v := protocol.MemoryCodeIndex{RepoKey: s.Repo, Phase: string(s.Phase), Files: s.FilesTotal, Done: s.FilesDone, Chunks: s.Chunks, Bytes: s.Bytes, Skipped: map[string]int{}}
	for reason, n := range s.Skipped {
		v.Skipped[string(reason)] = n
	}
	if s.Error != "" {
		v.Error = &s.Error
	}
	return v
}

// sink keeps files in the store.
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
