//go:build windows && wine

package osfile

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
)

// replaceInTwoSteps moves the open file away first. Wine 8 replaces no open file, and is for tests only.
func replaceInTwoSteps(path, to string) error {
	away := filepath.Join(os.TempDir(), rand.Text())
	return errors.Join(os.Rename(to, away), os.Rename(path, to), os.Remove(away))
}
