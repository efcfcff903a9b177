//go:build reference

package interchange

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// skillTree writes valid and invalid skills into a project, and returns their folder.
func (x *interchange) skillTree() string {
	require.NoError(x.t, os.MkdirAll(filepath.Join(x.project, ".git"), 0o700))
	root := filepath.Join(x.project, ".agents", "skills")
	for name, text := range map[string]string{
		"release":   apptest.SkillText,
		"twin1":     "---\nname: twin\ndescription: One\n---\nFirst twin.\n",
		"twin2":     "---\nname: twin\ndescription: Two\n---\nSecond twin.\n",
		"odd":       "---\nname: odd:name_1\ndescription: Odd\n---\nOdd.\n",
		"folder":    "---\ndescription: Named by its folder\n---\nFolder.\n",
		"short":     "---\nname: short\ndescription: Has more\nmetadata:\n  short-description: Short\n---\nShort.\n",
		"quoted":    "---\nname: \"quoted\"\ndescription: 'It''s: quoted'\n---\nQ.\n",
		"PATH":      "---\nname: PATH\ndescription: Has the name of a variable\n---\nP.\n",
		"colon":     "---\nname: colon\ndescription: Use when: asked\n---\nC.\n",
		"number":    "---\nname: 123\ndescription: 7\n---\nN.\n",
		"crlf":      "---\r\nname: crlf\r\ndescription: Of Windows\r\n---\r\nW.\r\n",
		"later":     "\n---\nname: later\ndescription: Begins late\n---\nL.\n",
		"nothing":   "No front matter.\n",
		"open":      "---\nname: open\ndescription: Never ends\n",
		"mute":      "---\nname: mute\n---\nM.\n",
		"empty":     "",
		"long":      "---\nname: " + strings.Repeat("n", 65) + "\ndescription: d\n---\n",
		"latin":     "---\nname: latin\ndescription: \xe4\n---\nL.\n",
		"deep/deep": "---\nname: deep\ndescription: Below another folder\n---\nD.\n",
		".hidden":   "---\nname: hidden\ndescription: Hidden\n---\nH.\n",
	} {
		apptest.WriteSkill(x.t, filepath.Join(root, name), text)
	}
	require.NoError(x.t, os.WriteFile(filepath.Join(root, "release", "notes.md"), []byte("More.\n"), 0o600))
	apptest.WriteSkill(x.t, filepath.Join(x.project, "elsewhere"),
		"---\nname: linked\ndescription: Behind a link\n---\nK.\n")
	require.NoError(x.t, os.Symlink(filepath.Join(x.project, "elsewhere"), filepath.Join(root, "link")))
	require.NoError(x.t, os.MkdirAll(filepath.Join(root, "linkedfile"), 0o700))
	require.NoError(x.t,
		os.Symlink(filepath.Join(root, "release", "SKILL.md"), filepath.Join(root, "linkedfile", "SKILL.md")))
	return root
}

// skillDeviations are skills that this server lists differently: it accepts texts that are not
// UTF-8.
var skillDeviations = map[string]bool{"latin": true}

// TestReferenceSkillLists compares the lists of both servers: the skills, their members, and the
// files with errors.
func TestReferenceSkillLists(t *testing.T) {
	x := newInterchange(t)
	root := x.skillTree()
	ours, theirs := x.ours(), x.reference()
	here, there := skillRows(ours, x.project, root), skillRows(theirs, x.project, root)
	names := map[string]bool{}
	for name := range here {
		names[name] = true
	}
	for name := range there {
		names[name] = true
	}
	var surprises []string
	for name := range names {
		if (here[name] == there[name]) == skillDeviations[name] {
			surprises = append(surprises, name+":\n this server  "+here[name]+"\n the other    "+there[name])
		}
	}
	sort.Strings(surprises)
	require.Empty(t, strings.Join(surprises, "\n"))
	ours.Close()
	theirs.Close()
}

// skillRows returns the entries of each folder below root.
func skillRows(c *apptest.Client, cwd, root string) map[string]string {
	c.T.Helper()
	var list struct {
		Data []struct{ Skills, Errors []apptest.Object }
	}
	require.NoError(c.T,
		json.Unmarshal(c.Call("skills/list", apptest.Object{"cwds": []string{cwd}, "forceReload": true}), &list))
	require.Len(c.T, list.Data, 1)
	rows := map[string]string{}
	add := func(kind string, members apptest.Object) {
		path := members["path"].(string)
		if !strings.HasPrefix(path, filepath.Dir(filepath.Dir(root))) {
			return // each server has its own system skills
		}
		if kind == "error" {
			delete(members, "message") // the texts differ
		}
		for name, value := range members {
			if value == nil {
				delete(members, name)
			}
		}
		text, err := json.Marshal(members)
		require.NoError(c.T, err)
		rows[strings.TrimPrefix(filepath.Dir(path), root+"/")] += kind + " " + string(text)
	}
	for _, s := range list.Data[0].Skills {
		add("skill", s)
	}
	for _, e := range list.Data[0].Errors {
		add("error", e)
	}
	return rows
}

// mentionDeviations are mentions that this server handles differently. Any name can be that of a
// skill, and skills are sent in the order of the text.
var mentionDeviations = map[string]bool{"a variable": true, "two": true}

// TestReferenceSkillMentions names skills in all ways, and compares the skills that the models get.
func TestReferenceSkillMentions(t *testing.T) {
	x := newInterchange(t)
	root := x.skillTree()
	ours, theirs := x.ours(), x.reference()
	file := func(name string) string { return filepath.Join(root, name, "SKILL.md") }
	var surprises []string
	for name, input := range map[string][]apptest.Object{
		"a mention":             apptest.TextInput("use $release now"),
		"with a full stop":      apptest.TextInput("use $release."),
		"with a colon":          apptest.TextInput("use $release: now"),
		"in brackets":           apptest.TextInput("use ($release)"),
		"in a word":             apptest.TextInput("use x$release"),
		"a longer word":         apptest.TextInput("use $releases"),
		"with a dash behind":    apptest.TextInput("use $release-"),
		"capitals":              apptest.TextInput("use $Release"),
		"of two":                apptest.TextInput("use $twin"),
		"of two, by link":       apptest.TextInput("use [$twin](" + file("twin2") + ")"),
		"by link":               apptest.TextInput("use [$release](" + file("release") + ")"),
		"by link with a scheme": apptest.TextInput("use [$release](skill://" + file("release") + ")"),
		"by another's link":     apptest.TextInput("use [$release](app://release)"),
		"by a wrong link":       apptest.TextInput("use [$release](/nowhere/SKILL.md)"),
		"odd":                   apptest.TextInput("use $odd:name_1"),
		"a variable":            apptest.TextInput("echo $PATH"),
		"by folder":             apptest.TextInput("use $folder"),
		"two":                   apptest.TextInput("$short then $release"),
		"twice":                 apptest.TextInput("$release $release"),
		"an input": {{"type": "text", "text": "go"},
			{"type": "skill", "name": "release", "path": file("release")}},
		"an input of two": {{"type": "text", "text": "go"}, {"type": "skill", "name": "twin", "path": file("twin2")}},
		"an input and a word": {{"type": "text", "text": "$release"},
			{"type": "skill", "name": "release", "path": file("release")}},
		"an input misnamed": {{"type": "text", "text": "go"},
			{"type": "skill", "name": "nonsense", "path": file("release")}},
		"an input by a link": {{"type": "text", "text": "go"},
			{"type": "skill", "name": "linked", "path": filepath.Join(root, "link", "SKILL.md")}},
		"broken": apptest.TextInput("use $mute"),
	} {
		here, there := x.skillsSent(ours, ourRequests, input), x.skillsSent(theirs, theirRequests, input)
		if (here == there) == mentionDeviations[name] {
			surprises = append(surprises, name+":\n this server  "+here+"\n the other    "+there)
		}
	}
	sort.Strings(surprises)
	require.Empty(t, strings.Join(surprises, "\n"))
	ours.Close()
	theirs.Close()
}

var sentSkill = regexp.MustCompile(`(?s)<skill>\n<name>([^<]*)</name>\n<path>([^<]*)</path>\n(.*?)</skill>`)

// skillsSent returns the skills that the model gets for an input in a new thread.
func (x *interchange) skillsSent(c *apptest.Client, path string, input []apptest.Object) string {
	x.t.Helper()
	c.Call("turn/start", apptest.Object{"threadId": x.startThread(c), "input": input})
	c.AwaitTurn()
	var sent []string
	for _, text := range x.model.contents(path) {
		for _, s := range sentSkill.FindAllStringSubmatch(text, -1) {
			sent = append(sent, s[1]+" "+strings.TrimPrefix(s[2], x.project)+" "+strings.TrimSpace(s[3]))
		}
	}
	return strings.Join(sent, ", ")
}
