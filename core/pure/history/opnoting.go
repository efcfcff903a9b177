package history

import (
	"strings"
	"unicode/utf8"

	"appserver/protocol"
)

// noting attaches a note of a client to items. Notes are for people: the model does not receive them, they cost no
// tokens, and they stay after a restore.
type noting struct{}

func (noting) plan(r *protocol.SetNote, items selector) (p Plan, err *protocol.Error) {
	var note string
	if r.Note != nil {
		note = *r.Note
		if err := checkNote(note); err != nil {
			return p, err
		}
	}
	p.Op, p.Text = protocol.EditNote, r.Note
	p.Places, p.Ignored, err = items.targets(r.ContextTargets)
	p.Places = items.filter(p.Places, func(v visibility) bool { return v.Note != note })
	return p, err
}

func checkNote(note string) *protocol.Error {
	switch n := utf8.RuneCountInString(note); {
	case strings.TrimSpace(note) == "":
		return protocol.InvalidParams("note", "the note is empty: name a text, or null to remove the note")
	case n > protocol.MaxContextNote:
		return protocol.InvalidParams("note", "the note has %d characters, and at most %d are accepted: shorten it", n,
			protocol.MaxContextNote)
	case !utf8.ValidString(note):
		return protocol.InvalidParams("note", "the note is not valid UTF-8: encode it again")
	}
	return nil
}

func (noting) byID(r *protocol.SetNote, items selector) *protocol.SetNote {
	named := *r
	named.ContextTargets = items.idTargets(r.ContextTargets)
	return &named
}

func (noting) effects() []effect {
	note := func(v *visibility, e *protocol.StoredContextEdit) {
		if v.Note = ""; e.Text != nil {
			v.Note = *e.Text
		}
	}
	return []effect{{op: protocol.EditNote, apply: note}}
}

func (noting) restore(*visibility) {}
