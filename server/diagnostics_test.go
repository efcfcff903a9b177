package server

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// TestDiagnosticsOfASlowClient checks the connection before initialize, and with responses
// that the client does not read.
func TestDiagnosticsOfASlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t)
		defer p.hangUp()
		require.Empty(t, p.server.diagnose())
		require.Empty(t, p.server.Clients())
		p.say(initializeLine, `{"id":1,"method":"thread/read","params":{"threadId":"t"}}`)
		synctest.Wait()
		p.server.Notify(1, protocol.WarningNotification{Message: strings.Repeat("x", maxCongestion)})
		told := p.server.diagnose()
		require.Len(t, told, 1)
		require.Equal(t, []uint64{1}, p.server.Clients())
		require.Equal(t, protocol.ConnectionDiagnostics{ClientName: "test", Unanswered: 1, QueuedBytes: told[0].QueuedBytes,
			Congested: true}, told[0])
		require.Greater(t, told[0].QueuedBytes, maxCongestion)
		go p.listen()
		p.hear()
		require.Equal(t, []protocol.ConnectionDiagnostics{{ClientName: "test", Unanswered: 1}}, p.server.diagnose())
		p.leave()
	})
}
