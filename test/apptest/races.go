package apptest

import (
	"fmt"
	"os"
	"path/filepath"

	"appserver/test/sample"
)

// Under the race detector, the programs that tests build have it as well, and write races to files.
// Their stderr and exit code cannot be used: tests compare stderr, and kill many servers.

// RaceFactor is the factor of time and memory that the race detector may cost.
var RaceFactor = func() int {
	if sample.Racing {
		return 8
	}
	return 1
}()

// watchRaces makes processes that start later write races to files.
func watchRaces() error {
	if !sample.Racing {
		return nil
	}
	dir, err := racesDir()
	if err != nil {
		return err
	}
	return os.Setenv("GORACE", "atexit_sleep_ms=0 log_path="+filepath.Join(dir, "race"))
}

// racesDir returns a folder in which servers of any user can write.
func racesDir() (string, error) {
	built, err := BuildDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(built, "races")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o777)
}

// reportRaces returns an error if a server detected a race.
func reportRaces() error {
	if !sample.Racing {
		return nil
	}
	dir, err := racesDir()
	if err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(dir, "race.*"))
	if err != nil || len(found) == 0 {
		return err
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		return err
	}
	return fmt.Errorf("%d processes found races, one of them:\n%s", len(found), text)
}
