package house

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// commitSubject is the form of the first line of a commit: folders or targets, and the change.
var commitSubject = regexp.MustCompile(`^([\w./-]+(, [\w./-]+)*: \S.*|Merge \S.*|Revert ".*")$`)

// TestHouseCommitsNameTheirFolder checks the first lines of the newest commits. A folder without git has none.
func TestHouseCommitsNameTheirFolder(t *testing.T) {
	git := exec.Command("git", "log", "-n", "100", "--format=%s")
	git.Dir = apptest.Root()
	subjects, err := git.Output()
	if err != nil {
		t.Logf("no commits to check: git log: %v", err)
		return
	}
	for subject := range strings.Lines(string(subjects)) {
		subject = strings.TrimSpace(subject)
		require.Regexp(t, commitSubject, subject, "write dir: what the commit does; CONTRIBUTING.md has the form")
		require.LessOrEqual(t, len(subject), 140, subject)
	}
}

func TestHouseSubjectsOfCommits(t *testing.T) {
	for subject, allowed := range map[string]bool{
		"rollout: sync the folder after a rename": true, "core, .ci/run: test more": true, "Merge lists": true,
		"Correct tests": false, "merge main": false, "rollout:": false, "Merge ": false,
	} {
		require.Equal(t, allowed, commitSubject.MatchString(subject), subject)
	}
}
