package skill_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/skill"
	"appserver/test/posix"
)

// inTime fails if look takes too long for a list.
func inTime(t *testing.T, look func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		look()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end")
	}
}

// TestFindDoesNotBlock checks that no file in the place of a skill blocks the list: no pipe without
// a writer, and no endless device.
func TestFindDoesNotBlock(t *testing.T) {
	dir := t.TempDir()
	skills := dir + "/.agents/skills"
	put(t, skills+"/good/SKILL.md", plain("good"))
	put(t, skills+"/half/SKILL.md", plain("half"))
	put(t, skills+"/zero/SKILL.md", plain("zero"))
	require.NoError(t, posix.Mkfifo(skills+"/pipe", 0o600))
	require.NoError(t, os.Symlink(skills+"/pipe", skills+"/to-pipe"))
	require.NoError(t, os.MkdirAll(skills+"/half/agents", 0o700))
	require.NoError(t, posix.Mkfifo(skills+"/half/agents/openai.yaml", 0o600))
	require.NoError(t, os.MkdirAll(skills+"/zero/agents", 0o700))
	for link, to := range map[string]string{"zero/agents/openai.yaml": "/dev/zero", "to-zero": "/dev/zero",
		"zz-proc": "/proc/self", "to-tty": "/dev/tty"} {
		require.NoError(t, os.Symlink(to, filepath.Join(skills, link)))
	}
	require.NoError(t, os.MkdirAll(dir+"/.codex", 0o700))
	require.NoError(t, posix.Mkfifo(dir+"/.codex/skills", 0o600))
	inTime(t, func() { require.Equal(t, []string{"repo:good", "repo:half", "repo:zero"}, found(dir, skill.Places{})) })
	inTime(t, func() { found(dir, skill.Places{Extra: []string{"/dev", "/proc", skills + "/pipe", "/dev/zero"}}) })
}

// TestFindReadsHugeFilesInTime checks that files within the bounds are read in time, whatever their
// content.
func TestFindReadsHugeFilesInTime(t *testing.T) {
	const room, head = 256<<10 - 64, 16<<10 - 64
	for name, tt := range map[string]struct{ text, problem string }{
		"lines":    {plain("many") + strings.Repeat("\n", 200_000), ""},
		"no end":   {"---\n" + strings.Repeat("a: b\n", room/5), "missing YAML frontmatter"},
		"brackets": {"---\nname: " + strings.Repeat("[", head) + "\n---\n", "invalid YAML"},
		"braces":   {"---\nname: " + strings.Repeat("{a: ", head/4) + "\n---\n", "invalid YAML"},
		"dashes":   {"---\nname: x\ndescription: y\nother:\n" + strings.Repeat(" -", head/2) + "\n---\n", ""},
		"indented": {"---\nother:\n" + deeper(170) + "\n---\n", "missing field"},
		"unquoted colons": {"---\nname: x\ndescription: " + strings.Repeat("a: ", head/3) + "\n---\n",
			"exceeds maximum length"},
		"lines of colons": {"---\nname: x\n" + strings.Repeat("k: a: b\n", head/9) + "---\n", "invalid YAML"},
		"a long value":    {"---\nname: x\nmetadata: " + strings.Repeat("x", head) + "\n---\n", "invalid YAML"},
		"a long key": {"---\n" + strings.Repeat("k", head/3) + ": x\n" + strings.Repeat("k", head/3) + ": y\n---\n",
			"invalid YAML"},
		"other keys": {"---\nname: x\ndescription: y\n" + otherKeys(head/16) + "---\n", ""},
		"many keys":  {"---\nname: x\n" + strings.Repeat("a:\n", head/4) + "---\n", "invalid YAML"},
		"comments":   {"---\nname: x\n" + strings.Repeat("#\n", head/2) + "description: y\n---\n", ""},
		"more than that": {"---\nname: x\n" + strings.Repeat("a:\n", room/4) + "---\n",
			"the YAML is larger than 16384 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir+"/.agents/skills/a/SKILL.md", tt.text)
			inTime(t, func() {
				skills, problems := skill.Find(dir, skill.Places{})
				if tt.problem == "" {
					require.Empty(t, problems)
					require.Len(t, skills, 1)
					return
				}
				require.Len(t, problems, 1)
				require.Contains(t, problems[0].Message, tt.problem)
				require.Less(t, len(problems[0].Message), 2000, "clients show it")
			})
		})
	}
}

func otherKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d:\n", i)
	}
	return b.String()
}

// deeper returns YAML in which each line is nested in the previous one.
func deeper(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i+1) + "a:\n")
	}
	return b.String()
}

// TestFindExpandsNoBomb checks that nested aliases do not fill the memory.
func TestFindExpandsNoBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("---\nname: x\ndescription: y\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 30 {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	b.WriteString("metadata: *a30\n---\n")
	dir := t.TempDir()
	put(t, dir+"/.agents/skills/a/SKILL.md", b.String())
	inTime(t, func() {
		skills, problems := skill.Find(dir, skill.Places{})
		require.Equal(t, 1, len(skills)+len(problems))
	})
}

// TestFindIsBoundedInWidth checks that a huge tree below one root ends, and hides nothing of the
// other roots.
func TestFindIsBoundedInWidth(t *testing.T) {
	dir := t.TempDir()
	for i := range 2200 {
		require.NoError(t, os.MkdirAll(fmt.Sprintf("%s/.agents/skills/%04d", dir, i), 0o700))
	}
	put(t, dir+"/.agents/skills/0000/SKILL.md", plain("first"))
	put(t, dir+"/.agents/skills/2199/SKILL.md", plain("last"))
	put(t, dir+"/home/skills/mine/SKILL.md", plain("mine"))
	require.Equal(t, []string{"repo:first", "user:mine"}, found(dir, skill.Places{Home: dir + "/home"}))
}

// TestFindAcceptsUnquotedColons checks descriptions with a colon, which most skills have.
func TestFindAcceptsUnquotedColons(t *testing.T) {
	for text, want := range map[string]string{
		"description: Use when: asked":                               "Use when: asked",
		"description: It's for: the user's eyes":                     "It's for: the user's eyes",
		"description: Say \"a: b\" # twice: so":                      `Say "a: b" # twice: so`,
		"description: 'Quoted: well'":                                "Quoted: well",
		"description: >-\n  Folded: text\n  of two: lines":           "Folded: text of two: lines",
		"other: see: this\ndescription: Plain":                       "Plain",
		"description: Use when: asked\r":                             "Use when: asked",
		"metadata:\n  short-description: a: b\ndescription: D: long": "D: long",
	} {
		dir := t.TempDir()
		put(t, dir+"/.agents/skills/a/SKILL.md", "---\nname: a\n"+text+"\n---\nBody: not YAML: at all\n")
		skills, problems := skill.Find(dir, skill.Places{})
		require.Empty(t, problems, text)
		require.Len(t, skills, 1, text)
		require.Equal(t, want, skills[0].Description)
		require.Equal(t, "a", skills[0].Name)
	}
	dir := t.TempDir()
	put(t, dir+"/.agents/skills/a/SKILL.md", "---\nname: a\ndescription: a: b\nother: [\n---\n")
	_, problems := skill.Find(dir, skill.Places{})
	require.Len(t, problems, 1, "what is broken elsewhere is told as it stands")
	require.Contains(t, problems[0].Message, "invalid YAML")
}

// TestFindListsAllSkillsOfOneName checks that all skills of one name are listed: the user chooses one.
func TestFindListsAllSkillsOfOneName(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/.agents/skills/2/SKILL.md", plain("twin"))
	put(t, dir+"/.agents/skills/1/SKILL.md", plain("twin"))
	put(t, dir+"/home/skills/twin/SKILL.md", plain("twin"))
	skills, _ := skill.Find(dir, skill.Places{Home: dir + "/home"})
	var paths []string
	for _, s := range skills {
		paths = append(paths, s.Scope+strings.TrimPrefix(s.Path, dir))
	}
	require.Equal(
		t,
		[]string{"repo/.agents/skills/1/SKILL.md", "repo/.agents/skills/2/SKILL.md", "user/home/skills/twin/SKILL.md"},
		paths,
	)
}

// TestFindReturnsValidUTF8 checks that clients get UTF-8 for any file name.
func TestFindReturnsValidUTF8(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/.agents/skills/b\xffd/SKILL.md", "---\ndescription: x\xffy\n---\n")
	put(t, dir+"/.agents/skills/new\nline/SKILL.md", "---\ndescription: \"a\\nb\\u0000\"\n---\n")
	skills, _ := skill.Find(dir, skill.Places{})
	require.NotEmpty(t, skills)
	for _, s := range skills {
		require.True(t, utf8.ValidString(s.Name), "%q", s.Name)
		require.True(t, utf8.ValidString(s.Description))
		require.NotContains(t, s.Name+s.Description, "\n")
	}
}

// TestFindReportsUnreadableFiles checks that an unreadable file is reported with its path, and
// without any of its content.
func TestFindReportsUnreadableFiles(t *testing.T) {
	if os.Getuid() == 0 {
		dir := t.TempDir() // root can read every file, so a folder has the name of the file
		require.NoError(t, os.MkdirAll(dir+"/.agents/skills/a/SKILL.md", 0o700))
		_, problems := skill.Find(dir, skill.Places{})
		require.Len(t, problems, 1)
		return
	}
	dir := t.TempDir()
	path := put(t, dir+"/.agents/skills/a/SKILL.md", plain("a"))
	require.NoError(t, os.Chmod(path, 0))
	_, problems := skill.Find(dir, skill.Places{})
	require.Len(t, problems, 1)
	require.Equal(t, "permission denied", problems[0].Message)
}
