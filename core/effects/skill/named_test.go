package skill_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/skill"
	"appserver/protocol"
)

func enabled(name, path string) skill.Skill {
	return skill.Skill{SkillMetadata: protocol.SkillMetadata{Name: name, Path: path, Enabled: true}}
}

func text(s string) protocol.UserInput {
	return protocol.UserInput{UserInputVariant: &protocol.TextInput{Text: s}}
}

func skillInput(name, path string) protocol.UserInput {
	return protocol.UserInput{UserInputVariant: &protocol.SkillInput{Name: name, Path: path}}
}

func TestNamed(t *testing.T) {
	off := enabled("off", "/off/SKILL.md")
	off.Enabled = false
	skills := []skill.Skill{
		enabled("release", "/r/SKILL.md"), enabled("twin", "/1/SKILL.md"), enabled("twin", "/2/SKILL.md"), off,
		enabled("plug:in_a-1", "/p/SKILL.md"),
	}
	for name, tt := range map[string]struct {
		input   []protocol.UserInput
		named   []string
		missing int
	}{
		"nothing":    {nil, nil, 0},
		"no mention": {[]protocol.UserInput{text("release it")}, nil, 0},
		"a mention":  {[]protocol.UserInput{text("please $release.")}, []string{"/r/SKILL.md"}, 0},
		"twice": {[]protocol.UserInput{text("$release $release"), skillInput("release", "/r/SKILL.md")},
			[]string{"/r/SKILL.md"}, 0},
		"a part of a name":    {[]protocol.UserInput{text("$releases $rel")}, nil, 0},
		"a variable":          {[]protocol.UserInput{text("$HOME and $ and $$")}, nil, 0},
		"two have the name":   {[]protocol.UserInput{text("$twin")}, nil, 0},
		"one of them by path": {[]protocol.UserInput{skillInput("twin", "/2/SKILL.md")}, []string{"/2/SKILL.md"}, 0},
		"turned off":          {[]protocol.UserInput{text("$off"), skillInput("off", "/off/SKILL.md")}, nil, 1},
		"gone":                {[]protocol.UserInput{skillInput("release", "/gone/SKILL.md")}, nil, 1},
		"an unclean path":     {[]protocol.UserInput{skillInput("release", "/x/../r//SKILL.md")}, []string{"/r/SKILL.md"}, 0},
		"odd characters":      {[]protocol.UserInput{text("($plug:in_a-1)")}, []string{"/p/SKILL.md"}, 0},
		"by a link": {[]protocol.UserInput{text("[$twin](/2/SKILL.md) and [$any]( skill:///r/SKILL.md )")},
			[]string{"/2/SKILL.md", "/r/SKILL.md"}, 0},
		"by links elsewhere": {[]protocol.UserInput{text("[$release](app://x) [$release](/gone) [$release]() " +
			"[$off](/off/SKILL.md)")}, nil, 0},
		"by half a link": {[]protocol.UserInput{text("[$release](/2/SKILL.md [$release]")}, []string{"/r/SKILL.md"}, 0},
		"in the input's order": {
			[]protocol.UserInput{text("$plug:in_a-1"), skillInput("twin", "/1/SKILL.md"), text("$release")},
			[]string{"/p/SKILL.md", "/1/SKILL.md", "/r/SKILL.md"}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			named, missing := skill.Named(skills, tt.input)
			var paths []string
			for _, s := range named {
				paths = append(paths, s.Path)
			}
			require.Equal(t, tt.named, paths)
			require.Len(t, missing, tt.missing)
			if len(named)+len(missing) > 0 {
				require.True(t, skill.Names(tt.input), "otherwise nobody would look")
			}
		})
	}
	require.False(
		t,
		skill.Names([]protocol.UserInput{text("no dollar"), {UserInputVariant: &protocol.ImageInput{URL: "$x"}}}),
	)
}

func TestTextIsThatOfARegularFile(t *testing.T) {
	text := func(path string) (string, error) {
		return skill.Skill{SkillMetadata: protocol.SkillMetadata{Path: path}}.Text()
	}
	dir := t.TempDir()
	got, err := text(put(t, dir+"/a", "x\xffy"))
	require.NoError(t, err)
	require.Equal(t, "x\ufffdy", got)
	for path, want := range map[string]string{dir: "not a regular file", dir + "/none": "no such file or directory",
		"/dev/zero": "not a regular file", "": "no such file or directory"} {
		_, err := text(path)
		require.EqualError(t, err, want)
	}
}

// TestNamedFollowsLinks checks that a client can use a path with links, although the path of a
// skill is the real one.
func TestNamedFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	path := put(t, dir+"/real/SKILL.md", plain("a"))
	require.NoError(t, os.Symlink(dir+"/real", dir+"/link"))
	named, missing := skill.Named(
		[]skill.Skill{enabled("a", path)},
		[]protocol.UserInput{skillInput("a", dir+"/link/SKILL.md")},
	)
	require.Len(t, named, 1)
	require.Empty(t, missing)
}
