package worktree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"appserver/platform/osfile"
)

// Tree is a worktree. Its methods may be called concurrently.
type Tree struct {
	repository
	options Options
	// home is our folder for this worktree. It has a git folder, a lock and the state of the last
	// capture.
	home string
	git  git
	// own has the folders of the server inside the worktree, which are not captured.
	own []string
	// sha256 reports whether the repository names objects by SHA-256.
	sha256 bool
	// fileRefs reports whether each ref that is not packed is a file.
	fileRefs bool
	// settings are the files outside the worktree on which a capture depends, or nil if they are not
	// known.
	settings []string
	seed     maphash.Seed

	// creating is held while a ref is created, because that opens several files, which are few in a process.
	creating sync.Mutex
	// written is guarded by creating.
	written writtenRef
	// refsName is the folder of all our refs.
	refsName durableName

	mu        sync.Mutex
	captured  captured
	committed committed
}

// Open returns the worktree of a folder: the nearest folder above it with a .git, or the folder
// itself. It fails with [ErrNoGit].
func Open(ctx context.Context, cwd string, o Options) (*Tree, error) {
	g := git{program: o.Git, begin: o.Start, dir: os.DevNull, work: "/"}
	if g.program == "" {
		g.program = "git"
	}
	program, err := exec.LookPath(g.program)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoGit, err)
	}
	g.program = program
	r, err := find(ctx, g, cwd)
	if err != nil {
		return nil, err
	}
	t := &Tree{repository: r, options: o.filled(r.common != ""), seed: maphash.MakeSeed()}
	t.home = filepath.Join(o.Home, fmt.Sprintf("%x", sha256.Sum256([]byte(r.root)))[:32])
	g.dir, g.work = filepath.Join(t.home, "git"), r.root
	t.git = g
	return t, t.prepare(ctx)
}

// Root returns the folder to which paths are relative, with links resolved.
func (t *Tree) Root() string { return t.root }

// prepare reads the configuration of the repository and of the user, and creates our git folder.
func (t *Tree) prepare(ctx context.Context) error {
	if err := os.MkdirAll(t.home, 0o700); err != nil {
		return err
	}
	lock, err := lockFile(ctx, filepath.Join(t.home, "lock"))
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, err := os.Stat(filepath.Join(t.git.dir, "HEAD")); err != nil {
		if err := t.checkVersion(ctx); err != nil {
			return err
		}
	}
	config := t.configured(ctx)
	storage := config["extensions.refstorage"]
	t.fileRefs = storage == "" || storage == "files"
	excludes := t.userExcludes(ctx, config["core.excludesfile"])
	if readSmall(excludes) != nil {
		t.git.excludes = excludes
	}
	if t.common != "" {
		t.git.objects = filepath.Join(t.common, "objects")
		t.git.shared = config["core.sharedrepository"]
		t.sha256 = config["extensions.objectformat"] == "sha256"
	}
	t.settings, t.own = t.watched(excludes), t.ownFolders()
	return t.writeGitFolder()
}

func (t *Tree) checkVersion(ctx context.Context) error {
	said, err := t.git.word(ctx, nil, "version")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoGit, err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(said, "git version %d.%d", &major, &minor); err != nil || major < 2 || major == 2 &&
		minor < 36 {
		return fmt.Errorf("%w, and %s is %q", ErrNoGit, t.git.program, said)
	}
	return nil
}

// configured returns the repository's configuration without included files. The last value of a key
// counts.
func (t *Tree) configured(ctx context.Context) map[string]string {
	file := filepath.Join(t.common, "config")
	if t.common == "" || readSmall(file) == nil {
		return nil
	}
	said, _ := t.git.run(ctx, nil, "config", "--file", file, "--no-includes", "-z", "--list")
	config := map[string]string{}
	for _, entry := range names(said) {
		key, value, _ := strings.Cut(entry, "\n")
		config[key] = value
	}
	return config
}

// userExcludes returns the user's file of patterns, for this repository or for all.
func (t *Tree) userExcludes(ctx context.Context, name string) string {
	home, _ := os.UserHomeDir()
	if name == "" {
		name = t.globalExcludes(ctx)
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(home, rest)
	}
	if name == "" {
		name = filepath.Join(configFolder(home), "git", "ignore")
	}
	return from(t.root, name)
}

// globalExcludes reads core.excludesFile from the configuration of the user and of the machine. No
// other command reads these.
func (t *Tree) globalExcludes(ctx context.Context) string {
	cmd := exec.CommandContext(ctx, t.git.program, "config", "--type=path", "--get", "core.excludesfile")
	cmd.Dir = "/"
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "GIT_") || strings.HasPrefix(pair, "GIT_CONFIG_GLOBAL=") ||
			strings.HasPrefix(pair, "GIT_CONFIG_SYSTEM=") {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_DIR=/dev/null")
	out, _ := cmd.Output()
	return strings.TrimSpace(string(out))
}

// attributes make git keep the bytes of every file unchanged, and detect binary files only by their
// bytes. They take precedence over every .gitattributes.
const attributes = "* -text !eol -filter -ident -working-tree-encoding !diff !crlf\n"

// writeGitFolder creates or corrects our git folder. If the folder of objects has changed, it drops
// the index, which may name objects that do not exist there.
func (t *Tree) writeGitFolder() error {
	for _, name := range []string{"objects", "refs", "info"} {
		if err := os.MkdirAll(filepath.Join(t.git.dir, name), 0o700); err != nil {
			return err
		}
	}
	config := "# objects in " + fmt.Sprintf("%q", t.git.objects) + "\n[core]\n\tbare = false\n\trepositoryformatversion = "
	if t.sha256 {
		config += "1\n[extensions]\n\tobjectFormat = sha256\n"
	} else {
		config += "0\n"
	}
	name := filepath.Join(t.git.dir, "config")
	if old, err := os.ReadFile(name); err != nil || string(old) != config {
		if err := t.dropIndex(); err != nil {
			return err
		}
	}
	return errors.Join(
		writeIfChanged(name, config),
		writeIfChanged(filepath.Join(t.git.dir, "info", "attributes"), attributes),
		writeIfChanged(filepath.Join(t.home, "root"), t.root+"\n"),
		writeIfChanged(filepath.Join(t.git.dir, "HEAD"), "ref: refs/heads/none\n"),
	)
}

// writeIfChanged writes a file by a rename, unless it has that content.
func writeIfChanged(name, content string) error {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, []byte(content)) {
		return nil
	}
	if err := os.WriteFile(name+".new", []byte(content), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// dropIndex removes our index, so that the next capture reads every file.
func (t *Tree) dropIndex() error {
	var failed error
	for _, name := range []string{"index", "index.lock", "tracked"} {
		if err := os.Remove(filepath.Join(t.git.dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			failed = err
		}
	}
	return failed
}

// locked is a worktree under its lock: no other capture or restore runs.
type locked struct {
	*Tree
	git  git
	file *os.File
}

func (t *Tree) lock(ctx context.Context) (*locked, error) {
	file, err := lockFile(ctx, filepath.Join(t.home, "lock"))
	if err != nil {
		return nil, err
	}
	l := &locked{Tree: t, git: t.git, file: file}
	l.git.lock = file
	return l, nil
}

func (l *locked) close() { _ = l.file.Close() }

// lockFile waits for a lock. The lock is held until every process that has the file open has ended.
func lockFile(ctx context.Context, name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		held, err := osfile.TryLock(file)
		if held {
			return file, nil
		}
		if err != nil {
			_ = file.Close()
			return nil, fmt.Errorf("cannot lock %s: %w", name, err)
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, fmt.Errorf("another capture is in progress in %s: %w", filepath.Dir(name), ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// scratch returns a new empty folder, which the caller removes. It also removes the ones of killed
// servers.
func (t *Tree) scratch() (string, error) {
	left, _ := filepath.Glob(filepath.Join(t.home, "scratch-*"))
	for _, name := range left {
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(name)
		}
	}
	return os.MkdirTemp(t.home, "scratch-")
}
