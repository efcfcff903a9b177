package core_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/core/pure/filechanges"
	"appserver/protocol"
)

// fileCommands returns the commands of scripts on changed files:
//
//	captured [TREE] [error=TEXT]  the end of a capture
//	watched [file=…]              what a command that stays changed while it was watched
//	checkpoints [limit=N]
//	changed [TURN]                what a turn changed, or all did
//	back ID MODE [dry]            a revert to a checkpoint, whose files are as they were left
//
// tool-done and patch-written take file=PATH:BEFORE:AFTER for each file that was changed,
// untracked=WHY where that is not known, and cut where their diff is too long.
func fileCommands() map[string]command {
	return map[string]command{
		"captured": input(func(m *machine, a arguments) (core.Input, error) {
			id, err := effectOf(a, last[core.CaptureTree](m))
			in := core.TreeCaptured{Effect: id, Tree: protocol.StoredTree{Root: "/repo", Tree: a.word(0)}}
			if v := a.option("error"); v != nil {
				in.Err = errors.New(*v)
			}
			return in, err
		}),
		"checkpoints": input(func(m *machine, a arguments) (core.Input, error) {
			in := core.ListCheckpoints{To: m.caller()}
			n, err := numberOf(a, "limit")
			if n != nil {
				in.Limit = new(uint32(*n))
			}
			return in, err
		}),
		"watched": input(func(m *machine, a arguments) (core.Input, error) {
			id, err := effectOf(a, last[core.RunTool](m))
			return core.FilesChanged{Effect: id, Tracked: trackedOf(m, a, id)}, err
		}),
		"changed": changedCommand, "back": back,
	}
}

func changedCommand(m *machine, a arguments, b *strings.Builder) error {
	var turn *string
	if id := a.word(0); id != "" {
		turn = &id
	}
	c, refusal := m.thread.Changed(turn)
	if refusal != nil {
		fmt.Fprintf(b, "refused %s %q\n", refusal.Data.Kind, refusal.Message)
		return nil
	}
	for _, one := range c.Changes {
		fmt.Fprintln(b, changesText(gjson.Parse(encode(one))))
	}
	for _, t := range c.Turns {
		fmt.Fprintf(b, "turn %s %v\n", t.TurnID, t.Paths)
	}
	return nil
}

// back reverts to a checkpoint in the same way as the engine.
func back(m *machine, a arguments, b *strings.Builder) error {
	plan, refusal := m.thread.PlanRevert(a.word(0), a.word(1), a.option("last"))
	if refusal != nil {
		fmt.Fprintf(b, "refused %s %q %v\n", refusal.Data.Kind, refusal.Message, refusal.Data.Paths)
		return nil
	}
	m.ids++
	in := core.RevertTo{To: m.caller(), ID: fmt.Sprintf("id-%d", m.ids), Plan: plan, Keep: 9, Dry: a.has("dry")}
	if len(plan.Changes) > 0 {
		in.Restored = &core.Restored{Trees: []protocol.StoredTree{{Root: "/repo", Tree: "before-" + in.ID}},
			Diff: diffOf(filechanges.Inverse(in.ID, plan.Changes))}
	}
	printOutput(b, m.take(in))
	return nil
}

// trackedOf returns the changes that the command names, or nil.
func trackedOf(m *machine, a arguments, id core.EffectID) *core.Tracked {
	track := m.trackOf(id)
	t := &core.Tracked{Changes: protocol.WorktreeChanges{Root: "/repo"}}
	for _, file := range a.all("file") {
		parts := append(strings.Split(file, ":"), "", "")
		t.Changes.Changes = append(t.Changes.Changes,
			protocol.WorktreeChange{Path: parts[0], Before: holds(parts[1]), After: holds(parts[2])})
	}
	if v := a.option("untracked"); v != nil {
		t.Err = errors.New(*v)
	}
	if track == nil || len(t.Changes.Changes) == 0 && t.Err == nil {
		return nil
	}
	if a.has("cut") {
		t.Diff = &core.FileDiff{Cut: true, Summary: protocol.DiffSummary{Files: []protocol.DiffFile{{}}}}
	} else if t.Err == nil {
		diff := diffOf(filechanges.Net(append(track.Before, t.Changes)))
		t.Diff = &diff
	}
	return t
}

func holds(object string) (f protocol.WorktreeFile) {
	if object != "" {
		f = protocol.WorktreeFile{Mode: 0o100644, Object: object}
	}
	return f
}

// diffOf replaces a diff: it has the content before and after for each path.
func diffOf(changes []protocol.WorktreeChanges) core.FileDiff {
	d := core.FileDiff{Summary: protocol.DiffSummary{Files: []protocol.DiffFile{}}}
	for _, c := range changes {
		for _, one := range c.Changes {
			d.Text += fmt.Sprintf("%s:%s:%s\n", one.Path, one.Before.Object, one.After.Object)
			d.Summary.FilesModified++
			d.Summary.Files = append(d.Summary.Files, protocol.DiffFile{Path: one.Path, Kind: protocol.DiffModified})
		}
	}
	return d
}

// trackOf returns the tracking of an active effect, or nil.
func (m *machine) trackOf(id core.EffectID) *core.Track {
	for _, e := range m.running {
		switch e := e.(type) {
		case core.RunTool:
			if e.ID == id {
				return e.Track
			}
		case core.WritePatch:
			if e.ID == id {
				return e.Track
			}
		case core.WriteStdin:
			if e.ID == id {
				return e.Track
			}
		}
	}
	return nil
}

func changesText(p gjson.Result) string {
	text := p.Get("root").Str
	for _, c := range p.Get("changes").Array() {
		text = words(text, c.Get("path").Str+":"+c.Get("before.object").Str+":"+c.Get("after.object").Str)
	}
	return text
}

func checkpointText(p gjson.Result) string {
	text := words(p.Get("kind").Str, p.Get("id").Str)
	for _, tree := range p.Get("trees").Array() {
		text = words(text, tree.Get("root").Str, tree.Get("tree").Str)
	}
	if gone := p.Get("forgets"); gone.Exists() {
		text += " forgets " + gone.Raw
	}
	return text
}

func checkpointsText(p gjson.Result) string {
	text := "checkpoints"
	for _, c := range p.Get("data").Array() {
		text += "\n  " + words(c.Get("kind").Str, c.Get("id").Str, c.Get("roots").Raw, c.Get("changedFiles").Raw+" files")
		if !c.Get("inThread").Bool() {
			text += ", not in the thread"
		}
	}
	return text
}

func revertText(p gjson.Result) string {
	text := words("reverted", p.Get("mode").Str, "undo="+p.Get("undoCheckpointId").Str, shortIf("", p.Get("diff")),
		"without", p.Get("removedTurnIds").Raw)
	if p.Get("dryRun").Bool() {
		text += ", dry"
	}
	return text + ", " + threadText(p)
}

func trackText(t *core.Track) string {
	if t == nil {
		return ""
	}
	text := "tracked in " + t.Dir
	for _, c := range t.Before {
		text = words(text, changesText(gjson.Parse(encode(c))))
	}
	if !t.Keep {
		text += ", not kept"
	}
	return text
}

func pointsText(points []protocol.StoredCheckpoint) string {
	text := ""
	for _, p := range points {
		text = words(text, p.ID)
	}
	return text
}
