package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPatchFindsThePatchOfAScript(t *testing.T) {
	for script, want := range map[string][2]string{
		"apply_patch <<'EOF'\n*** Begin Patch\n$x `y` \\\n*** End Patch\nEOF\n": {"",
			"*** Begin Patch\n$x `y` \\\n*** End Patch\n"},
		"apply_patch <<EOF\n*** $(rm x) \\$y\n${z}\nEOF":  {"", "*** $(rm x) \\$y\n${z}\n"},
		"applypatch << \"P\"\nx\nP":                       {"", "x\n"},
		"cd 'a b' && apply_patch <<'EOF'\nx\nEOF":         {"a b", "x\n"},
		"cd /repo/sub && apply_patch <<'EOF'\nx\nEOF\n\n": {"/repo/sub", "x\n"},
		"apply_patch '*** Begin Patch\n+it\\n\n*** End Patch'": {"",
			"*** Begin Patch\n+it\\n\n*** End Patch"},
		"apply_patch \"x\"": {"", "x"},
	} {
		dir, text, ok := Patch(script)
		require.True(t, ok, script)
		require.Equal(t, want, [2]string{dir, text}, script)
	}
}

func TestPatchRejectsScriptsThatDoMore(t *testing.T) {
	for _, script := range []string{
		"", "apply_patch", "echo apply_patch", "apply_patch <<'EOF'\nx\nEOF\nrm y", "apply_patch <<'EOF' && rm y\nx\nEOF",
		"rm y && apply_patch <<'EOF'\nx\nEOF", "cd a || apply_patch <<'EOF'\nx\nEOF",
		"cd $HOME && apply_patch <<'EOF'\nx\nEOF",
		"cd - && apply_patch <<'EOF'\nx\nEOF", "cd a b && apply_patch <<'EOF'\nx\nEOF", "A=1 apply_patch <<'EOF'\nx\nEOF",
		"apply_patch <<'EOF' &\nx\nEOF", "apply_patch <<'EOF' >out\nx\nEOF", "apply_patch \"$x\"", "apply_patch a b",
		"apply_patch <<'EOF",
		"apply_patch < file", "! apply_patch <<'EOF'\nx\nEOF", "cat <<'EOF'\napply_patch\nEOF",
		strings.Repeat(" ", maxPatch) + "apply_patch x",
	} {
		_, _, ok := Patch(script)
		require.False(t, ok, script)
	}
}

// TestPatchRejectsDeepNesting checks that deep nesting does not overflow the
// parser's stack, which would end the process.
func TestPatchRejectsDeepNesting(t *testing.T) {
	for _, open := range []string{"$(", "${a:-", "\"$(", "$((", "$[", "<(", "<<E\n$("} {
		script := "apply_patch " + strings.Repeat(open, maxPatch/len(open)-10)
		_, _, ok := Patch(script)
		require.False(t, ok, open)
	}
}
