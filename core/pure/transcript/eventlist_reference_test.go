//go:build reference

package transcript

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// TestReferenceHasTheEventsOfTheList compares the list with the schema of rollouts that the
// program of the reference implementation writes.
func TestReferenceHasTheEventsOfTheList(t *testing.T) {
	program := os.Getenv("REFERENCE_BINARY")
	require.NotEmpty(t, program, "set REFERENCE_BINARY to the program of the reference implementation")
	dir := t.TempDir()
	command := exec.Command(program, "app-server", "generate-internal-json-schema", "--out", dir)
	command.Env = append(os.Environ(), "CODEX_HOME="+t.TempDir())
	output, err := command.CombinedOutput()
	require.NoError(t, err, string(output))
	schema, err := os.ReadFile(filepath.Join(dir, "RolloutLine.json"))
	require.NoError(t, err)
	var kinds []string
	for _, event := range gjson.GetBytes(schema, "definitions.EventMsg.oneOf.#.properties.type.enum.0").Array() {
		kinds = append(kinds, event.Str)
	}
	require.ElementsMatch(t, kinds, eventTypes(t))
}
