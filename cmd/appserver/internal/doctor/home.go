package doctor

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/termtext"
	"appserver/core/effects/config"
	"appserver/platform/disk"
)

func (s *subject) home(context.Context) []Result {
	info, err := os.Stat(s.Home)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.missingHome()
	case err != nil:
		return []Result{problem("home", "make the folder readable, or set CODEX_HOME to another one", "%s: %v", s.Home, err)}
	case !info.IsDir():
		return []Result{problem("home", "move it away, or set CODEX_HOME to a folder", "%s is not a folder", s.Home)}
	}
	list := []Result{ok("home", "%s", s.Home), s.writable()}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		list = append(list, warn("home.mode", "chmod 700 "+s.Home, "other users of this machine can look into it: its mode is %o", mode))
	}
	return append(append(list, s.space(s.Home)), s.obstacles()...)
}

// missingHome reports whether a server can make the home.
func (s *subject) missingHome() []Result {
	above := filepath.Dir(s.Home)
	for above != filepath.Dir(above) {
		if _, err := os.Lstat(above); err == nil {
			break
		}
		above = filepath.Dir(above)
	}
	probe, err := os.MkdirTemp(above, ".appserver-doctor-")
	if err != nil {
		return []Result{problem("home", "make the folder, or set CODEX_HOME to one that you can write in",
			"%s does not exist, and cannot be made: %v", s.Home, cause(err))}
	}
	_ = os.Remove(probe)
	return []Result{ok("home", "%s does not exist yet; the first server makes it", s.Home), s.space(above)}
}

// writable makes a file in the home, locks it, and removes it.
func (s *subject) writable() Result {
	const action = "give your user the right to write in it, or set CODEX_HOME to another folder"
	f, err := os.CreateTemp(s.Home, ".appserver-doctor-")
	if err != nil {
		return problem("home.writable", action, "it cannot be written in: %v", cause(err))
	}
	name := f.Name()
	defer func() { _ = os.Remove(name) }()
	_, err = f.WriteString("a test of appserver doctor\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return problem("home.writable", "free some space, or set CODEX_HOME to another disk", "a file cannot be written: %v", cause(err))
	}
	lock, err := disk.OS().Lock(name, disk.Exclusive)
	if err != nil {
		return problem("home.locks", "set CODEX_HOME to a local disk: two programs could write one conversation",
			"its file system has no locks: %v", cause(err))
	}
	_ = lock.Close()
	return ok("home.writable", "it can be written in, and files can be locked")
}

// The free space below which a server cannot write for long, and is near that, in bytes.
const (
	noSpace     = 20 << 20
	littleSpace = 1 << 30
)

func (s *subject) space(dir string) Result {
	free, known := freeSpace(dir)
	switch action := "free some space; conversations, checkpoints and the index grow"; {
	case !known:
		return ok("home.space", "the free space is unknown")
	case free < noSpace:
		return problem("home.space", action, "%s are free", megabytes(free))
	case free < littleSpace:
		return warn("home.space", action, "%s are free", megabytes(free))
	default:
		return ok("home.space", "%s are free", megabytes(free))
	}
}

func megabytes(n uint64) string { return termtext.Grouped(int64(min(n, 1<<62))>>20) + " MB" }

// obstacles reports files where the server needs folders, folders where it needs files, and files that it cannot read.
func (s *subject) obstacles() (list []Result) {
	for _, name := range []string{"sessions", "archived_sessions", "thread-writer-locks", "appserver-cache"} {
		path := filepath.Join(s.Home, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			list = append(list, problem("home.obstacle", "move it away", "%s is not a folder, which the server needs there", path))
		} else if _, err := os.ReadDir(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			list = append(list, problem("home.obstacle", "make it readable for your user", "%s: %v", path, cause(err)))
		}
	}
	for _, name := range []string{"config.toml", "auth.json", "session_index.jsonl"} {
		path := filepath.Join(s.Home, name)
		info, err := os.Stat(path)
		switch {
		case err == nil && !info.Mode().IsRegular():
			list = append(list, problem("home.obstacle", "move it away", "%s is not a file, which the server needs there", path))
		case err == nil && name == "auth.json" && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
			list = append(list, warn("home.login", "chmod 600 "+path, "other users of this machine can read the login: the mode of %s is %o", path, info.Mode().Perm()))
		}
	}
	return list
}

// index reports whether the index of conversations can be read. A server builds a missing one.
func (s *subject) index(context.Context) []Result {
	if s.Config == nil {
		return nil
	}
	switch c := s.Config; {
	case c.Store.Kind == config.StorePostgres:
		return []Result{ok("index", "conversations are in a database; appserver store status examines it")}
	case !c.Index.Enabled:
		return []Result{warn("index", "set index.enabled = true for searches and quick lists", "it is turned off")}
	}
	path := app.IndexPath(s.Config.Index, s.Home)
	list := []Result{indexFile(path)}
	if damaged := path + ".damaged"; isThere(damaged) {
		list = append(list, warn("index.damaged", "remove it", "%s is an older index that was damaged; nothing uses it", damaged))
	}
	return list
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func indexFile(path string) Result {
	const action = "end all servers of this home and move the file away; the next server builds a new index"
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ok("index", "there is none yet; the first list builds it")
	case err != nil:
		return problem("index", action, "%s: %v", path, cause(err))
	case !info.Mode().IsRegular():
		return problem("index", action, "%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return problem("index", action, "%s: %v", path, cause(err))
	}
	defer f.Close()
	const magic = "SQLite format 3\x00"
	begin := make([]byte, len(magic))
	if _, err := io.ReadFull(f, begin); info.Size() > 0 && (err != nil || string(begin) != magic) {
		return warn("index", action, "%s is not an index", path)
	}
	return ok("index", "%s, %s", path, megabytes(uint64(info.Size())))
}

// cause returns an error of a file without the path of the file, which may be a temporary one.
func cause(err error) error {
	if e := new(fs.PathError); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// maxListed bounds the warnings of one kind in the report.
const maxListed = 8

func (s *subject) configuration(context.Context) []Result {
	if s.Failure != nil {
		var list []Result
		for line := range strings.Lines(s.Failure.Error()) {
			list = append(list, problem("configuration", "correct it; docs/config.md describes the keys", "%s", strings.TrimSpace(line)))
		}
		return list[:min(len(list), maxListed)]
	}
	files, err := s.Layers()
	list := []Result{ok("configuration", "read: %s", strings.Join(files, ", "))}
	if len(files) == 0 {
		list = []Result{ok("configuration", "there is no file; %s would be read", s.configFile())}
	}
	if err != nil {
		list = append(list, warn("configuration.layers", "correct it", "%v", err))
	}
	for i, w := range s.Warnings {
		if i == maxListed {
			list = append(list, warn("configuration.warning", "correct these first", "%d more warnings", len(s.Warnings)-maxListed))
			break
		}
		list = append(list, warn("configuration.warning", "correct or remove it", "%s", w))
	}
	return list
}
