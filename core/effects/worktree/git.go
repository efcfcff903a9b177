package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"appserver/platform/osfile"
)

// gitTimeout limits one run of git. No turn should wait longer for a capture, and a FIFO that is named
// .gitignore would block forever.
const gitTimeout = time.Minute

// git runs git with fixed folders, and without the settings of the workspace and of the user.
type git struct {
	program string
	// begin starts the process, or is nil.
	begin func(*exec.Cmd) error
	// dir is the git folder, and work the folder that paths are relative to and that
	// .gitignore and .gitattributes are read from.
	dir, work string
	// objects is the folder of objects, or "" for the folder in dir.
	objects string
	// more is a folder with further objects to read, or "".
	more string
	// index is the index file, or "" for the one in dir.
	index string
	// excludes is the user's own file of patterns, or "".
	excludes string
	// shared is the repository's core.sharedRepository, or "".
	shared string
	// lock is a file that stays locked for as long as git runs, or nil.
	lock *os.File
}

// running is a running git process.
type running struct {
	*exec.Cmd
	cancel context.CancelFunc
	out    limited
	err    limited
	// parent is the caller's context, and timed the one with the timeout.
	parent, timed context.Context
	command       string
}

// closeTime is the time for which processes may keep git's output open after git has ended. A process that the server
// starts at the same time has all of its files open until it runs its program, which takes long on a busy machine.
// cutTime is the time after git was killed.
const (
	closeTime = 10 * time.Second
	cutTime   = 250 * time.Millisecond
)

// start starts git with an input. The caller must call output.
func (g git) start(ctx context.Context, in io.Reader, out limited, args ...string) (*running, error) {
	timed, cancel := context.WithTimeout(ctx, gitTimeout)
	r := &running{Cmd: exec.CommandContext(timed, g.program, append(g.flags(), args...)...), cancel: cancel}
	r.parent, r.timed, r.command = ctx, timed, args[0]
	r.out, r.err.most = out, 4<<10
	r.Dir, r.Env, r.Stdin = g.work, g.environ(), in
	r.Stdout, r.Stderr = &r.out, &r.err
	r.WaitDelay = closeTime
	r.Cancel = r.kill
	if g.lock != nil {
		osfile.KeepLock(r.Cmd, g.lock)
	}
	begin := g.begin
	if begin == nil {
		begin = (*exec.Cmd).Start
	}
	if err := begin(r.Cmd); err != nil {
		cancel()
		return nil, fmt.Errorf("cannot run git: %w", err)
	}
	return r, nil
}

// kill ends the process group. exec.Cmd calls it before it reads its WaitDelay.
func (r *running) kill() error {
	r.WaitDelay = cutTime
	return r.Process.Kill()
}

// output waits for git and returns its output. An output above the limit is truncated, with
// errTooLong.
func (r *running) output() ([]byte, error) {
	defer r.cancel()
	err := r.Wait()
	switch {
	case r.out.cut:
		return r.out.kept.Bytes(), errTooLong
	case err == nil:
		return r.out.kept.Bytes(), nil
	case r.parent.Err() != nil:
		return nil, r.parent.Err()
	case r.timed.Err() != nil:
		err = fmt.Errorf("it took longer than %v", gitTimeout)
	}
	return nil, &gitError{command: r.command, text: strings.TrimSpace(r.err.kept.String()), err: err}
}

// run runs git, with all of its output.
func (g git) run(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	r, err := g.start(ctx, in, limited{most: maxOutput}, args...)
	if err != nil {
		return nil, err
	}
	return r.output()
}

// word runs git and returns one line of output.
func (g git) word(ctx context.Context, in io.Reader, args ...string) (string, error) {
	out, err := g.run(ctx, in, args...)
	return strings.TrimSpace(string(out)), err
}

// flags returns the settings of our own git folder, for commands that run in the user's folder.
// Objects and refs are synced. The index is not, because it can be rebuilt.
func (g git) flags() []string {
	settings := []string{
		"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.logAllRefUpdates=false", "gc.auto=0",
		"core.fsync=loose-object,pack,pack-metadata,reference", "core.fsyncMethod=batch",
		"core.attributesFile=/dev/null", "core.excludesFile=" + g.excludes, "core.untrackedCache=false",
		"core.quotePath=true", "core.preloadIndex=true", "diff.renames=true",
	}
	if g.shared != "" {
		settings = append(settings, "core.sharedRepository="+g.shared)
	}
	var flags []string
	for _, s := range settings {
		flags = append(flags, "-c", s)
	}
	return flags
}

func (g git) environ() []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=/dev/null", "XDG_CONFIG_HOME=/dev/null",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_ATTR_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none", // older gits do not know the one before
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_AUTHOR_NAME=appserver", "GIT_AUTHOR_EMAIL=appserver@localhost",
		"GIT_COMMITTER_NAME=appserver", "GIT_COMMITTER_EMAIL=appserver@localhost",
		"GIT_DIR=" + g.dir,
	}
	for name, value := range map[string]string{
		"GIT_WORK_TREE": g.work, "GIT_OBJECT_DIRECTORY": g.objects, "GIT_INDEX_FILE": g.index,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES": alternates(g.more),
	} {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// gitError has the messages of a failed run of git.
type gitError struct {
	command, text string
	err           error
}

func (e *gitError) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("git %s failed: %v: %s", e.command, e.err, e.text), ": ")
}

func (e *gitError) Unwrap() error { return e.err }

// maxOutput is the longest output of git that is kept, in bytes.
const maxOutput = 256 << 20

var errTooLong = errors.New("the output of git is too long")

// limited keeps the beginning of an output and then returns an error, so that the writer ends.
type limited struct {
	kept bytes.Buffer
	most int64
	// names limits the number of names, each ended by NUL. 0 is without limit.
	names, seen int
	cut         bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.seen += bytes.Count(p, []byte{0}); l.names > 0 && l.seen > l.names {
		l.cut = true
		return 0, errTooLong
	}
	if room := l.most - int64(l.kept.Len()); int64(len(p)) > room {
		l.cut = true
		n, _ := l.kept.Write(p[:room])
		return n, errTooLong
	}
	return l.kept.Write(p)
}

// names splits an output at NUL.
func names(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// input returns names, each ended by NUL.
func input(names []string) io.Reader {
	if len(names) == 0 {
		return strings.NewReader("")
	}
	return strings.NewReader(strings.Join(names, "\x00") + "\x00")
}

// alternates returns a list of one folder of objects, in git's format.
func alternates(dir string) string {
	if dir == "" {
		return ""
	}
	return quote(dir)
}
