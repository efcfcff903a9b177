package pgtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// StartTLS starts a server that also listens with TLS, on an address of this machine that no other server has.
// The certificate and its key are PEM files. The end of the test stops the server.
func StartTLS(t testing.TB, cert, key string) (s *Server, host string) {
	t.Helper()
	s = Start(t)
	host = fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(250), rand.IntN(250), 1+rand.IntN(250))
	s.writeCertificate(t, cert, key)
	s.write(t, "pg_hba.conf", []byte("local all all trust\nhostssl all all all trust\n"))
	s.settings = []string{"listen_addresses=" + host, "ssl=on", "ssl_cert_file=server.pem", "ssl_key_file=server.key"}
	s.Crash(t)
	s.Restart(t)
	return s, host
}

// ReplaceCertificate makes a server with TLS use another certificate for new connections.
func (s *Server) ReplaceCertificate(t testing.TB, cert, key string) {
	t.Helper()
	s.writeCertificate(t, cert, key)
	s.Exec(t, "SELECT pg_reload_conf()")
}

func (s *Server) writeCertificate(t testing.TB, cert, key string) {
	t.Helper()
	for from, name := range map[string]string{cert: "server.pem", key: "server.key"} {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		s.write(t, name, text)
	}
}

// write writes a file of the server.
func (s *Server) write(t testing.TB, name string, text []byte) {
	t.Helper()
	path := filepath.Join(s.data(), name)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	if s.as != nil {
		require.NoError(t, os.Chown(path, s.as.uid, s.as.gid))
	}
}
