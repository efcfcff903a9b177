package apptest

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"go.uber.org/goleak"

	"appserver/platform/osfile"
	"appserver/test/sample"
)

// parallel is the default of -parallel. Most tests with whole servers wait, so more of them than
// processors run at once.
const parallel = "8"

// Main runs the tests of a package. It fails if they leave goroutines behind, if a server detected
// a race, or if a message violates the schema of the reference implementation.
func Main(m goleak.TestingM) {
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err)
	}
	if err := errors.Join(watchRaces(), readSources()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(runner{m}, goleak.Cleanup(func(code int) {
		if err := errors.Join(reportRaces(), reportWire()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		if dir, err := BuildDir(); err == nil {
			_ = os.RemoveAll(dir)
		}
		os.Exit(code)
	}))
}

// Root returns the path of a file of the repository, or of the repository itself.
func Root(elements ...string) string {
	if root == "" {
		panic("the working folder is outside of the repository")
	}
	return filepath.Join(append([]string{root}, elements...)...)
}

// root is computed before a test can change the working folder. It is "" in processes of tests elsewhere.
var root = func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}()

// readSources reads the folders of the source. The go command caches test results by the files that
// a test reads, and does not see what Build compiles.
func readSources() error {
	for _, top := range []string{".", "cmd", "core", "docs", "platform", "protocol", "rollout", "schema", "server", "web"} {
		err := filepath.WalkDir(Root(top), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case top == "." && path != root:
				return filepath.SkipDir
			case !entry.IsDir():
				return nil
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			return f.Close()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// BuildDir returns the folder with the programs that this process built. Any user can run them.
var BuildDir = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "appserver-test-")
	return dir, errors.Join(err, os.Chmod(dir, 0o755))
})

// Binary returns the path of the server, built with the flags of make build.
var Binary = sync.OnceValues(func() (string, error) { return Build("appserver", "./cmd/appserver") })

// isServer reports whether a program is the server, perhaps by another name.
func isServer(path string) bool {
	server, err := Binary()
	if err != nil {
		return false
	}
	if path == server {
		return true
	}
	target, err := filepath.EvalSymlinks(path)
	return err == nil && target == server
}

// Build compiles a package of the repository, given relative to its root, and returns the path
// of the program. The program is linked again only if its source has changed: bin/test keeps it
// for the other test packages, and each process runs a copy.
func Build(name, pkg string) (string, error) {
	dir, err := BuildDir()
	if err != nil {
		return "", err
	}
	kept := Root("bin", "test", name)
	args, env := []string{"-trimpath", "-ldflags", "-s -w"}, "CGO_ENABLED=0"
	if sample.Racing {
		kept, args, env = kept+"-race", []string{"-race"}, "CGO_ENABLED=1"
	}
	unlock, err := lockBuilds(filepath.Dir(kept))
	if err != nil {
		return "", err
	}
	defer unlock()
	build := exec.Command("go", slices.Concat([]string{"build"}, args, []string{"-o", kept, pkg})...)
	build.Dir, build.Env = root, append(os.Environ(), env)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	path := filepath.Join(dir, name)
	return path, copyProgram(path, kept)
}

// lockBuilds prevents other processes from building into a folder until unlock is called.
func lockBuilds(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	for {
		held, err := osfile.TryLock(f)
		if held || err != nil {
			return func() { _ = f.Close() }, err
		}
		<-time.After(20 * time.Millisecond)
	}
}

// copyProgram copies a program. A process that was started meanwhile would have the copy open for writing until it runs
// its own program, and the copy could not be run.
func copyProgram(to, from string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
