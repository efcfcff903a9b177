package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const sampleFile = `package sample

// Mode is how
// it runs.
//
// Fast is better.
type Mode string

// The modes.
const (
	Fast Mode = "fast"
	Slow Mode = "slow"
	Free      = "free"
	Two  Pair = 2
)

type (
	// Pair has a doc in a group.
	Pair struct {
		// Left comes
		// first.
		Left, Right int
		Note string // said beside it
		Bare bool
	}
	Undocumented struct{}
)

// Hidden is a variable, not a type.
var Hidden Mode = "hidden"

// Run is a function.
func Run() {}
`

func sampleDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sample.go"), []byte(sampleFile), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sample_test.go"),
		[]byte("package sample\n\n// Test is of tests.\ntype Test int\n"), 0o644))
	return dir
}

func TestDocsOfTypesAndFields(t *testing.T) {
	src, err := readSource(sampleDir(t))
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"Mode":         "Mode is how it runs.\n\nFast is better.",
		"Pair":         "Pair has a doc in a group.",
		"Pair.Left":    "Left comes first.",
		"Pair.Right":   "Left comes first.",
		"Pair.Note":    "said beside it",
		"Pair.Bare":    "",
		"Undocumented": "",
	}, src.docs)
}

func TestDocsHaveTheNamesOfMembers(t *testing.T) {
	dir := t.TempDir()
	text := strings.ReplaceAll(`package sample

// Model is a model, with Model and OwnID. Hidden and Models stay.
type Model struct {
	// Model is the name. OwnID differs.
	Model  string 'json:"model"'
	OwnID  string 'json:"ownId,omitempty"' // not Model
	Hidden string 'json:"-"'
	Bare   string
}
`, "'", "`")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sample.go"), []byte(text), 0o644))
	src, err := readSource(dir)
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"Model":        "Model is a model, with model and ownId. Hidden and Models stay.",
		"Model.Model":  "model is the name. ownId differs.",
		"Model.OwnID":  "not model",
		"Model.Hidden": "",
		"Model.Bare":   "",
	}, src.docs)
}

func TestWordsAreTypedStringConstants(t *testing.T) {
	src, err := readSource(sampleDir(t))
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"Mode": {"fast", "slow"}}, src.words)
}

func TestSourcesThatAreNotThere(t *testing.T) {
	_, err := readSource(filepath.Join(t.TempDir(), "gone"))
	require.ErrorIs(t, err, errNoSources)
	require.ErrorContains(t, err, "gone")
	_, err = readSource("[")
	require.Error(t, err, "no pattern")
}

func TestEveryDefinitionHasADescription(t *testing.T) {
	for name, n := range collected(t).definitions {
		require.NotEmpty(t, n.Description, name)
	}
}
