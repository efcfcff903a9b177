package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// collectGarbage removes all objects without a reference from git.
func collectGarbage(p apptest.Project) {
	p.T.Helper()
	p.Git("gc", "-q", "--prune=now")
}

// TestForkKeepsCheckpoints deletes the origin of a fork and collects garbage. The fork can revert
// ignored and patched files.
func TestForkKeepsCheckpoints(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, _ := apptest.StartScripted(t)
	p := apptest.NewRepository(t)
	id := p.StartTrusted(c)
	atFirst := p.Files()
	patch := "*** Begin Patch\n*** Update File: out.log\n@@\n-ignored\n+patched\n*** End Patch\n"
	first := c.RunScript(id, apptest.ShellCall("echo first > doc.txt"),
		apptest.OneCall("apply_patch", apptest.Object{"input": patch}))
	second := c.RunScript(id, apptest.ShellCall("echo second > doc.txt; rm gone.txt"))
	diff := c.CallJSON("thread/diff/read", apptest.Object{"threadId": id}).Get("diff").Str
	fork := c.CallThread("thread/fork", apptest.Object{"threadId": id}).ID
	require.Eventually(t, func() bool { return strings.Contains(p.Git("for-each-ref"), fork+"/"+second) },
		apptest.Timeout, apptest.Timeout/1000)
	c.Call("thread/delete", apptest.Object{"threadId": id})
	collectGarbage(p)
	require.Equal(t, diff, c.CallJSON("thread/diff/read", apptest.Object{"threadId": fork}).Get("diff").Str)
	c.RevertTo(fork, second, "files")
	require.Equal(t, "first\n", p.Files()["doc.txt"])
	c.RevertTo(fork, first, "both")
	require.Equal(t, atFirst, p.Files())
	text, err := os.ReadFile(filepath.Join(p.Dir, "out.log"))
	require.NoError(t, err)
	require.Equal(t, "ignored\n", string(text))
	c.Close()
}

// TestOneCheckpointRevertsLastTurn keeps a single checkpoint. The last turn can be reverted, and
// the revert undone, after garbage collections. A diff without a checkpoint does not stop the
// server.
func TestOneCheckpointRevertsLastTurn(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, _ := apptest.StartScripted(t, "-c", "checkpoints.keep=1")
	p := apptest.NewRepository(t)
	id := p.StartTrusted(c)
	c.RunScript(id, apptest.ShellCall("echo only in between > doc.txt"))
	first := p.Files()
	second := c.RunScript(id, apptest.ShellCall("echo second > doc.txt; echo new > new.txt"))
	last := p.Files()
	collectGarbage(p)
	undo := c.RevertTo(id, second, "files").Get("undoCheckpointId").Str
	require.Equal(t, first, p.Files())
	collectGarbage(p)
	require.Equal(t, "checkpointNotFound",
		c.CallRejected("thread/checkpoint/revert", apptest.Object{"threadId": id, "turnId": second, "mode": "files"}).Data.Kind)
	again := c.RevertTo(id, undo, "files").Get("undoCheckpointId").Str
	require.Equal(t, last, p.Files())
	collectGarbage(p)
	c.RevertTo(id, again, "files")
	require.Equal(t, first, p.Files())
	c.Request("thread/diff/read", apptest.Object{"threadId": id})
	third := c.RunScript(id, apptest.ShellCall("rm doc.txt"))
	c.RevertTo(id, third, "both")
	require.Equal(t, first, p.Files())
	c.Close()
}

// oddNames are file names that programs often handle incorrectly.
var oddNames = []string{"new\nline", "tab\there", `quote"back\slash`, "-rf", ":(top)x", " lead and trail ", "ünï-☃",
	"[a]*?", "a -> b", "\xff\xfe", ".gitattributes", "sub dir/deep\n/x"}

// TestRevertHandlesOddFiles changes files with rare names, sizes and types by a command. Git can
// apply the notified diff, and the revert restores them.
func TestRevertHandlesOddFiles(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, _ := apptest.StartScripted(t)
	p := apptest.NewRepository(t)
	for i, name := range oddNames {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(p.Dir, name)), 0o755))
		p.Write(name, strings.Repeat("a line of text\n", i))
	}
	require.NoError(t, os.Symlink("doc.txt", filepath.Join(p.Dir, "link")))
	require.NoError(t, os.Symlink("nowhere\n", filepath.Join(p.Dir, "dangling")))
	p.Write(".gitattributes", "* text eol=crlf\n*.bin filter=evil diff=evil\n")
	p.Git("config", "filter.evil.clean", "touch "+filepath.Join(p.Dir, "evil.log")+"; cat")
	p.Git("config", "filter.evil.required", "true")
	p.Git("config", "diff.evil.textconv", "touch "+filepath.Join(p.Dir, "evil.log")+"; cat")
	p.Write("a.bin", "\x00\r\n")
	p.Write("empty", "")
	require.NoError(t, os.Remove(filepath.Join(p.Dir, "out.log")))
	id := p.StartTrusted(c)
	before := textAndLinks(p)
	const script = `for f in *; do [ -d "$f" ] || [ -L "$f" ] || printf 'changed\r\n' >> "./$f"; done; rm link empty; ln -s gone.txt link; mv dangling moved; ` +
		`printf 'x\0y' > a.bin; : > doc.txt; chmod +x untracked.txt; rm -r 'sub dir'; mkdir empty; echo in > empty/file`
	turn := c.BeginTurn(id, apptest.ScriptText(apptest.ShellCall(script)))
	end := c.UntilMethod("turn/completed")
	require.Contains(t, changedPaths(end), "new\nline")
	require.NotContains(t, string(end.Params), "evil.log")
	require.NoFileExists(t, filepath.Join(p.Dir, "evil.log"), "a filter ran")
	after := textAndLinks(p)
	undo := c.RevertTo(id, turn, "files").Get("undoCheckpointId").Str
	require.Equal(t, before, textAndLinks(p))
	c.RevertTo(id, undo, "files")
	require.Equal(t, after, textAndLinks(p))
	c.Close()
}

// textAndLinks returns files, and the targets of links.
func textAndLinks(p apptest.Project) map[string]string {
	p.T.Helper()
	held := map[string]string{}
	for _, name := range strings.Split(strings.TrimSuffix(p.Git("ls-files", "-z", "-co"), "\x00"), "\x00") {
		path := filepath.Join(p.Dir, name)
		info, err := os.Lstat(path)
		if err != nil {
			continue // deleted but tracked
		}
		if target, err := os.Readlink(path); err == nil {
			held[name] = "-> " + target
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(p.T, err)
		held[name] = info.Mode().String() + " " + string(text)
	}
	return held
}

// TestDiffsWithOddNamesApply requires that git applies the diffs of such files.
func TestDiffsWithOddNamesApply(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, _ := apptest.StartScripted(t)
	p := apptest.NewRepository(t)
	id := p.StartTrusted(c)
	script := ""
	for _, name := range oddNames {
		script += "mkdir -p " + apptest.ShellQuote("./"+filepath.Dir(name)) +
			"; echo '# some' > " + apptest.ShellQuote("./"+name) +
			"\n"
	}
	_, end := p.RunChanges(c, id, apptest.ScriptText(apptest.ShellCall(script)))
	require.Equal(t, int64(len(oddNames)), gjson.GetBytes(end.Params, "metadata.diff.filesCreated").Int())
	p.RunChanges(c, id, apptest.ScriptText(apptest.ShellCall("for f in [!.]*; do [ -d \"./$f\" ] || echo more >> \"./$f\"; done; mv -- -rf 'renamed to'")))
	c.Close()
}

// TestRevertHandlesLargeFiles captures, changes and restores a file of 32 MiB. The diff reports
// that it is truncated.
func TestRevertHandlesLargeFiles(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, _ := apptest.StartScripted(t)
	p := apptest.NewRepository(t)
	large := filepath.Join(p.Dir, "large")
	content := bytes.Repeat([]byte("0123456789abcde\n"), 32<<20/16)
	require.NoError(t, os.WriteFile(large, content, 0o644))
	id := p.StartTrusted(c)
	turn := c.RunScript(id, apptest.ShellCall("echo changed > large; echo small > small.txt"))
	answer := c.CallJSON("thread/diff/read", apptest.Object{"threadId": id})
	require.True(t, answer.Get("cut").Bool())
	require.Equal(t, int64(32<<20/16), answer.Get(`summary.files.#(path=="large").deletions`).Int())
	c.RevertTo(id, turn, "files")
	text, err := os.ReadFile(large)
	require.NoError(t, err)
	require.True(t, bytes.Equal(content, text))
	require.NoFileExists(t, filepath.Join(p.Dir, "small.txt"))
	c.Close()
}

// TestUnreadableFilesAreNotCaptured captures a folder with unreadable files. All other files are
// captured.
func TestUnreadableFilesAreNotCaptured(t *testing.T) {
	t.Parallel()
	home, p := t.TempDir(), apptest.NewRepository(t)
	require.NoError(t, os.Mkdir(filepath.Join(p.Dir, "closed"), 0o755))
	p.Write("closed/in", "x\n")
	p.Write("secret", "x\n")
	if os.Geteuid() == 0 {
		apptest.GiveHome(t, home)
		apptest.GiveHome(t, p.Dir)
	}
	require.NoError(t, os.Chmod(filepath.Join(p.Dir, "secret"), 0))
	require.NoError(t, os.Chmod(filepath.Join(p.Dir, "closed"), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(p.Dir, "closed"), 0o755) })
	require.NoError(t, os.Chmod(filepath.Dir(p.Dir), 0o755))
	c := apptest.StartProcess(t, apptest.Unprivileged(t, apptest.OfflineCommand(t, home), home))
	c.Initialize()
	id := p.StartTrusted(c)
	turn := c.BeginTurn(id, "run: echo changed > doc.txt; rm gone.txt")
	end := c.UntilMethod("turn/completed")
	require.Equal(t, []string{"doc.txt", "gone.txt"}, changedPaths(end))
	c.RevertTo(id, turn, "files")
	text, err := os.ReadFile(filepath.Join(p.Dir, "doc.txt"))
	require.NoError(t, err)
	require.Equal(t, "one\ntwo\nthree\n", string(text))
	c.Close()
}

// TestSubmodulesAreNotCaptured changes files in a submodule and around it. Only those around it are
// notified and reverted.
func TestSubmodulesAreNotCaptured(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, _ := apptest.StartScripted(t)
	p, lib := apptest.NewRepository(t), apptest.NewRepository(t)
	p.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Dir, "lib")
	id := p.StartTrusted(c)
	turn := c.BeginTurn(id,
		apptest.ScriptText(apptest.ShellCall("echo in the library > lib/doc.txt; rm lib/gone.txt; echo here > doc.txt")))
	require.Equal(t, []string{"doc.txt"}, changedPaths(c.UntilMethod("turn/completed")))
	c.RevertTo(id, turn, "both")
	inLib := apptest.Project{T: t, Dir: filepath.Join(p.Dir, "lib")}
	require.Equal(t, "in the library\n", inLib.Files()["doc.txt"])
	require.NotContains(t, inLib.Files(), "gone.txt")

	id = inLib.StartTrusted(c)
	turn = c.RunScript(id, apptest.ShellCall("echo again > doc.txt; git checkout -q -- gone.txt"))
	c.RevertTo(id, turn, "both")
	require.Equal(t, "in the library\n", inLib.Files()["doc.txt"])
	require.NotContains(t, inLib.Files(), "gone.txt")
	require.Empty(t, p.Git("for-each-ref", "refs/appserver/"+id), "changes in the submodule stay")
	c.Close()
}
