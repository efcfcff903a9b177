package fleet

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout/postgres/pgtest"
	"appserver/test/apptest"
	"appserver/test/partition"
)

// requireRefused requires that a server with a database ends before it listens, with texts in its error.
func requireRefused(t *testing.T, url string, args []string, want ...string) {
	t.Helper()
	home := t.TempDir()
	cmd := command(t, home, url, append([]string{"--listen", "unix://" + home + "/s"}, args...)...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	defer time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }).Stop()
	require.Error(t, cmd.Wait())
	require.NoFileExists(t, home+"/s")
	for _, text := range want {
		require.Contains(t, out.String(), text)
	}
}

// storeFails returns the error of appserver store, or "".
func storeFails(t *testing.T, url string, args ...string) string {
	t.Helper()
	cmd := storeCommand(t, t.TempDir(), url, args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	_ = cmd.Run()
	return errs.String()
}

// withTLS returns the URL of the database postgres on a host.
func withTLS(host string, options ...string) string {
	query := url.Values{}
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		query.Set(name, value)
	}
	return "postgres://postgres@" + host + "/postgres?" + query.Encode()
}

// TestCertificatesThatDoNotFitAreRefusedBeforeTheServerListens names the option of the URL that does not fit.
func TestCertificatesThatDoNotFitAreRefusedBeforeTheServerListens(t *testing.T) {
	t.Parallel()
	authority := apptest.NewAuthority(t)
	cert, key := authority.Issue(t, "db.example", -time.Hour, time.Hour)
	database, host := pgtest.StartTLS(t, cert, key)
	root := "sslrootcert=" + authority.File
	const variable = "(the environment variable APPSERVER_STORE_URL has the URL)"
	refused := func(url string, want ...string) {
		t.Helper()
		requireRefused(t, url, nil, append(want, "store.url_env: ", variable)...)
	}
	refused(withTLS(host, "sslmode=verify-ca", "sslrootcert="+apptest.NewAuthority(t).File), "is of an authority that is not trusted", "set sslrootcert in the URL")
	refused(withTLS(host, "sslmode=verify-full", root), `is not for the host "`+host+`"`,
		"use a host name of the certificate in the URL")
	refused(withTLS(host, "sslmode=verify-ca", "sslrootcert="+key), "the options for TLS in the URL are not valid",
		"correct sslmode, sslrootcert")
	refused(withTLS(host, "sslmode=verify-ca", "sslrootcert=/no/such/file"), "/no/such/file: no such file")
	refused(withTLS(host, "sslmode=disable"), `does not accept user "postgres"`, "no encryption", "correct the user and sslmode")
	plain := partition.New(t, "unix", database.Socket()) // PostgreSQL refuses TLS on its socket
	refused(withTLS(plain.Address(), "sslmode=require"), "does not use TLS", "set ssl = on on the server")

	fits := withTLS(host, "sslmode=verify-ca", root)
	n := startNode(t, t.TempDir(), fits)
	require.Equal(t, "completed", n.Turn(n.StartTrusted(), "say hello").Status)
	n.Close()
	cert, key = authority.Issue(t, "db.example", -2*time.Hour, -time.Hour)
	database.ReplaceCertificate(t, cert, key)
	for deadline := time.Now().Add(patience); !strings.Contains(storeFails(t, fits, "status"), "is not valid now"); {
		require.True(t, time.Now().Before(deadline), "the server uses the new certificate")
	}
	refused(fits, "is not valid now", "renew the certificate on the server")
}

// TestRolesWithoutRightsAreRefusedBeforeTheServerListens names the role, the right and the action.
func TestRolesWithoutRightsAreRefusedBeforeTheServerListens(t *testing.T) {
	t.Parallel()
	database := pgtest.Start(t)
	url := database.Database(t)
	store(t, t.TempDir(), url, "init")
	pgtest.Exec(t, url, `CREATE ROLE "only reads" LOGIN`, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO "only reads"`,
		"CREATE ROLE nothing LOGIN", "CREATE ROLE careful LOGIN", "ALTER ROLE careful SET default_transaction_read_only = on",
		"GRANT ALL ON ALL TABLES IN SCHEMA public TO careful")
	as := func(role string) string { return pgtest.As(t, url, role) }
	requireRefused(t, as("only reads"), nil, "store.url_env: ", `role "only reads" lacks the right DELETE on table head, and `,
		`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "only reads"`, "APPSERVER_STORE_URL")
	requireRefused(t, as("nothing"), nil, "store.url_env: ", `role "nothing" lacks a right`, "GRANT SELECT, INSERT",
		"TO nothing", "APPSERVER_STORE_URL")
	requireRefused(t, as("careful"), nil, "store.url_env: ", `the transactions of role "careful" are read-only`,
		"ALTER ROLE careful RESET default_transaction_read_only")
	require.Contains(t, store(t, t.TempDir(), as("only reads"), "status"), "threads: 0\n", "a status needs no right to write")
	require.Contains(t, storeFails(t, as("nothing"), "status"), `store.url_env: role "nothing" lacks a right`)
}

// TestAStandbyThatDoesNotConfirmIsRefusedBeforeTheServerListens suspends a standby that stays connected.
func TestAStandbyThatDoesNotConfirmIsRefusedBeforeTheServerListens(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	url, standby := p.url(), p.servers[1]
	status := func() string { return store(t, t.TempDir(), url, "status", "-c", "store.require_sync_standby=true") }
	require.Contains(t, status(), "synchronous standbys: "+standbyName+"\n")
	standby.Pause(t)
	require.Contains(t, status(), "tables: version 0 of 3: run appserver store migrate")
	for _, required := range []string{"true", "false"} { // the primary waits in both cases
		requireRefused(t, url, []string{"-c", "store.require_sync_standby=" + required},
			"store.require_sync_standby: ", "the standby does not confirm writes", "check that the standby runs",
			"synchronous_standby_names")
	}
	require.Contains(t, storeFails(t, url, "migrate"), "store.require_sync_standby: the standby does not confirm writes")
	standby.Resume(t)
	n := apptest.StartProcess(t, command(t, t.TempDir(), url, "-c", "store.require_sync_standby=true"))
	n.Initialize()
	n.Close()
}
