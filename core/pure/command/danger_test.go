package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// dangerousScripts need an approval in the reference implementation as well, except the last ones,
// which it misses.
var dangerousScripts = []string{
	"rm -f x",
	"rm -fr x",
	"rm -r -f x",
	"rm x -rf",
	"rm --force x",
	"/bin/rm -rf x",
	"sudo rm -rf x",
	"env A=b rm -rf x",
	"ls && rm -rf x",
	"rm -rf x | cat",
	"(rm -rf x)",
	"x=1 rm -rf y",
	`for i in a; do rm -rf "$i"; done`,
	`echo "$(rm -rf x)"`,
	`bash -c "rm -rf x"`,
	`sh -ec 'ls; rm -rf x'`,
	"cat <<E\n" + strings.Repeat("text\n", 5000) + "E\nrm -rf x",

	"sudo -u me rm -rf x",
	"timeout 5 rm -rf x",
	`r\m -rf x`,
	"rm --forc x",
	"command rm -rf x",
	"eval 'rm -rf x'",
	"xargs rm -rf </dev/null",
}

func TestDangerous(t *testing.T) {
	for _, script := range dangerousScripts {
		require.True(t, Dangerous(script), "%.60s", script)
		require.False(t, Safe(script), "%.60s", script)
	}
	for _, script := range []string{
		"", "ls", "rm x", "rm -r x", "rm -- -f", "rmdir x", "git rm -f x", "echo rm -rf x", "grep -f rm x", "sudo ls -f",
		"find . -delete",
		"bash -c 'rm x'", "bash rm -f", "rm '", strings.Repeat("(", 10_000) + "rm -rf x",
		strings.Repeat("eval ", 2000) + "rm -rf x",
	} {
		require.False(t, Dangerous(script), "%.60s", script)
	}
}

func FuzzDangerous(f *testing.F) {
	for _, script := range dangerousScripts {
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script string) {
		if Dangerous(script) {
			require.Contains(t, script, "m", "nothing is dangerous without an rm")
		}
	})
}
