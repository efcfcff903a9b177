//go:build linux

package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"appserver/protocol"
)

func TestPoliciesThatConfineNothing(t *testing.T) {
	for _, p := range []protocol.SandboxPolicyVariant{&protocol.DangerFullAccess{}, &protocol.ExternalSandbox{}} {
		_, confines := For(protocol.SandboxPolicy{SandboxPolicyVariant: p}, Place{Workspace: "/w"})
		require.False(t, confines)
	}
	r, confines := For(protocol.SandboxPolicy{}, Place{Workspace: "/w"})
	require.True(t, confines, "a policy that is not known is the strictest")
	require.Empty(t, r.Writable)
	require.False(t, r.Network)
}

func TestWritableRoots(t *testing.T) {
	at := Place{Workspace: "/w/", Home: "/h", Env: []string{"TMPDIR=/first", "TMPDIR=/t", "OTHER=x"}}
	roots := func(p protocol.WorkspaceWrite) []string {
		r, confines := For(protocol.SandboxPolicy{SandboxPolicyVariant: &p}, at)
		require.True(t, confines)
		return r.Writable
	}
	require.Equal(t, []string{"/t", "/tmp", "/w"}, roots(protocol.WorkspaceWrite{}))
	require.Equal(t, []string{"/t", "/w"}, roots(protocol.WorkspaceWrite{ExcludeSlashTmp: true}))
	require.Equal(t, []string{"/tmp", "/w"}, roots(protocol.WorkspaceWrite{ExcludeTmpdirEnvVar: true}))
	require.Equal(t, []string{"/r", "/t", "/tmp", "/w"},
		roots(protocol.WorkspaceWrite{WritableRoots: []string{"/r/x/..", "relative", "", "/w", "/h"}}))
}

func TestTheHomeIsHiddenUnlessTheWorkIsInIt(t *testing.T) {
	home := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(home, link))
	for workspace, hidden := range map[string]bool{
		"/w": true, filepath.Dir(home): true, home + "x": true, home: false, home + "/work": false, link: false,
	} {
		r, _ := For(protocol.SandboxReadOnly.Policy(), Place{Workspace: workspace, Home: home})
		require.Equal(t, hidden, r.Hidden, workspace)
	}
	w := protocol.WorkspaceWrite{WritableRoots: []string{home + "/worktrees"}}
	r, _ := For(protocol.SandboxPolicy{SandboxPolicyVariant: &w}, Place{Workspace: "/w", Home: home})
	require.False(t, r.Hidden)
}

// repository makes one with the files that a test names.
func repository(t *testing.T, files ...string) string {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(root, ".git"), 0o755))
	for _, name := range files {
		require.NoError(t, os.WriteFile(filepath.Join(root, ".git", name), []byte("[core]\n"), 0o644))
	}
	return root
}

func TestRepositoriesAreProtected(t *testing.T) {
	parts := []string{".git/hooks", ".git/config", ".git/config.worktree", ".git/modules", ".git/worktrees", ".codex",
		".agents"}
	whole := []string{".git", ".codex", ".agents"}
	require.Equal(t, []string{".codex", ".agents"}, protected(t.TempDir()), "there is no repository")

	root := repository(t, "config")
	require.Equal(t, parts, protected(root))
	require.DirExists(t, filepath.Join(root, ".git", "hooks"))
	require.Equal(t, parts, protected(root))

	require.NoError(t, os.WriteFile(filepath.Join(root, ".git", "config"),
		[]byte("[extensions]\n worktreeConfig = true\n"), 0o644))
	require.Equal(t, whole, protected(root), "config.worktree could be made")
	require.NoError(t, os.WriteFile(filepath.Join(root, ".git", "config.worktree"), nil, 0o644))
	require.Equal(t, parts, protected(root))

	require.Equal(t, whole, protected(repository(t)), "config could be made")
	linked := repository(t, "config")
	require.NoError(t, os.Symlink("elsewhere", filepath.Join(linked, ".git", "hooks")))
	require.Equal(t, whole, protected(linked), "the link could be replaced")

	file := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(file, ".git"), []byte("gitdir: /x\n"), 0o644))
	require.Equal(t, whole, protected(file))
}

// TestThePlanHoldsNames of every folder between a root and what is protected in it.
func TestThePlanHoldsNames(t *testing.T) {
	root := repository(t, "config")
	inner := filepath.Join(root, "a", "b", "home")
	require.NoError(t, os.MkdirAll(inner, 0o755))
	require.NoError(t, os.Symlink("/etc", filepath.Join(root, "link")))
	p := newPlan(Rules{Writable: []string{root, root + "/a/ws", root + "/link", "/nowhere"}, Home: inner, Hidden: true})
	require.Equal(t, map[string]access{
		root: written, root + "/.codex": shut, root + "/.agents": shut, root + "/a/ws/.codex": shut, root +
			"/a/ws/.agents": shut,
		root + "/link/.codex": shut, root + "/link/.agents": shut, root + "/.git": held, root + "/.git/hooks": shut, root +
			"/.git/config": shut, root + "/.git/config.worktree": shut,
		root + "/.git/modules": shut, root + "/.git/worktrees": shut,
		root + "/a": held, root + "/a/b": held, inner: hidden, root + "/a/ws": written, root + "/link": written,
	}, map[string]access(p.places), "what a link in a root leads to is no root")
	require.Equal(t, map[string]access{inner: shut}, map[string]access(newPlan(Rules{Home: inner}).places))
}

// TestPlaceholdersStayWhileTheyAreNeeded, by whichever command, and go with the last one.
func TestPlaceholdersStayWhileTheyAreNeeded(t *testing.T) {
	root := t.TempDir()
	rules := Rules{Writable: []string{root}, Kept: []string{root}}
	codex, agents := filepath.Join(root, ".codex"), filepath.Join(root, ".agents")
	first := rules.Placeholders()
	require.Len(t, first, 2)
	second := rules.Placeholders()
	require.Len(t, second, 2)
	first.Release()
	require.DirExists(t, codex)
	second.Release()
	require.NoDirExists(t, codex)
	require.NoDirExists(t, agents)

	require.NoError(t, os.Mkdir(codex, 0o755))
	held := rules.Placeholders()
	require.NoError(t, os.WriteFile(filepath.Join(agents, "mine"), nil, 0o644))
	require.Len(t, held, 1, "a folder of the user's needs none")
	held.Release()
	require.DirExists(t, codex, "a folder of the user's stays, though it is empty")
	require.FileExists(t, filepath.Join(agents, "mine"), "what others put into a placeholder stays")
	require.Empty(t, Rules{Writable: []string{root}}.Placeholders())

	other := t.TempDir()
	require.NoError(t, os.Symlink(root, filepath.Join(other, "link")))
	link := filepath.Join(other, "link")
	require.Empty(t, Rules{Writable: []string{other, link}, Kept: []string{link}}.Placeholders(),
		"a command may have made the link")
	require.NoError(t, os.Symlink("/nowhere", filepath.Join(other, ".codex")))
	require.Len(t, Rules{Writable: []string{other}, Kept: []string{other}}.Placeholders(), 1, "a link is no folder")
}

func TestLinksAreNotOpened(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink("/etc", filepath.Join(dir, "link")))
	_, err := openPath(unix.AT_FDCWD, filepath.Join(dir, "link"))
	require.ErrorIs(t, err, unix.ELOOP)
	_, err = openPath(unix.AT_FDCWD, filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	fd, err := openPath(unix.AT_FDCWD, dir)
	require.NoError(t, err)
	require.NoError(t, unix.Close(fd))
}

// TestTheFilterEnds in a decision wherever a jump leads.
func TestTheFilterEnds(t *testing.T) {
	program, err := Rules{}.filter()
	require.NoError(t, err)
	for i, in := range program {
		if in.Code&0x07 == unix.BPF_JMP {
			require.Less(t, i+1+int(max(in.Jt, in.Jf)), len(program))
		}
	}
	require.Equal(t, allow, program[len(program)-1])
	require.Less(t, len(program), 4096, "the kernel takes no more")
}

func TestRootMapsEverybodyToThemselves(t *testing.T) {
	path := filepath.Join(t.TempDir(), "map")
	require.NoError(t, os.WriteFile(path, []byte("         0     100000      65536\n     70000          5          1\n"),
		0o644))
	maps, err := identity(path)
	require.NoError(t, err)
	require.Len(t, maps, 2)
	require.Equal(t, 70000, maps[1].ContainerID)
	require.Equal(t, 70000, maps[1].HostID, "as this namespace knows it")
	require.NoError(t, os.WriteFile(path, []byte("x\n"), 0o644))
	_, err = identity(path)
	require.ErrorContains(t, err, path)
}
