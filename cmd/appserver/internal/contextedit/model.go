package contextedit

import (
	"errors"
	"fmt"

	"appserver/cmd/appserver/internal/termtext"
	"appserver/protocol"
)

// screen is the part of the editor that has the keys.
type screen int

const (
	onList screen = iota
	onFind
	onNote
	onDetails
	onHelp
	onApply
	onQuit
	onText
	onTrim
	onSuggestions
	onConfirm
)

// isPager reports whether the screen is a text instead of the list.
func (s screen) isPager() bool {
	switch s {
	case onDetails, onHelp, onApply, onSuggestions, onConfirm:
		return true
	case onList, onFind, onNote, onQuit, onText, onTrim:
	}
	return false
}

// isField reports whether the screen has a field below the list.
func (s screen) isField() bool { return s == onFind || s == onNote || s == onText || s == onTrim }

// Model is the state of the editor.
type Model struct {
	size  Size
	head  protocol.Thread
	ready bool // the list was read
	list  listing
	plan  plan
	// discarded is the plan that was discarded last. It can be brought back.
	discarded map[string]wish
	preview   *previewed // the last price of the plan, which may be of an older version
	search    search
	note      string // the text in the field for a note
	field     string // the text in the field for another text of an item, or for a number of turns
	// hasEditor is set if texts are edited in the user's editor. editing is the text that waits for it, or nil.
	hasEditor   bool
	editing     *editing
	replacing   string // the id of the item whose text the field has
	question    question
	suggestions suggestions
	draft       *protocol.ThreadCompactProposeResponse
	screen      screen
	pager       pager
	details     protocol.ContextReadItemResponse
	original    bool // the details show the original instead of the sent text
	status      string
	running     bool
	queue       []func() Command
	edits       int  // running and waiting edits
	leaving     bool // the editor quits after the last of them
	quit        bool
	err         error
}

// New returns an editor without a list, and the command that reads it.
func New(size Size) (*Model, Command) {
	m := &Model{size: size, status: "Reading the context …", running: true}
	m.plan.wishes = map[string]wish{}
	m.list.anchor = -1
	return m, load
}

// Done reports whether the editor ends. The error is the reason if it cannot begin.
func (m *Model) Done() (bool, error) { return m.quit, m.err }

// HasPlan reports whether there are changes that are not applied.
func (m *Model) HasPlan() bool { return len(m.plan.wishes) > 0 }

// Update applies a message. It returns a command or nil. The caller gives its result to Update.
func (m *Model) Update(msg Message) Command {
	switch msg := msg.(type) {
	case Size:
		m.resize(msg)
	case Key:
		m.press(msg)
	case Paste:
		switch m.screen {
		case onFind:
			m.search.input += string(msg)
		case onNote:
			m.note += string(msg)
		case onText, onTrim:
			m.field += string(msg)
		}
	case EditedText:
		m.takeText(msg)
	default:
		m.running = false
		m.take(msg)
	}
	return m.next()
}

// take applies the result of a command.
func (m *Model) take(result Message) {
	switch r := result.(type) {
	case loaded:
		m.status = ""
		switch {
		case r.err == nil:
			m.takeList(r)
		case m.ready:
			m.status = m.describe(r.err)
		default:
			m.err, m.quit = r.err, true
		}
	case previewed:
		if r.err != nil {
			m.status = m.describe(r.err)
		}
		m.preview = &r
		if m.screen == onApply {
			m.fillPager()
		}
	case edited:
		m.edits--
		m.takeEdit(r)
		if m.leaving && m.edits == 0 {
			m.leaving = false
			m.askToQuit()
		}
	case itemRead:
		m.takeItem(r)
	case found:
		m.takeMatches(r)
	case textRead:
		m.takeTextToReplace(r)
	case questionPriced:
		m.takeQuestion(r)
	case suggested:
		m.takeSuggestions(r)
	case drafted:
		m.takeDraft(r)
	}
}

// takeList shows a list. The plan keeps what fits to it.
func (m *Model) takeList(r loaded) {
	if r.head != nil {
		m.head = *r.head
	}
	m.ready = true
	m.list.take(r.list)
	if dropped := m.plan.rebase(m.list.items); dropped > 0 {
		m.status += fmt.Sprintf(" %s dropped: the items left the list.", termtext.Counted(dropped, "planned change"))
	}
	m.preview = nil
	m.list.keepVisible(m.rowsOfList())
}

func (m *Model) takeEdit(r edited) {
	switch {
	case r.err != nil:
		m.status = m.describe(r.err)
	case r.done != "":
		m.status = r.done + " u undoes it."
	case r.edit == nil || r.edit.Count == 0:
		m.status = r.verb + ": nothing changed."
	default:
		m.status = fmt.Sprintf("%s: %s of %s.", r.verb, r.edit.Op, termtext.Counted(r.edit.Count, "item"))
		if r.verb == "Applied" {
			m.status = fmt.Sprintf("Applied the plan to %s.", termtext.Counted(r.edit.Count, "item"))
		}
		if r.verb == "Undone" {
			m.status += " U redoes it."
		} else {
			m.status += " u undoes it."
		}
	}
	if r.err == nil && r.verb == "Applied" {
		m.plan.forgetTexts()
	}
	if r.after.err != nil {
		m.status += " " + m.describe(r.after.err)
		return
	}
	m.takeList(r.after)
}

// describe returns the message of a failed command.
func (m *Model) describe(err error) string {
	var e *protocol.Error
	if errors.As(err, &e) && e.Data != nil {
		switch e.Data.Kind {
		case protocol.KindStaleRevision:
			return "The context changed in the meantime. Check the plan, then apply it again."
		case protocol.KindThreadLocked:
			return "Nothing was changed: another process has the thread open. Edit it there, end it, " +
				"or start it with --web or --listen unix://."
		}
	}
	return termtext.Plain(err.Error())
}

// next returns the next command, unless one is running.
func (m *Model) next() Command {
	switch {
	case m.running || m.quit || !m.ready:
		return nil
	case len(m.queue) > 0:
		command := m.queue[0]()
		m.queue = m.queue[1:]
		m.running = true
		return command
	case !m.HasPlan() || m.isPriced():
		return nil
	}
	m.running = true
	version, edits := m.plan.version, m.plan.edits(m.list.items)
	return func(t Thread) Message {
		r := previewed{version: version, changed: map[string]protocol.ContextSent{}}
		r.preview, r.err = t.Preview(edits)
		for _, change := range r.preview.Changes {
			r.changed[change.ID] = change.Is
		}
		return r
	}
}

// isPriced reports whether the preview is of the current plan.
func (m *Model) isPriced() bool { return m.preview != nil && m.preview.version == m.plan.version }

// enqueue runs a command after the running one. It is made when it starts, with the revision of that time.
func (m *Model) enqueue(make func() Command) { m.queue = append(m.queue, make) }

func (m *Model) enqueueEdit(make func() Command) {
	m.edits++
	m.enqueue(make)
}

func (m *Model) apply() {
	m.screen, m.status = onList, "Applying the plan …"
	m.enqueueEdit(func() Command { return applyEdits(m.plan.edits(m.list.items), m.list.revision) })
}

func (m *Model) undo() {
	m.status = "Undoing the last edit …"
	m.enqueueEdit(func() Command { return undoEdit(m.list.revision) })
}

func (m *Model) redo() {
	m.status = "Redoing the last edit …"
	m.enqueueEdit(func() Command { return redoEdit(m.list.revision) })
}

// discard empties the plan, or brings the discarded plan back.
func (m *Model) discard() {
	switch {
	case m.HasPlan():
		m.status = fmt.Sprintf("Discarded the plan of %s. Backspace brings it back.",
			termtext.Counted(len(m.plan.wishes), "change"))
		m.discarded = m.plan.wishes
		m.plan.replace(map[string]wish{})
	case len(m.discarded) > 0:
		m.plan.replace(m.discarded)
		m.discarded, m.status = nil, ""
		m.plan.rebase(m.list.items)
	}
	m.preview = nil
}

func (m *Model) resize(size Size) {
	m.size = size
	m.fillPager()
	m.list.keepVisible(m.rowsOfList())
}
