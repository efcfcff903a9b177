package skill_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/skill"
	"appserver/protocol"
	"appserver/test/posix"
)

// put writes a file, and creates the folders above it.
func put(t testing.TB, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func plain(name string) string {
	return "---\nname: " + name + "\ndescription: Does " + name + ".\n---\nDo it.\n"
}

// found returns the skills as scope:name.
func found(cwd string, places skill.Places) []string {
	names := []string{}
	skills, _ := skill.Find(cwd, places)
	for _, s := range skills {
		names = append(names, s.Scope+":"+s.Name)
	}
	return names
}

func TestFindSearchesThePlacesOfTheReference(t *testing.T) {
	dir := t.TempDir()
	repo, home, user, extra := dir+"/repo", dir+"/home", dir+"/user", dir+"/extra"
	require.NoError(t, os.MkdirAll(repo+"/.git", 0o700))
	put(t, dir+"/.agents/skills/above/SKILL.md", plain("above"))
	put(t, repo+"/.agents/skills/top/SKILL.md", plain("top"))
	put(t, repo+"/.codex/skills/codex/SKILL.md", plain("codex"))
	put(t, repo+"/sub/.agents/skills/group/deep/SKILL.md", plain("deep"))
	put(t, repo+"/sub/.agents/skills/.hidden/SKILL.md", plain("hidden"))
	put(t, repo+"/other/.agents/skills/other/SKILL.md", plain("other"))
	put(t, user+"/.agents/skills/mine/SKILL.md", plain("mine"))
	put(t, home+"/skills/home/SKILL.md", plain("home"))
	put(t, home+"/skills/.system/shipped/SKILL.md", plain("shipped"))
	put(t, extra+"/more/SKILL.md", plain("more"))
	places := skill.Places{Home: home, UserHome: user, Extra: []string{extra, "/nowhere"}}

	others := []string{"user:home", "user:mine", "user:more", "system:shipped"}
	require.Equal(t, append([]string{"repo:codex", "repo:deep", "repo:top"}, others...), found(repo+"/sub", places))
	require.Equal(t, append([]string{"repo:codex", "repo:top"}, others...), found(repo, places))
	require.Equal(
		t,
		append([]string{"repo:above"}, others...),
		found(dir, places),
		"without a repository the folder alone counts",
	)
	require.Equal(t, others, found(dir+"/extra", places), "not those of the folder above")
	for _, cwd := range []string{"/nowhere", "repo", "", put(t, dir+"/file", "x")} {
		require.Equal(t, others, found(cwd, places))
	}
	require.Equal(t, []string{}, found("", skill.Places{}))
}

// TestFindFollowsLinksOnce checks that links to folders are followed, links to files are not, and
// the path of a skill is the real one.
func TestFindFollowsLinksOnce(t *testing.T) {
	dir := t.TempDir()
	linked := put(t, dir+"/elsewhere/linked/SKILL.md", plain("linked"))
	put(t, dir+"/.agents/skills/a/SKILL.md", plain("a"))
	put(t, dir+"/.agents/skills/0/other.md", "x")
	for from, to := range map[string]string{
		"/.agents/skills/loop": dir + "/.agents", "/.agents/skills/b": dir + "/elsewhere", "/.agents/skills/c": dir +
			"/elsewhere/linked",
		"/.agents/skills/dead": "/nowhere", "/.codex": dir + "/.agents", "/.agents/skills/0/SKILL.md": dir +
			"/.agents/skills/a/SKILL.md",
		"/.agents/skills/self": dir + "/.agents/skills/self",
	} {
		require.NoError(t, os.Symlink(to, dir+from))
	}
	skills, problems := skill.Find(dir, skill.Places{})
	require.Empty(t, problems)
	require.Len(t, skills, 2)
	require.Equal(t, "a", skills[0].Name)
	require.Equal(t, dir+"/.agents/skills/a/SKILL.md", skills[0].Path)
	require.Equal(t, linked, skills[1].Path)
}

func TestFindIsBounded(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/.agents/skills"+strings.Repeat("/d", 6)+"/SKILL.md", plain("within"))
	put(t, dir+"/.agents/skills"+strings.Repeat("/e", 7)+"/SKILL.md", plain("beyond"))
	require.Equal(t, []string{"repo:within"}, found(dir, skill.Places{}))
}

func TestFindReadsMetadata(t *testing.T) {
	dir := t.TempDir()
	path := put(
		t,
		dir+"/.agents/skills/full/SKILL.md",
		"\ufeff---\r\ndescription: |\r\n  Two\r\n  lines\r\nmetadata:\r\n  short-description: Short\r\nother: "+
			"[1]\r\n---\r\nBody\r\n---\r\n",
	)
	put(t, dir+"/.agents/skills/full/agents/openai.yaml", `
interface: {display_name: Full, short_description: "Shown", icon_small: ./a/b.svg,
  icon_large: ../../outside.png, brand_color: "#fff", default_prompt: "Use $full"}
dependencies: {tools: [{type: mcp, value: db, description: d, transport: stdio, command: run}, {type: "", value: x}]}
policy: {allow_implicit_invocation: false}
`)
	skills, problems := skill.Find(dir, skill.Places{})
	require.Empty(t, problems)
	icon := dir + "/.agents/skills/full/a/b.svg"
	require.Len(t, skills, 1)
	require.True(t, skills[0].OnlyNamed)
	require.Equal(t, protocol.SkillMetadata{
		Name: "full", Description: "Two lines", ShortDescription: new("Short"), Path: path, Scope: "repo", Enabled: true,
		Interface: &protocol.SkillInterface{
			DisplayName:      new("Full"),
			ShortDescription: new("Shown"),
			IconSmall:        &icon,
			BrandColor:       new("#fff"),
			DefaultPrompt:    new("Use $full"),
		},
		Dependencies: &protocol.SkillDependencies{
			Tools: []protocol.SkillToolDependency{
				{Type: "mcp", Value: "db", Description: new("d"), Transport: new("stdio"), Command: new("run")},
			},
		},
	}, skills[0].SkillMetadata)
}

func TestFindReportsInvalidSkills(t *testing.T) {
	dir := t.TempDir()
	skills := dir + "/.agents/skills/"
	for name, text := range map[string]string{
		"a-none": "text", "b-open": "---\nname: x\n", "c-yaml": "---\nname: [broken\n---\n",
		"d-shape": "---\nname: {a: 1}\n---\n", "e-silent": "---\nname: x\n---\n",
		"f-name": "---\nname: " + strings.Repeat("ä", 65) + "\ndescription: d\n---\n", "g-long": "---\ndescription: " +
			strings.Repeat("ä", 1025) + "\n---\n",
		"h-big": plain("x") + strings.Repeat("x", 256<<10), "i-empty": "",
	} {
		put(t, skills+name+"/SKILL.md", text)
	}
	require.NoError(t, os.MkdirAll(skills+"j-pipe", 0o700))
	require.NoError(t, posix.Mkfifo(skills+"j-pipe/SKILL.md", 0o600))
	require.NoError(t, os.MkdirAll(skills+"k-folder/SKILL.md", 0o700))
	none, problems := skill.Find(dir, skill.Places{})
	require.Empty(t, none)
	var texts []string
	for _, p := range problems {
		texts = append(texts, strings.TrimPrefix(strings.TrimSuffix(p.Path, "/SKILL.md"), skills)+": "+p.Message)
	}
	require.Equal(t, []string{
		"a-none: missing YAML frontmatter delimited by ---",
		"b-open: missing YAML frontmatter delimited by ---",
		"c-yaml: invalid YAML: line 1: did not find expected ',' or ']'",
		"d-shape: invalid YAML: unmarshal errors: line 1: cannot unmarshal !!map into string",
		"e-silent: missing field `description`",
		"f-name: invalid name: exceeds maximum length of 64 characters",
		"g-long: invalid description: exceeds maximum length of 1024 characters",
		"h-big: larger than 262144 bytes",
		"i-empty: missing YAML frontmatter delimited by ---",
		"j-pipe: not a regular file",
		"k-folder: not a regular file",
	}, texts)
}

func TestInvalidExtrasAreIgnored(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/.agents/skills/a/SKILL.md", plain("a"))
	put(t, dir+"/.agents/skills/a/agents/openai.yaml", "interface: [")
	skills, problems := skill.Find(dir, skill.Places{})
	require.Empty(t, problems)
	require.Len(t, skills, 1)
	require.Nil(t, skills[0].Interface)
}

// FuzzFind checks that each file is a skill that clients can show, or a problem.
func FuzzFind(f *testing.F) {
	for _, seed := range []string{plain("a"), "", "---\n---\n", "---\nname: &a [*a]\ndescription: x\n---",
		"\ufeff---\r\ndescription: x\r\n---", "---\ndescription: \xff\n---\n"} {
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		put(t, dir+"/.agents/skills/a/SKILL.md", text)
		skills, problems := skill.Find(dir, skill.Places{})
		require.Equal(t, 1, len(skills)+len(problems))
		for _, s := range skills {
			require.NotEmpty(t, s.Description)
			require.True(t, utf8.ValidString(s.Name+s.Description))
			require.NotContains(t, s.Name+s.Description, "\n")
		}
	})
}
