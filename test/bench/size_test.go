package bench

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// maxProgram is the maximum size of the program, in bytes. A release is not larger: it has the same flags. Logins, keys
// of providers and the table of models need the last megabyte.
const maxProgram = 36_500_000

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
