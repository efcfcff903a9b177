package patch

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamesOfWindowsAreCleaned(t *testing.T) {
	for name, want := range map[string]string{
		`src\main.go`:        "src/main.go",
		"src/main.go":        "src/main.go",
		`C:\repo\a.txt`:      "a.txt",
		"c:/repo/a.txt":      "a.txt",
		`D:\a.txt`:           `D:\a.txt`,
		`\etc\passwd`:        `C:\etc\passwd`,
		"/etc/passwd":        `C:\etc\passwd`,
		`..\a.txt`:           `C:\a.txt`,
		`\\host\share\a.txt`: `\\host\share\a.txt`,
	} {
		got, err := cleanPath(`C:\repo`, name, 1)
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
	for _, name := range []string{`.git\config`, "C:/repo/.GIT/config", `src\`, "a.txt:stream/.git/x"} {
		_, err := cleanPath(`C:\repo`, name, 1)
		require.Error(t, err, name)
	}
}
