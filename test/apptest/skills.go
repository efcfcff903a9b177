package apptest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// WriteSkill writes a skill into a folder and returns the path of its file.
func WriteSkill(t *testing.T, dir, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	path := filepath.Join(dir, "SKILL.md")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// SkillText is the file of the skill release.
const SkillText = "---\nname: release\ndescription: How to release\n---\nRun the tests.\n"

// Texts returns the content of each message, in JSON if it is not a string.
func (r ChatRequest) Texts(t *testing.T) (texts []string) {
	t.Helper()
	for _, raw := range r.Messages {
		var m struct{ Content json.RawMessage }
		require.NoError(t, json.Unmarshal(raw, &m))
		text := ""
		if json.Unmarshal(m.Content, &text) != nil {
			text = string(m.Content)
		}
		texts = append(texts, text)
	}
	return texts
}
