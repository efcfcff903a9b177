package pgtest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Server is a running server.
type Server struct {
	dir      string
	as       *account
	settings []string
	cmd      *exec.Cmd
	done     chan struct{}
	once     sync.Once
}

// newServer creates and starts a server.
func newServer(settings []string) (*Server, error) {
	s, err := newFolder()
	if err != nil {
		return nil, err
	}
	err = s.run("initdb", "-D", s.data(), "--username=postgres", "--auth=trust", "--encoding=UTF8",
		"--locale=C.UTF-8", "--no-sync")
	if err == nil {
		s.settings = settings
		err = s.start(settings)
	}
	if err != nil {
		_ = os.RemoveAll(s.dir)
		return nil, err
	}
	return s, nil
}

func newFolder() (*Server, error) {
	as, err := serverAccount()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("/tmp", "pgtest") // short, because the path of a socket is limited
	if err == nil && as != nil {
		err = os.Chown(dir, as.uid, as.gid)
	}
	return &Server{dir: dir, as: as}, err
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// command returns a command of PostgreSQL that runs as the user of the server.
func (s *Server) command(name string, args ...string) (*exec.Cmd, error) {
	path, err := program(name)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = attributes(s.as)
	return cmd, nil
}

func (s *Server) run(name string, args ...string) error {
	cmd, err := s.command(name, args...)
	if err != nil {
		return err
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, text)
	}
	return nil
}

// start starts the server and waits until it accepts connections.
func (s *Server) start(settings []string) error {
	args := []string{"-D", s.data()}
	for _, setting := range append([]string{"listen_addresses=", "unix_socket_directories=" + s.dir, "port=5432",
		"shared_buffers=64MB", "dynamic_shared_memory_type=mmap", "max_connections=100", "log_min_messages=warning",
		"lc_messages=C"}, settings...) {
		args = append(args, "-c", setting)
	}
	cmd, err := s.command("postgres", args...)
	if err != nil {
		return err
	}
	endWithParent(cmd.SysProcAttr)
	log, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	s.cmd, s.done = cmd, make(chan struct{})
	started := make(chan error, 1)
	go s.supervise(started)
	if err := <-started; err != nil {
		return err
	}
	return awaitReady(log)
}

// supervise starts the process and waits for it, on one thread: Pdeathsig refers to the thread.
func (s *Server) supervise(started chan<- error) {
	runtime.LockOSThread()
	defer close(s.done)
	err := s.cmd.Start()
	started <- err
	if err == nil {
		_, _ = s.cmd.Process.Wait()
	}
}

// awaitReady reads the log until the server is ready, and then discards it in the background.
func awaitReady(log io.ReadCloser) error {
	var before strings.Builder
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "ready to accept") {
			go func() {
				_, _ = io.Copy(io.Discard, log)
				_ = log.Close()
			}()
			return nil
		}
		before.WriteString(lines.Text() + "\n")
	}
	return fmt.Errorf("the server did not start: %s", before.String())
}

// Restart starts a server that has crashed. It recovers from its log.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	require.NoError(t, s.start(s.settings))
}

// Remove stops a server that the test needs no more, and removes its folder.
func (s *Server) Remove(t testing.TB) {
	t.Helper()
	s.stop()
	require.NoDirExists(t, s.dir)
}

// stop stops the server and removes its folder.
func (s *Server) stop() {
	s.once.Do(func() {
		_ = s.cmd.Process.Signal(syscall.SIGQUIT)
		<-s.done
		s.freeMemory()
		_ = os.RemoveAll(s.dir)
	})
}

// Standby starts a standby of the server, whose application_name is its name. The end of the test
// stops it.
func (s *Server) Standby(t testing.TB, name string) *Server {
	t.Helper()
	standby, err := newFolder()
	require.NoError(t, err)
	source := fmt.Sprintf("host=%s port=5432 user=postgres application_name=%s", s.dir, name)
	require.NoError(t, standby.run("pg_basebackup", "-D", standby.data(), "-d", source, "-R", "-X", "stream",
		"-c", "fast"))
	require.NoError(t, standby.start(nil))
	t.Cleanup(standby.stop)
	return standby
}

// Admit lets all users of the machine connect to the server.
func (s *Server) Admit(t testing.TB) {
	t.Helper()
	require.NoError(t, os.Chmod(s.dir, 0o711))
}
