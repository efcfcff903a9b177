package history

import (
	"bytes"
	"strings"

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
	mode
	skills
	team
	agentMode
)

// notices are the texts of the last notices in the context.
type notices struct{ environment, instructions, reminder, mode, skills, team, agentMode string }

// Environment returns the text of the last environment context, or "".
func (h *History) Environment() string { return h.notices.environment }

// Instructions returns the text of the last instructions, or "".
func (h *History) Instructions() string { return h.notices.instructions }

// Reminder returns the text of the last reminder, or "".
func (h *History) Reminder() string { return h.notices.reminder }

// Mode returns the last instructions for a mode, without their tags, or "".
func (h *History) Mode() string { return h.notices.mode }

// Skills returns the last list of skills, without its tags, or "".
func (h *History) Skills() string { return h.notices.skills }

// Team returns the last facts about the other agents, without their tags, or "".
func (h *History) Team() string { return h.notices.team }

// AgentMode returns the last instructions on when to start agents, without their tags, or "".
func (h *History) AgentMode() string { return h.notices.agentMode }

var (
	modeMark         = []byte(protocol.ModeTag)
	skillsMark       = []byte(protocol.SkillsTag)
	teamMark         = []byte(protocol.TeamTag)
	agentModeMark    = []byte(protocol.AgentModeTag)
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

// developerNoticeOf returns the subject of a message in the role of the developer. The reference implementation puts
// several subjects into one message; its mode counts.
func developerNoticeOf(raw []byte) notice {
	switch {
	case bytes.Contains(raw, modeMark):
		return mode
	case bytes.Contains(raw, skillsMark):
		return skills
	case bytes.Contains(raw, teamMark):
		return team
	case bytes.Contains(raw, agentModeMark):
		return agentMode
	}
	return noNotice
}

// between returns the part of a text between two marks, or "".
func between(text, begin, end string) string {
	_, text, _ = strings.Cut(text, begin)
	text, _, _ = strings.Cut(text, end)
	return text
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
	case mode:
		h.notices.mode = between(TextOf(c.Protocol()), protocol.ModeTag, protocol.ModeEnd)
	case skills:
		h.notices.skills = between(TextOf(c.Protocol()), protocol.SkillsTag, protocol.SkillsEnd)
	case team:
		h.notices.team = between(TextOf(c.Protocol()), protocol.TeamTag, protocol.TeamEnd)
	case agentMode:
		h.notices.agentMode = between(TextOf(c.Protocol()), protocol.AgentModeTag, protocol.AgentModeEnd)
	}
}

// findNotices finds the texts in force again, after an edit hid items or brought them back.
func (h *History) findNotices() {
	h.notices = notices{}
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

// placeReminder moves a reminder that joined last directly before the user's message that it answers: before the first
// item of its turn that is no notice. It stays there, as the requests after it have it, and later reminders follow.
// The items of a compaction are in their order already.
func (h *History) placeReminder() {
	place, question := h.items.Len()-1, None
	turn := h.Item(place).turnID
	if turn == "" || h.Item(place).IsPart() {
		return
	}
	for i := place - 1; i >= 0 && h.Item(i).turnID == turn && !h.Item(i).IsPart(); i-- {
		if h.Item(i).notice == noNotice {
			question = i
		}
	}
	if question != None {
		h.move(int32(place), int32(question))
	}
}

// IsReminder reports whether the item is a reminder of the memory.
func (c *Item) IsReminder() bool { return c.notice == reminder }
