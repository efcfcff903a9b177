package fleet

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout/postgres/pgtest"
	"appserver/test/apptest"
)

// secrets are the files that deploy/secrets.sh writes, and the variables of .env.
type secrets struct {
	dir   string
	files map[string]string
	env   map[string]string
}

// newSecrets runs deploy/secrets.sh.
func newSecrets(t *testing.T) secrets {
	t.Helper()
	s := secrets{dir: t.TempDir(), files: map[string]string{}, env: map[string]string{}}
	copyScript(t, "secrets.sh", s.dir)
	out, err := s.run()
	require.NoError(t, err, "%s", out)
	entries, err := os.ReadDir(s.dir)
	require.NoError(t, err)
	for _, entry := range entries {
		if entry.Name() == "secrets.sh" {
			continue
		}
		info, err := entry.Info()
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), entry.Name())
		text, err := os.ReadFile(filepath.Join(s.dir, entry.Name()))
		require.NoError(t, err)
		s.files[entry.Name()] = string(text)
	}
	for line := range strings.Lines(s.files[".env"]) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		s.env[name] = value
	}
	return s
}

func (s secrets) run() ([]byte, error) {
	return exec.Command("sh", filepath.Join(s.dir, "secrets.sh")).CombinedOutput()
}

// copyScript copies a script of deploy into a folder, where another user can read it.
func copyScript(t *testing.T, name, dir string) string {
	t.Helper()
	text, err := os.ReadFile(apptest.Root("deploy", name))
	require.NoError(t, err)
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, text, 0o755))
	return path
}

// TestSecretsAreMadeOnce requires all variables without which deploy/compose.yaml does not start, and that a
// second run changes none.
func TestSecretsAreMadeOnce(t *testing.T) {
	t.Parallel()
	s := newSecrets(t)
	text, err := os.ReadFile(apptest.Root("deploy/compose.yaml"))
	require.NoError(t, err)
	for _, found := range variable.FindAllStringSubmatch(string(text), -1) {
		if found[2] == "?" {
			require.GreaterOrEqual(t, len(s.env[found[1]]), 32, found[1])
		}
	}
	require.Equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte(s.files["client-token"]))), s.env["CLIENT_TOKEN_SHA256"])
	out, err := s.run()
	require.Error(t, err)
	require.Contains(t, string(out), ".env exists")
	again, err := os.ReadFile(filepath.Join(s.dir, ".env"))
	require.NoError(t, err)
	require.Equal(t, s.files[".env"], string(again))
}

// database is a server of PostgreSQL as deploy/compose.yaml starts it, without a container.
type database struct {
	t    *testing.T
	name string
	// dir has the socket, the script and PGDATA. Both servers use the folder of the primary for their sockets.
	dir, sockets, port string
	env                []string
	cmd                *exec.Cmd
}

// newDatabase returns a server with the environment of its service.
func newDatabase(t *testing.T, name, sockets string, secret map[string]string) *database {
	t.Helper()
	_, port, err := net.SplitHostPort(apptest.FreeAddress(t))
	require.NoError(t, err)
	d := &database{t: t, name: name, dir: pgtest.Folder(t), port: port}
	d.sockets = sockets
	if sockets == "" {
		d.sockets = d.dir
	}
	for variable, value := range readCompose(t).Services[name].Environment {
		if variable == "PGDATA" {
			value = d.data()
		}
		d.env = append(d.env, variable+"="+interpolate(t, value, secret))
	}
	d.env = append(d.env, "PGHOST="+d.sockets, "PGPORT="+port)
	return d
}

func (d *database) data() string { return filepath.Join(d.dir, "data", "pgdata") }

func (d *database) command(name string, args ...string) *exec.Cmd {
	cmd := pgtest.Command(d.t, d.dir, name, args...)
	cmd.Env = append(cmd.Env, d.env...)
	return cmd
}

func (d *database) run(name string, args ...string) {
	d.t.Helper()
	out, err := d.command(name, args...).CombinedOutput()
	require.NoError(d.t, err, "%s: %s", name, out)
}

// start starts the server. The end of the test stops it.
func (d *database) start(cmd *exec.Cmd) {
	d.t.Helper()
	d.cmd = cmd
	require.NoError(d.t, cmd.Start())
	d.t.Cleanup(func() { d.stop(syscall.SIGQUIT) })
}

func (d *database) stop(s syscall.Signal) {
	_ = d.cmd.Process.Signal(s) // it may have ended
	_ = d.cmd.Wait()
}

// awaitHealth runs the health check of the service until it succeeds.
func (d *database) awaitHealth() {
	d.t.Helper()
	check := readCompose(d.t).Services[d.name].Healthcheck.Test
	require.Equal(d.t, "CMD", check[0])
	require.Eventually(d.t, func() bool { return d.command(check[1], check[2:]...).Run() == nil }, time.Minute,
		100*time.Millisecond, "the health check of %s fails", d.name)
}

// newPrimary prepares a primary as the image of PostgreSQL does, with deploy/primary.sh, and starts it. Connections
// of other machines need a password.
func newPrimary(t *testing.T, secret map[string]string) *database {
	t.Helper()
	d := newDatabase(t, "primary", "", secret)
	d.run("mkdir", "-p", filepath.Dir(d.data()))
	d.run("initdb", "-D", d.data(), "--username=postgres", "--auth=trust", "--no-sync")
	hba := "local all all trust\nhost all all all scram-sha-256\n" // without initdb's lines for the own machine
	require.NoError(t, os.WriteFile(filepath.Join(d.data(), "pg_hba.conf"), []byte(hba), 0o600))
	settings := "\nlisten_addresses = '127.0.0.1'\nshared_buffers = 16MB\nunix_socket_directories = '" + d.sockets + "'\n"
	file, err := os.OpenFile(filepath.Join(d.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(settings)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	d.start(d.command("postgres", "-D", d.data(), "-c", "listen_addresses="))
	require.Eventually(t, func() bool { return d.command("pg_isready").Run() == nil }, time.Minute, 50*time.Millisecond)
	d.run("sh", copyScript(t, "primary.sh", d.dir))
	d.stop(syscall.SIGINT)
	d.start(d.command("postgres", "-D", d.data()))
	d.awaitHealth()
	return d
}

// newStandby starts deploy/standby.sh beside the rest of an interrupted copy.
func newStandby(t *testing.T, primary *database, secret map[string]string) *database {
	t.Helper()
	d := newDatabase(t, "standby", primary.sockets, secret)
	d.env = append(d.env, "PRIMARY=127.0.0.1", "PRIMARY_PORT="+primary.port)
	d.run("mkdir", "-p", d.data()+".new/rest")
	copyScript(t, "standby.sh", d.dir)
	d.startScript()
	return d
}

// startScript runs the entrypoint of the service.
func (d *database) startScript() {
	d.t.Helper()
	entrypoint := readCompose(d.t).Services[d.name].Entrypoint
	d.start(d.command(entrypoint[0], d.dir+entrypoint[1]))
	d.awaitHealth()
}

// url returns the URL of the database as the nodes have it in deploy/compose.yaml.
func (d *database) url(secret map[string]string) string {
	d.t.Helper()
	value := readCompose(d.t).Services["node-a"].Environment["APPSERVER_STORE_URL"]
	u, err := url.Parse(interpolate(d.t, value, secret))
	require.NoError(d.t, err)
	require.Equal(d.t, d.name, u.Host)
	u.Host = "127.0.0.1:" + d.port
	return u.String()
}

// superuser returns the URL of a database for the user postgres.
func (d *database) superuser(name string) string {
	return "postgres://postgres@/" + name + "?" + url.Values{"host": {d.sockets}, "port": {d.port}}.Encode()
}

// awaitSync waits until the standby of deploy/standby.sh is synchronous.
func (d *database) awaitSync() {
	d.t.Helper()
	const sql = "SELECT sync_state FROM pg_stat_replication WHERE application_name = 'standby' AND state = 'streaming'"
	require.Eventually(d.t, func() bool {
		return strings.Join(pgtest.Texts(d.t, d.superuser("postgres"), sql), "") == "sync"
	}, time.Minute, 50*time.Millisecond, "the standby is not synchronous")
}

// TestScriptsOfTheDeploymentMakeAPrimaryAndAStandby runs primary.sh and standby.sh. The standby starts again
// without another copy, and gets what was written meanwhile.
func TestScriptsOfTheDeploymentMakeAPrimaryAndAStandby(t *testing.T) {
	t.Parallel()
	secret := newSecrets(t).env
	primary := newPrimary(t, secret)
	standby := newStandby(t, primary, secret)
	primary.awaitSync()
	own := primary.url(secret)
	require.Equal(t, []string{"standby"}, pgtest.Texts(t, own, "SHOW synchronous_standby_names"))
	require.Equal(t, []string{"true"}, pgtest.Texts(t, standby.superuser("appserver"), "SELECT pg_is_in_recovery()::text"))
	require.Equal(t, []string{"standby true"}, pgtest.Texts(t, primary.superuser("postgres"),
		"SELECT slot_name || ' ' || active FROM pg_replication_slots"))
	require.Equal(t, []string{"pg_trgm"}, pgtest.Texts(t, own, "SELECT extname::text FROM pg_extension WHERE extname = 'pg_trgm'"))
	status := func(url string) (string, error) {
		cmd := apptest.ServerCommand(t, t.TempDir(), "store", "-c", "store.kind=postgres", "status")
		cmd.Env = append(cmd.Env, "APPSERVER_STORE_URL="+url)
		return printed(cmd)
	}
	text, err := status(own)
	require.NoError(t, err, text)
	require.Contains(t, text, "synchronous standbys: standby")
	_, err = status(strings.Replace(own, secret["POSTGRES_PASSWORD"], "wrong", 1))
	require.Error(t, err, "a wrong password")

	require.NoFileExists(t, filepath.Join(standby.data(), "rest"))
	marker := filepath.Join(standby.data(), "marker")
	require.NoError(t, os.WriteFile(marker, nil, 0o644))
	standby.stop(syscall.SIGINT)
	pgtest.Exec(t, own, "SET synchronous_commit = local", "CREATE TABLE written (n int)")
	standby.startScript()
	primary.awaitSync()
	require.FileExists(t, marker, "the standby was copied again")
	pgtest.Exec(t, own, "INSERT INTO written VALUES (1)") // waits for the standby
	require.Eventually(t, func() bool {
		const sql = "SELECT count(*)::text FROM written"
		return pgtest.Texts(t, standby.superuser("appserver"), sql)[0] == "1"
	}, time.Minute, 50*time.Millisecond)
}
