package history

import (
	"bytes"

	"appserver/protocol"
)

// Marks begin the messages by which the model is informed. The reference implementation puts
// AGENTS.md under a heading.
const (
	EnvironmentTag   = "<environment_context>"
	InstructionsTag  = "<user_instructions>"
	InstructionsHead = "# AGENTS.md instructions"
	AbortedTag       = "<turn_aborted>"
	ShellTag         = "<user_shell_command>"
	SkillTag         = "<skill>"
)

// notice is the subject of a message by which this server informs the model. Such a message has no
// id, so it differs from a message of the user with the same text.
type notice int8

const (
	noNotice notice = iota
	environment
	instructions
	reminder
)

// notices are the texts of the last notices in the context.
type notices struct{ environment, instructions, reminder string }

// Environment returns the text of the last environment context, or "".
func (h *History) Environment() string { return h.notices.environment }

// Instructions returns the text of the last instructions, or "".
func (h *History) Instructions() string { return h.notices.instructions }

// Reminder returns the text of the last reminder, or "".
func (h *History) Reminder() string { return h.notices.reminder }

var (
	environmentMark  = []byte(`"` + EnvironmentTag)
	instructionsMark = []byte(`"` + InstructionsTag)
	foreignMark      = []byte(`"` + InstructionsHead)
	reminderMark     = []byte(`"` + protocol.ReminderHead)
	idMark           = []byte(`"id":`)
)

// noticeOf returns the subject of a message in the role of the user, by its first bytes.
func noticeOf(raw []byte) notice {
	head := raw[:min(len(raw), 512)]
	switch {
	case opens(head, foreignMark):
		return instructions
	case bytes.Contains(head[:min(len(head), 64)], idMark):
		return noNotice
	case opens(head, environmentMark):
		return environment
	case opens(head, instructionsMark):
		return instructions
	case opens(head, reminderMark):
		return reminder
	}
	return noNotice
}

// opens reports whether a text of the JSON begins with a mark, which begins with a quote.
func opens(head, mark []byte) bool {
	at := bytes.Index(head, mark)
	return at == 0 || at > 0 && head[at-1] != '\\'
}

// readNotice updates the texts in force by an item.
func (h *History) readNotice(c *Item) {
	switch c.notice {
	case environment:
		h.notices.environment = TextOf(c.Protocol())
	case instructions:
		h.notices.instructions = TextOf(c.Protocol())
	case reminder:
		h.notices.reminder = TextOf(c.Protocol())
	}
}

// findNotices finds the texts in force again, after an edit hid items or brought them back.
func (h *History) findNotices() {
	h.notices = notices{}
	h.findReminder()
	for _, i := range h.sortedShown() {
		if c := h.Item(i); c.InForm() {
			h.readNotice(c)
		}
	}
}

// isSuperseded reports whether a later message replaces or ends the instructions of this one.
func (h *History) isSuperseded(place int) bool {
	return h.Item(place).notice == instructions && place < h.lastInstructions()
}

// lastInstructions returns the place of the last message with instructions, or of the message that
// ended them, or None. Whether the user excludes it has no effect: earlier instructions do not
// belong to the working directory either way.
func (h *History) lastInstructions() int { return h.lastNotice(instructions) }

// lastNotice returns the last place of a message about a subject that is not hidden, or None.
func (h *History) lastNotice(subject notice) int {
	last := None
	for place := range h.Shown() {
		if h.Item(place).notice == subject {
			last = max(last, place)
		}
	}
	return last
}

// replaceReminder makes the item that joined last the reminder in force. The prompt has at most one.
func (h *History) replaceReminder() {
	h.setReminder(int32(h.items.Len() - 1))
	before := h.announced.reordered
	h.placeReminder()
	h.announced.reordered = before // clients do not know the place of a new item
}

// placeReminder moves the reminder directly before the conversation: before the first item that is no notice
// and that a reader without edits finds, or to the end. The place depends on the lines and the destination
// alone, so that undo and a reload give the same order.
func (h *History) placeReminder() {
	if h.reminderAt == 0 {
		return
	}
	first := int32(None)
	for i := range h.Shown() {
		if c := h.Item(i); c.notice == noNotice && c.InForm() && h.remains(i) {
			first = int32(i)
			break
		}
	}
	h.conversing = first != None
	if h.move(h.reminderAt-1, first) {
		h.announced.reordered = true
	}
}

func (h *History) setReminder(place int32) {
	h.usage = nil
	if h.reminderAt > 0 {
		h.at(h.reminderAt - 1).outdated = true
	}
	h.reminderAt = place + 1
	h.at(place).outdated = false
}

// findReminder puts the last reminder that is not hidden in force. If a revert took out the turn of a
// reminder, the one before it is in force again.
func (h *History) findReminder() {
	if last := h.lastNotice(reminder); last != None {
		h.setReminder(int32(last))
	}
}
