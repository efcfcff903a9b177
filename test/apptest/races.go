package apptest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
)

// Under the race detector, what tests build has it, too, and writes what it finds to files: tests
// hold what the server says on stderr against what they expect, and kill many a server before its
// end, whose exit code would tell.

// raceEnabled says that the tests were built with the race detector.
var raceEnabled = func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}()

// RaceFactor is how many times more time and memory the race detector may take.
var RaceFactor = func() int {
	if raceEnabled {
		return 8
	}
	return 1
}()

// watchRaces has the processes that are started from now on write their races to files.
func watchRaces() error {
	if !raceEnabled {
		return nil
	}
	dir, err := racesDir()
	if err != nil {
		return err
	}
	return os.Setenv("GORACE", "atexit_sleep_ms=0 log_path="+filepath.Join(dir, "race"))
}

// racesDir is where servers of any user may write.
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

// reportRaces fails where a server has found a race.
func reportRaces() error {
	if !raceEnabled {
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
