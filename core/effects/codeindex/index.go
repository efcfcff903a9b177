package codeindex

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"appserver/core/effects/find"
)

// Sink stores the files of repositories. It is safe for concurrent use.
type Sink interface {
	// CodeFiles returns the hashes of the stored files, by path.
	CodeFiles(ctx context.Context, repo string) (map[string]string, error)
	// PutCode replaces the stored content of files, all or none.
	PutCode(ctx context.Context, repo string, files []File) error
	// DropCode deletes files.
	DropCode(ctx context.Context, repo string, paths []string) error
}

// File is a file of a repository. Chunks is empty if the file was examined and skipped.
type File struct {
	// Path is relative to the repository, with slashes.
	Path string
	// Hash identifies the content, and CodeFiles returns it. Only this package can interpret it.
	Hash   string
	Chunks []Chunk
}

// Options configure an index. Zero values select the defaults in brackets.
type Options struct {
	Sink Sink
	// Finder walks repositories.
	Finder *find.Finder
	// Locks is a folder for lock files. It is created if it is missing. Of all processes with the same
	// folder, one reads a repository.
	Locks string
	// MaxFile bounds a file, in bytes [1 MiB], MaxFiles the number of files of a repository [100,000].
	MaxFile  int64
	MaxFiles int
	// Share is the share of one processor that each job takes, above 0 and up to 1 [0.25].
	Share float64
	// Rescan is the longest time between looks without a reported change [1 minute]. It is ten times as
	// long if all folders are watched.
	Rescan time.Duration
	// MaxWatches bounds the watched folders of a repository [2,000]. A negative value turns watches off.
	MaxWatches int
	// Progress, if not nil, receives the status of active jobs, at most four times a second for each. It
	// must not call Stop or Close.
	Progress func(Status)
}

func (o Options) withDefaults() Options {
	if o.MaxFile <= 0 {
		o.MaxFile = 1 << 20
	}
	if o.MaxFiles <= 0 {
		o.MaxFiles = 100_000
	}
	if o.Share <= 0 || o.Share > 1 {
		o.Share = 0.25
	}
	if o.Rescan <= 0 {
		o.Rescan = time.Minute
	}
	if o.MaxWatches == 0 {
		o.MaxWatches = 2000
	}
	if o.Progress == nil {
		o.Progress = func(Status) {}
	}
	return o
}

// Phase is the state of a job.
type Phase string

// The phases. Failed waits for the next look, as Idle does; Elsewhere waits for another
// process, which has the repository.
const (
	Walking   Phase = "walking"
	Reading   Phase = "reading"
	Idle      Phase = "idle"
	Paused    Phase = "paused"
	Failed    Phase = "failed"
	Elsewhere Phase = "elsewhere"
)

// Status is the progress of a job. It counts the files of the current look, or else of the last
// one.
type Status struct {
	Repo  string
	Phase Phase
	// FilesDone is the number of examined files, of FilesTotal. Files that are skipped by their
	// names do not count.
	FilesDone, FilesTotal int
	// Chunks is the number of chunks in the sink, and Bytes the size of their files.
	Chunks int
	Bytes  int64
	// Read is the number of files that had to be read.
	Read    int
	Skipped map[Reason]int
	// Watched is set if the system reports all changes.
	Watched bool
	// Error is the reason why the last look failed, or "".
	Error string
}

// same reports whether the reported members of two statuses are equal.
func (s Status) same(other Status) bool {
	counts := func(s Status) Status {
		s.Skipped, s.Read = nil, 0
		return s
	}
	return reflect.DeepEqual(counts(s), counts(other)) && maps.Equal(s.Skipped, other.Skipped)
}

// Index has one job for each started repository.
type Index struct {
	options Options

	mu     sync.Mutex
	jobs   map[string]*job
	closed bool
}

// ErrClosed is returned by Start after Close.
var ErrClosed = errors.New("the index is closed")

// New returns an index without jobs.
func New(o Options) *Index {
	return &Index{options: o.withDefaults(), jobs: map[string]*job{}}
}

// Start indexes the files below a root under the key of the repository, until ctx ends. A
// repository that has a job already, even for another root, keeps that job. A root that is the
// whole disk or a home directory is rejected, because it is no project.
func (x *Index) Start(ctx context.Context, repo, root string) error {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return fmt.Errorf("codeindex: %w", err)
	}
	if home, _ := os.UserHomeDir(); real == filepath.Dir(real) || real == resolved(home) {
		return fmt.Errorf("codeindex: %s is too wide to be read: begin in a project", root)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	switch old := x.jobs[repo]; {
	case x.closed:
		return ErrClosed
	case old != nil && !old.ended():
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	j := newJob(x.options, repo, real, cancel)
	x.jobs[repo] = j
	go j.run(ctx)
	return nil
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// Stop ends a job, if there is one, and waits for its end.
func (x *Index) Stop(repo string) {
	x.mu.Lock()
	j := x.jobs[repo]
	delete(x.jobs, repo)
	x.mu.Unlock()
	if j != nil {
		j.stop()
	}
}

// Close ends all jobs, and waits for their ends.
func (x *Index) Close() {
	x.mu.Lock()
	jobs := x.jobs
	x.jobs, x.closed = map[string]*job{}, true
	x.mu.Unlock()
	for _, j := range jobs {
		j.cancel()
	}
	for _, j := range jobs {
		j.stop()
	}
}

// Pause stops a job after its current file. It returns false for an unknown repository.
func (x *Index) Pause(repo string) bool { return x.with(repo, func(j *job) { j.pause(true) }) }

// Resume continues a job.
func (x *Index) Resume(repo string) bool { return x.with(repo, func(j *job) { j.pause(false) }) }

// Status returns the progress of a job, or false for an unknown repository.
func (x *Index) Status(repo string) (s Status, ok bool) {
	ok = x.with(repo, func(j *job) { s = j.now() })
	return s, ok
}

func (x *Index) with(repo string, do func(*job)) bool {
	x.mu.Lock()
	j := x.jobs[repo]
	x.mu.Unlock()
	if j == nil || j.ended() {
		return false
	}
	do(j)
	return true
}
