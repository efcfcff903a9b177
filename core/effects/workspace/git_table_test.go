package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// tableRepository returns a repository whose refs only git can read. git is a script.
func tableRepository(t *testing.T, script string) (root string) {
	t.Helper()
	root = t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, ".git"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, ".git", "HEAD"), []byte("ref: refs/heads/.invalid\n"), 0o600))
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return root
}

func TestGitIsAskedForRefsInTables(t *testing.T) {
	commit := strings.Repeat("c", 40)
	for name, tt := range map[string]struct {
		script         string
		commit, branch string
	}{
		"branch":    {"echo " + commit + "; echo refs/heads/from/a-table", commit, "from/a-table"},
		"detached":  {"echo " + commit + "; echo HEAD", commit, ""},
		"no commit": {"echo HEAD; exit 128", "", ""},
		"junk":      {"echo junk", "", ""},
		"no git":    {"exit 127", "", ""},
		"much":      {"yes | head -c 1000000", "", ""},
		"where":     {`[ -d .git ] && echo ` + commit, commit, ""},
		"no config": {`case "$*" in *core.hooksPath=/dev/null*core.fsmonitor=false*) echo ` + commit + `;; esac`, commit,
			""},
		"no locks":   {`[ "$GIT_OPTIONAL_LOCKS" = 0 ] && echo ` + commit, commit, ""},
		"not by env": {`[ -z "$GIT_DIR" ] && echo ` + commit, commit, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GIT_DIR", "/elsewhere")
			root := tableRepository(t, tt.script)
			info := describe(t.Context(), root, time.Minute)
			require.Equal(t, &protocol.StoredGitInfo{CommitHash: protocol.OrNil(tt.commit), Branch: protocol.OrNil(tt.branch)},
				info)
		})
	}
}

func TestGitThatHangsIsEnded(t *testing.T) {
	root := tableRepository(t, "exec sleep 1000")
	require.Equal(t, &protocol.StoredGitInfo{}, describe(t.Context(), root, time.Millisecond))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, &protocol.StoredGitInfo{}, describe(ctx, root, time.Minute))
}
