//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/test/sample"
)

// leftRepositories are scripts that leave a repository in which git of the user would run the program @.
var leftRepositories = map[string]string{
	"fsmonitor of a gitlink":           "git init -q sub && $commit && git add sub && git -C sub config core.fsmonitor @",
	"an older gitlink":                 "git -C old config core.fsmonitor @",
	"a hook of an older gitlink":       "cp @ old/.git/hooks/post-index-change",
	"another folder for an older":      "mv old/.git old/g && git -C old/g config core.fsmonitor @; echo gitdir: g > old/.git",
	"a common folder of an older":      "cp -r old/.git c && git config --file c/config core.fsmonitor @ && echo ../../c > old/.git/commondir",
	"a linked name of a common folder": "git init -q sub && $commit && git add sub && cp -r sub/.git c && git config --file c/config core.fsmonitor @ && echo ../../c > n && ln -s ../../n sub/.git/commondir",
	"a linked index":                   "git init -q sub && $commit && git add sub && mv .git/index i && ln -s ../i .git/index && git -C sub config core.fsmonitor @",
	"a word in the configuration":      "git init -q near && git init -q near/in && git -C near/in commit -q --allow-empty -m x && git -C near add in && echo '# sha256' >> near/.git/config && git -C near/in config core.fsmonitor @",
	"a folder of the root's git":       "git init -q sub && $commit && git add sub && mv sub/.git .git/x && git config --file .git/x/config core.fsmonitor @ && echo gitdir: ../.git/x > sub/.git",
	"a hook of the same size":          "printf '#!/bin/sh\ntouch %s\nexit\n' 'RAN' > k; truncate -s 200 k; chmod +x k; touch -r user/.git/hooks/post-index-change k; cp -p k user/.git/hooks/post-index-change; rm k; touch user/x",
	"a deep gitlink":                   "mkdir -p a/b && git init -q a/b/sub && (cd a/b && $commit) && git add a && git -C a/b/sub config core.fsmonitor @",
	"a gitlink of a gitlink":           "git init -q sub && git init -q sub/in && (cd sub && $commit && mv sub x; cd in && git commit -q --allow-empty -m x); git -C sub add in; git -C sub commit -q -m x; git add sub; git -C sub/in config core.fsmonitor @",
	"an index of version 4":            "git init -q sub && $commit && git add sub && git update-index --index-version 4 && git -C sub config core.fsmonitor @",
	"a split index":                    "git init -q sub && $commit && git add sub && git update-index --split-index && git -C sub config core.fsmonitor @",
	"another extension":                "git init -q sub && $commit && git add sub && git -C sub config core.fsmonitor @ && git -C sub config extensions.worktreeConfig true",
	"an included file":                 "git init -q sub && $commit && git add sub && printf '[core]\\n\\tfsmonitor = @\\n' > sub/.git/more && git -C sub config include.path more",
	"a header with a setting":          "git init -q sub && $commit && git add sub && echo '[core] fsmonitor = @' >> sub/.git/config",
	"a continued line":                 "git init -q sub && $commit && git add sub && printf '[core]\\n\\tquotepath = t\\\\\\n\\n[core]\\n fsmo\\\\\\nnitor=@\\n\\tfsmonitor = \\\\\\n@\\n' >> sub/.git/config",
	"upper case":                       "git init -q sub && $commit && git add sub && printf '[CORE]\\n\\tFSMonitor=@\\n' >> sub/.git/config",
	"configuration of a worktree":      "git init -q sub && $commit && git add sub && git -C sub config extensions.worktreeConfig true && printf '[core]\\n\\tfsmonitor = @\\n' > sub/.git/config.worktree",
	"a common folder":                  "git init -q sub && $commit && git add sub && cp -r sub/.git sub/c && git -C sub config --file c/config core.fsmonitor @ && echo ../c > sub/.git/commondir",
	"a file instead of a folder":       "git init -q sub && $commit && git add sub && mv sub/.git g && git config --file g/config core.fsmonitor @ && echo gitdir: ../g > sub/.git",
	"a link instead of a folder":       "git init -q sub && $commit && git add sub && mv sub/.git g && git config --file g/config core.fsmonitor @ && ln -s ../g sub/.git",
	"a linked configuration":           "git init -q sub && $commit && git add sub && git -C sub config core.fsmonitor @ && mv sub/.git/config c && ln -s ../../c sub/.git/config",
	"a hook":                           "git init -q sub && $commit && git add sub && mkdir -p sub/.git/hooks && cp @ sub/.git/hooks/post-index-change && touch sub/new",
	"a filter":                         "git init -q sub && $commit && git add sub && echo '* filter=x' > sub/.gitattributes && git -C sub config filter.x.clean @ && git -C sub add .; touch sub/.gitattributes",
	"a neighbour for the editor":       "git init -q near && git -C near config core.fsmonitor @",
	"a hook for the editor":            "git init -q near && mkdir -p near/.git/hooks && cp @ near/.git/hooks/post-index-change",
	"a link to hooks":                  "git init -q near && rm -rf near/.git/hooks && mkdir h && cp @ h/post-index-change && ln -s ../../h near/.git/hooks",
	"a diff of submodules":             "git init -q sub && $commit && git add sub && git -C sub config diff.external @ && echo x > sub/f && git -C sub add f",
	"a program for signatures":         "git init -q sub && $commit && git add sub && git -C sub config gpg.program @ && git -C sub config log.showSignature true",
	"a repository with other rows":     "git init -q sub && $commit && git add sub && git -C sub config remote.o.url x && git -C sub config core.sshCommand @ && git -C sub config core.fsmonitor @",
}

// TestRepositoriesOfCommandsRunNothing leaves repositories, and then runs git in all of them as an editor does.
func TestRepositoriesOfCommandsRunNothing(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	for name, script := range leftRepositories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJail(t, false)
			ran := filepath.Join(t.TempDir(), "ran")
			evil := filepath.Join(j.project, "evil")
			require.NoError(t, os.WriteFile(evil, []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o755))
			gitOf(t, j.project, "init", "-q", ".")
			gitOf(t, j.project, "init", "-q", "old")
			gitOf(t, filepath.Join(j.project, "old"), "commit", "-q", "--allow-empty", "-m", "x")
			gitOf(t, j.project, "add", "old")
			gitOf(t, j.project, "init", "-q", "user")
			hook := filepath.Join(j.project, "user", ".git", "hooks", "post-index-change")
			require.NoError(t, os.MkdirAll(filepath.Dir(hook), 0o755))
			require.NoError(t, os.WriteFile(hook, []byte(fmt.Sprintf("%-200s", "#!/bin/sh\n")), 0o755))
			id := j.thread("workspace-write")
			script = strings.ReplaceAll(script, "RAN", ran)
			script = strings.ReplaceAll(script, "$commit", "git -C sub commit -q --allow-empty -m x")
			identity := "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; "
			command := j.run(id, identity+strings.ReplaceAll(script, "@", evil))
			useGit(t, j.project)
			require.NoFileExists(t, ran, "a repository ran a program; the command ended with %+v", command)
			j.Close()
		})
	}
}

// useGit runs git as a user and an editor do, in the project and in the folders below it.
func useGit(t *testing.T, project string) {
	t.Helper()
	dirs := []string{project}
	entries, err := os.ReadDir(project)
	require.NoError(t, err)
	for _, entry := range entries {
		if entry.IsDir() && entry.Name() != ".git" {
			dirs = append(dirs, filepath.Join(project, entry.Name()))
		}
	}
	for _, dir := range dirs {
		for _, args := range []string{"status", "diff --submodule=diff", "log -p --submodule=diff", "submodule status"} {
			cmd := exec.Command("git", strings.Fields(args)...)
			cmd.Dir = dir
			_, _ = cmd.CombinedOutput() // it may fail in a repository that is damaged
		}
	}
}

func gitOf(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

// TestOrdinaryRepositoriesOfCommandsStay checks that repositories without programs, and those of the user, stay.
func TestOrdinaryRepositoriesOfCommandsStay(t *testing.T) {
	t.Parallel()
	j := newJail(t, false)
	gitOf(t, j.project, "init", "-q", ".")
	gitOf(t, j.project, "init", "-q", "mine")
	gitOf(t, filepath.Join(j.project, "mine"), "config", "core.hooksPath", ".husky")
	id := j.thread("workspace-write")
	j.works(id, "git init -q new && git -C new config user.name a"+
		" && git -C new config remote.origin.url https://example.com/x.git && echo x > mine/file && git -C mine add file && git clone -q new copy")
	for _, repository := range []string{"mine", "new", "copy"} {
		text, err := os.ReadFile(filepath.Join(j.project, repository, ".git", "config"))
		require.NoError(t, err)
		require.NotContains(t, string(text), "disabled")
	}
	// The user changes the repository of the workspace while a command runs.
	j.BeginTurn(id, "run: touch ready; while [ ! -e go ]; do sleep 0.02; done")
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(j.project, "ready"))
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	gitOf(t, j.project, "config", "core.fsmonitor", "of-the-user")
	require.NoError(t, os.WriteFile(filepath.Join(j.project, "go"), nil, 0o644))
	j.AwaitTurn()
	own, err := os.ReadFile(filepath.Join(j.project, ".git", "config"))
	require.NoError(t, err)
	require.Contains(t, string(own), "\tfsmonitor = of-the-user")
	j.BeginTurn(id, "run: git -C new config core.fsmonitor evil && git -C new config user.email a@b")
	require.Contains(t, string(j.UntilMethod("warning").Params), "a command left settings or hooks that can run programs")
	j.AwaitTurn()
	text, err := os.ReadFile(filepath.Join(j.project, "new", ".git", "config"))
	require.NoError(t, err)
	require.Contains(t, string(text), "# disabled: \tfsmonitor = evil")
	require.Contains(t, string(text), "email = a@b")
	j.Close()
}
