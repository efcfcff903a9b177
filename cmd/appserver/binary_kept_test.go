package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// trusting starts a thread in the project whose commands run unasked and unconfined.
func (p project) trusting(c *client) string {
	p.t.Helper()
	return c.startThread(object{"cwd": p.dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
}

// collect has git throw away all that nothing names.
func (p project) collect() {
	p.t.Helper()
	p.git("gc", "-q", "--prune=now")
}

// TestBinaryForksKeepTheirCheckpoints when the origin is deleted, and git collects its garbage:
// what was ignored, and patched, too.
func TestBinaryForksKeepTheirCheckpoints(t *testing.T) {
	t.Parallel()
	c, _ := startObedient(t)
	p := newRepository(t)
	id := p.trusting(c)
	atFirst := p.files()
	patch := "*** Begin Patch\n*** Update File: out.log\n@@\n-ignored\n+patched\n*** End Patch\n"
	first := c.done(id, runsShell("echo first > doc.txt"), call("apply_patch", object{"input": patch}))
	second := c.done(id, runsShell("echo second > doc.txt; rm gone.txt"))
	told := c.get("thread/diff/read", object{"threadId": id}).Get("diff").Str
	fork := c.threadOf("thread/fork", object{"threadId": id}).ID
	require.Eventually(t, func() bool { return strings.Contains(p.git("for-each-ref"), fork+"/"+second) }, patience, patience/1000)
	c.call("thread/delete", object{"threadId": id})
	p.collect()
	require.Equal(t, told, c.get("thread/diff/read", object{"threadId": fork}).Get("diff").Str)
	c.revertTo(fork, second, "files")
	require.Equal(t, "first\n", p.files()["doc.txt"])
	c.revertTo(fork, first, "both")
	require.Equal(t, atFirst, p.files())
	text, err := os.ReadFile(filepath.Join(p.dir, "out.log"))
	require.NoError(t, err)
	require.Equal(t, "ignored\n", string(text))
	c.close()
}

// TestBinaryKeepsOneCheckpoint: with the least that can be kept the last turn can be taken back,
// and that again, after git has collected its garbage; and the diff of what is forgotten says
// what it lacks, and ends nothing.
func TestBinaryKeepsOneCheckpoint(t *testing.T) {
	t.Parallel()
	c, _ := startObedient(t, "-c", "checkpoints.keep=1")
	p := newRepository(t)
	id := p.trusting(c)
	c.done(id, runsShell("echo only in between > doc.txt"))
	first := p.files()
	second := c.done(id, runsShell("echo second > doc.txt; echo new > new.txt"))
	last := p.files()
	p.collect()
	undo := c.revertTo(id, second, "files").Get("undoCheckpointId").Str
	require.Equal(t, first, p.files())
	p.collect()
	require.Equal(t, "checkpointNotFound", c.refused("thread/checkpoint/revert", object{"threadId": id, "turnId": second, "mode": "files"}).Data.Kind)
	again := c.revertTo(id, undo, "files").Get("undoCheckpointId").Str
	require.Equal(t, last, p.files())
	p.collect()
	c.revertTo(id, again, "files")
	require.Equal(t, first, p.files())
	c.request("thread/diff/read", object{"threadId": id})
	third := c.done(id, runsShell("rm doc.txt"))
	c.revertTo(id, third, "both")
	require.Equal(t, first, p.files())
	c.close()
}

// oddNames are names of files that programs trip over.
var oddNames = []string{"new\nline", "tab\there", `quote"back\slash`, "-rf", ":(top)x", " lead and trail ", "ünï-☃", "[a]*?", "a -> b", "\xff\xfe", ".gitattributes", "sub dir/deep\n/x"}

// TestBinaryCapturesOddFiles: names, sizes and kinds that are rare, changed by a command, told by
// a diff that git takes, and taken back.
func TestBinaryCapturesOddFiles(t *testing.T) {
	t.Parallel()
	c, _ := startObedient(t)
	p := newRepository(t)
	for i, name := range oddNames {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(p.dir, name)), 0o755))
		p.write(name, strings.Repeat("a line of text\n", i))
	}
	require.NoError(t, os.Symlink("doc.txt", filepath.Join(p.dir, "link")))
	require.NoError(t, os.Symlink("nowhere\n", filepath.Join(p.dir, "dangling")))
	p.write(".gitattributes", "* text eol=crlf\n*.bin filter=evil diff=evil\n")
	p.git("config", "filter.evil.clean", "touch "+filepath.Join(p.dir, "evil.log")+"; cat")
	p.git("config", "filter.evil.required", "true")
	p.git("config", "diff.evil.textconv", "touch "+filepath.Join(p.dir, "evil.log")+"; cat")
	p.write("a.bin", "\x00\r\n")
	p.write("empty", "")
	require.NoError(t, os.Remove(filepath.Join(p.dir, "out.log")))
	id := p.trusting(c)
	before := p.textAndLinks()
	const script = `for f in *; do [ -d "$f" ] || [ -L "$f" ] || printf 'changed\r\n' >> "./$f"; done; rm link empty; ln -s gone.txt link; mv dangling moved; ` +
		`printf 'x\0y' > a.bin; : > doc.txt; chmod +x untracked.txt; rm -r 'sub dir'; mkdir empty; echo in > empty/file`
	turn := c.beginTurn(id, does(runsShell(script)))
	end := c.untilMethod("turn/completed")
	require.Contains(t, changed(end), "new\nline")
	require.NotContains(t, string(end.Params), "evil.log")
	require.NoFileExists(t, filepath.Join(p.dir, "evil.log"), "no filter runs")
	after := p.textAndLinks()
	undo := c.revertTo(id, turn, "files").Get("undoCheckpointId").Str
	require.Equal(t, before, p.textAndLinks())
	c.revertTo(id, undo, "files")
	require.Equal(t, after, p.textAndLinks())
	c.close()
}

// textAndLinks are files, and what links lead to.
func (p project) textAndLinks() map[string]string {
	p.t.Helper()
	held := map[string]string{}
	for _, name := range strings.Split(strings.TrimSuffix(p.git("ls-files", "-z", "-co"), "\x00"), "\x00") {
		path := filepath.Join(p.dir, name)
		info, err := os.Lstat(path)
		if err != nil {
			continue // deleted, and tracked
		}
		if target, err := os.Readlink(path); err == nil {
			held[name] = "-> " + target
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(p.t, err)
		held[name] = info.Mode().String() + " " + string(text)
	}
	return held
}

// TestBinaryDiffsOddNames: git takes the diff of files with such names, made and changed.
func TestBinaryDiffsOddNames(t *testing.T) {
	t.Parallel()
	c, _ := startObedient(t)
	p := newRepository(t)
	id := p.trusting(c)
	script := ""
	for _, name := range oddNames {
		script += "mkdir -p " + quote("./"+filepath.Dir(name)) + "; echo '# some' > " + quote("./"+name) + "\n"
	}
	_, end := p.changes(c, id, does(runsShell(script)))
	require.Equal(t, int64(len(oddNames)), gjson.GetBytes(end.Params, "metadata.diff.filesCreated").Int())
	p.changes(c, id, does(runsShell("for f in [!.]*; do [ -d \"./$f\" ] || echo more >> \"./$f\"; done; mv -- -rf 'renamed to'")))
	c.close()
}

// TestBinaryCapturesLargeFiles: one of 100 MiB is captured, changed and restored; the diff that
// would have all of it says that it is cut.
func TestBinaryCapturesLargeFiles(t *testing.T) {
	t.Parallel()
	c, _ := startObedient(t)
	p := newRepository(t)
	large := filepath.Join(p.dir, "large")
	content := bytes.Repeat([]byte("0123456789abcde\n"), 100<<20/16)
	require.NoError(t, os.WriteFile(large, content, 0o644))
	id := p.trusting(c)
	turn := c.done(id, runsShell("echo changed > large; echo small > small.txt"))
	answer := c.get("thread/diff/read", object{"threadId": id})
	require.True(t, answer.Get("cut").Bool())
	require.Equal(t, int64(100<<20/16), answer.Get(`summary.files.#(path=="large").deletions`).Int())
	c.revertTo(id, turn, "files")
	text, err := os.ReadFile(large)
	require.NoError(t, err)
	require.True(t, bytes.Equal(content, text))
	require.NoFileExists(t, filepath.Join(p.dir, "small.txt"))
	c.close()
}

// TestBinaryPassesUnreadableFilesOver: what the server may not read is not captured, and nothing
// else is the worse for it.
func TestBinaryPassesUnreadableFilesOver(t *testing.T) {
	t.Parallel()
	home, p := t.TempDir(), newRepository(t)
	require.NoError(t, os.Mkdir(filepath.Join(p.dir, "closed"), 0o755))
	p.write("closed/in", "x\n")
	p.write("secret", "x\n")
	if os.Geteuid() == 0 {
		give(t, home)
		give(t, p.dir)
	}
	require.NoError(t, os.Chmod(filepath.Join(p.dir, "secret"), 0))
	require.NoError(t, os.Chmod(filepath.Join(p.dir, "closed"), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(p.dir, "closed"), 0o755) })
	require.NoError(t, os.Chmod(filepath.Dir(p.dir), 0o755))
	c := dial(t, asUser(t, offlineCommand(t, home), home))
	c.initialize()
	id := p.trusting(c)
	turn := c.beginTurn(id, "run: echo changed > doc.txt; rm gone.txt")
	end := c.untilMethod("turn/completed")
	require.Equal(t, []string{"doc.txt", "gone.txt"}, changed(end))
	c.revertTo(id, turn, "files")
	text, err := os.ReadFile(filepath.Join(p.dir, "doc.txt"))
	require.NoError(t, err)
	require.Equal(t, "one\ntwo\nthree\n", string(text))
	c.close()
}

// TestBinaryLeavesSubmodulesAlone: what is in them is not captured, told or taken back, while the
// repository around them is.
func TestBinaryLeavesSubmodulesAlone(t *testing.T) {
	t.Parallel()
	c, _ := startObedient(t)
	p, lib := newRepository(t), newRepository(t)
	p.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.dir, "lib")
	id := p.trusting(c)
	turn := c.beginTurn(id, does(runsShell("echo in the library > lib/doc.txt; rm lib/gone.txt; echo here > doc.txt")))
	require.Equal(t, []string{"doc.txt"}, changed(c.untilMethod("turn/completed")))
	c.revertTo(id, turn, "both")
	inLib := project{t, filepath.Join(p.dir, "lib")}
	require.Equal(t, "in the library\n", inLib.files()["doc.txt"])
	require.NotContains(t, inLib.files(), "gone.txt")

	id = inLib.trusting(c)
	turn = c.done(id, runsShell("echo again > doc.txt; git checkout -q -- gone.txt"))
	c.revertTo(id, turn, "both")
	require.Equal(t, "in the library\n", inLib.files()["doc.txt"])
	require.NotContains(t, inLib.files(), "gone.txt")
	require.Empty(t, p.git("for-each-ref", "refs/appserver/"+id), "they are kept in the submodule")
	c.close()
}
