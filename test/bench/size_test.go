package bench

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// maxProgram is the maximum size of the program, in bytes. A release is not larger: it has the same flags. Logins, keys
// of providers, the table of models and agents that start agents need the last 1.5 MB.
const maxProgram = 37_000_000

func TestTheProgramIsSmall(t *testing.T) {
	if apptest.RaceFactor > 1 {
		t.Skip("the race detector adds code")
	}
	path, err := apptest.Binary()
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.LessOrEqual(t, info.Size(), int64(maxProgram), "go tool nm -size -sort size shows what takes room")
}
