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

	"appserver/core/find"
)

// Sink keeps the files of repositories. All of its methods may be called by many goroutines.
type Sink interface {
	// CodeFiles are the hashes of the files that are kept, by path.
	CodeFiles(ctx context.Context, repo string) (map[string]string, error)
	// PutCode keeps files in place of what was kept of them, all or none.
	PutCode(ctx context.Context, repo string, files []File) error
	// DropCode forgets files.
	DropCode(ctx context.Context, repo string, paths []string) error
}

// File is a file of a repository. One without chunks was looked at, and has none.
type File struct {
	// Path is relative to the repository, with slashes.
	Path string
	// Hash is to be given back by CodeFiles. It changes with the content, and is no use but
	// to this package.
	Hash   string
	Chunks []Chunk
}

// Options say what an index does. Zero values stand for the defaults in brackets.
type Options struct {
	Sink Sink
	// Finder walks repositories.
	Finder *find.Finder
	// Locks is a folder for lock files, which is made where it is missing: of all
	// processes with the same folder one reads a repository.
	Locks string
	// MaxFile is how large files may be, in bytes [1 MiB], MaxFiles how many are read of a
	// repository [100,000].
	MaxFile  int64
	MaxFiles int
	// Share is the share of one processor that each job takes, above 0 and up to 1 [0.25].
	Share float64
	// Rescan is how long no look is made when no change is told of [1 minute], ten times as long
	// where all folders are watched.
	Rescan time.Duration
	// MaxWatches is how many folders of a repository are watched [2,000], below 0 none.
	MaxWatches int
	// Progress, if any, is told of jobs under way, four times a second for each at most. It must
	// not call Stop or Close.
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

// Phase is what a job does.
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

// Status is how far a job has come. It counts what was seen by the look under way, or else by
// the last one.
type Status struct {
	Repo  string
	Phase Phase
	// FilesDone of FilesTotal files were looked at: of all whose names do not say that they are
	// to be left out.
	FilesDone, FilesTotal int
	// Chunks are kept in the sink, of files with so many Bytes.
	Chunks int
	Bytes  int64
	// Read is how many files had to be read.
	Read    int
	Skipped map[Reason]int
	// Watched is set where changes are told by the system, all of them.
	Watched bool
	// Error is why the last look failed, "" where it did not.
	Error string
}

// same tells whether nothing is to be told.
func (s Status) same(other Status) bool {
	counts := func(s Status) Status {
		s.Skipped, s.Read = nil, 0
		return s
	}
	return reflect.DeepEqual(counts(s), counts(other)) && maps.Equal(s.Skipped, other.Skipped)
}

// Index has a job for each repository that was started.
type Index struct {
	options Options

	mu     sync.Mutex
	jobs   map[string]*job
	closed bool
}

// ErrClosed is what Start answers after Close.
var ErrClosed = errors.New("the index is closed")

// New makes an index without jobs.
func New(o Options) *Index {
	return &Index{options: o.withDefaults(), jobs: map[string]*job{}}
}

// Start has the files below a root kept under the key of its repository, until ctx ends. Where
// the repository has a job it goes on, also if that has another root. A root that is the whole
// disk or a home is refused: that is no project.
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

// Pause has a job do nothing after the file that it is at; false where there is none.
func (x *Index) Pause(repo string) bool { return x.with(repo, func(j *job) { j.pause(true) }) }

// Resume has a job go on.
func (x *Index) Resume(repo string) bool { return x.with(repo, func(j *job) { j.pause(false) }) }

// Status tells how far a job has come; false where there is none.
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
