// Package pgtest starts PostgreSQL servers for tests. It needs the programs of PostgreSQL in PATH or
// in /usr/lib/postgresql. Without them, tests are skipped; if the environment has CI=true, they fail.
//
// Servers listen on a Unix socket in their folder only. If the tests run as root, the servers run
// as the user postgres, because PostgreSQL refuses root. fsync is on.
//
// # Goroutines
//
// One goroutine per server starts the process and waits for its end. The kernel ends the process if
// the goroutine's thread ends, so a test that is killed leaves no server behind. Another goroutine
// reads the server's log until the server closes it.
package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// shared is the server of the test binary. It is started by the first test that needs it.
var shared struct {
	mu       sync.Mutex
	settings []string
	server   *Server
	err      error
}

var databases atomic.Int64

// Configure adds settings for the server of the test binary. Call it before the tests.
func Configure(settings ...string) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.settings = settings
}

// Main runs the tests of a package and stops their server. It returns the exit code.
func Main(m interface{ Run() int }) int {
	code := m.Run()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.server != nil {
		shared.server.stop()
	}
	return code
}

// Shared returns the server of the test binary.
func Shared(t testing.TB) *Server {
	t.Helper()
	need(t)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = newServer(shared.settings)
	}
	require.NoError(t, shared.err)
	return shared.server
}

// Start starts a server with further settings, which the end of the test stops.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	need(t)
	s, err := newServer(settings)
	require.NoError(t, err)
	t.Cleanup(s.stop)
	return s
}

// Database returns the URL of a new database on the server of the test binary.
func Database(t testing.TB) string {
	t.Helper()
	return Shared(t).Database(t)
}

// Database returns the URL of a new database. The end of the test drops it.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	return s.Clone(t, "template0")
}

// Clone returns the URL of a copy of a database that has no connections. The end of the test drops it.
func (s *Server) Clone(t testing.TB, template string) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", databases.Add(1))
	s.Exec(t, "CREATE DATABASE "+name+" TEMPLATE "+template+" ENCODING 'UTF8'")
	t.Cleanup(func() { // a test may have left the server without its standby
		s.Exec(t, "SET synchronous_commit = local", "DROP DATABASE "+name+" WITH (FORCE)")
	})
	return s.URL("postgres", name)
}

// URL returns the URL of a database for a user.
func (s *Server) URL(role, database string) string {
	query := url.Values{"host": {s.dir}, "port": {"5432"}}
	return "postgres://" + role + "@/" + database + "?" + query.Encode()
}

// As returns the URL of a database with another user.
func As(t testing.TB, address, role string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.User = url.User(role)
	return u.String()
}

// Also returns the URL with another server as an alternative.
func (s *Server) Also(t testing.TB, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	query := u.Query()
	query.Set("host", query.Get("host")+","+s.dir)
	query.Set("port", query.Get("port")+",5432")
	u.RawQuery = query.Encode()
	return u.String()
}

// Through returns the URL of a database whose servers have other addresses, each HOST:PORT. The client
// connects to the one that writes.
func Through(t testing.TB, address string, hosts ...string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.Host, u.RawQuery = strings.Join(hosts, ","), "sslmode=disable&target_session_attrs=read-write"
	return u.String()
}

// Socket returns the path of the server's socket.
func (s *Server) Socket() string { return filepath.Join(s.dir, ".s.PGSQL.5432") }

// Exec runs statements in the database postgres, each in its own transaction.
func (s *Server) Exec(t testing.TB, statements ...string) {
	t.Helper()
	Exec(t, s.URL("postgres", "postgres"), statements...)
}

// Exec runs statements, each in its own transaction.
func Exec(t testing.TB, address string, statements ...string) {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, address)
	require.NoError(t, err)
	defer func() { _ = c.Close(ctx) }()
	for _, sql := range statements {
		_, err := c.Exec(ctx, sql)
		require.NoError(t, err, sql)
	}
}

// Texts returns the rows of a query with one column of text.
func Texts(t testing.TB, address, sql string, args ...any) []string {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, address)
	require.NoError(t, err)
	defer func() { _ = c.Close(ctx) }()
	rows, err := c.Query(ctx, sql, args...)
	require.NoError(t, err)
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return texts
}

// need skips a test without PostgreSQL, or fails it with CI=true.
func need(t testing.TB) {
	t.Helper()
	if _, err := program("initdb"); err != nil {
		if os.Getenv("CI") == "true" {
			require.NoError(t, err)
		}
		t.Skip(err)
	}
}

// program returns the path of a program of PostgreSQL.
func program(name string) (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			found = append([]string{path}, found...)
		}
	}
	for _, path := range found {
		path = filepath.Join(filepath.Dir(path), name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("the tests of the database need %s: install the package postgresql", name)
}

// version returns the version in a path such as /usr/lib/postgresql/15/bin/initdb.
func version(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

// account is the user of the servers. nil is the user of the tests.
type account struct{ uid, gid int }

// serverAccount returns the user of the servers. PostgreSQL does not run as root.
func serverAccount() (*account, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	return &account{uid, gid}, err
}

// Folder returns a folder of the user of the servers. The end of the test removes it.
func Folder(t testing.TB) string {
	t.Helper()
	need(t)
	s, err := newFolder()
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(s.dir) })
	return s.dir
}

// Command returns a command that runs in a folder as the user of the servers, with the programs of PostgreSQL
// in PATH.
func Command(t testing.TB, dir, name string, args ...string) *exec.Cmd {
	t.Helper()
	as, err := serverAccount()
	require.NoError(t, err)
	initdb, err := program("initdb")
	require.NoError(t, err)
	bin := filepath.Dir(initdb)
	if path := filepath.Join(bin, name); exec.Command(path, "--version").Run() == nil {
		name = path
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
	cmd.SysProcAttr = attributes(as)
	return cmd
}
