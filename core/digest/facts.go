package digest

import (
	"appserver/core/command"
	"appserver/protocol"
)

const (
	// entryLimit is the length of an entry of Facts, in bytes.
	entryLimit = 200
	// listLimit is how many entries a list of Facts has at most.
	listLimit = 200
	// manyCommands is the number of changing commands from which read-only commands are left out.
	manyCommands = 20
)

// Facts are the contents of a part of a conversation. Entries are one line of at most 200 bytes, each
// once, in the order in which they first appeared. Of more than 200 entries the newest are kept. Lists
// are never nil.
type Facts struct {
	// FilesChanged are paths as patches and scripts give them. Whether a patch or a
	// script then failed does not count: it may have done a part of its work.
	FilesChanged []string `json:"filesChanged"`
	// CommandsRun are the first lines of shell scripts, with the failure of the last run: "go test ./...
	// (exit 1)". A line that is a part of its script ends with an ellipsis. Scripts that surely only read
	// are left out if there are 20 others.
	CommandsRun []string `json:"commandsRun"`
	// Decisions are sentences of the user and of the assistant that settle something.
	Decisions []string `json:"decisions"`
	// OpenQuestions are the questions of the last message if it is the assistant's, or of the user's
	// messages since the assistant's last. A question counts as answered after any message of the other
	// side.
	OpenQuestions []string `json:"openQuestions"`
	// UserConstraints are sentences of the user that bind: do, do not, only, always.
	UserConstraints []string `json:"userConstraints"`
}

// Of gathers the facts of a stretch.
func Of(items []protocol.ResponseItem) Facts {
	g := gathering{runs: map[string]*execution{}, waiting: map[string]*execution{}}
	for _, item := range items {
		g.read(item)
	}
	return Facts{
		FilesChanged: g.files.newest(), CommandsRun: g.commands(), Decisions: g.decisions.newest(),
		OpenQuestions: g.questions(), UserConstraints: g.constraints.newest(),
	}
}

// notes are entries, each once, in the order of their first appearance.
type notes struct {
	seen map[string]bool
	list []string
}

// add notes the beginning of a text.
func (n *notes) add(text string) {
	entry := headLine(text, entryLimit)
	if entry == "" || n.seen[entry] {
		return
	}
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	n.seen[entry] = true
	n.list = append(n.list, entry)
}

func (n *notes) newest() []string { return newest(n.list) }

// newest is a copy of the end of a list, which is not nil.
func newest(list []string) []string {
	return append([]string{}, list[max(0, len(list)-listLimit):]...)
}

// gathering reads items one after the other.
type gathering struct {
	files, decisions, constraints notes
	// runs are the executions by their entry; order has them as they first appeared.
	runs  map[string]*execution
	order []*execution
	// waiting are those whose output was not read yet, by call id.
	waiting map[string]*execution
	// unanswered are the messages since the last one of the other side.
	unanswered []message
}

// execution is a script with its result.
type execution struct{ entry, script, failure string }

func (g *gathering) read(item protocol.ResponseItem) {
	if m, ok := readMessage(item); ok {
		g.message(m)
	} else if c, ok := readCall(item); ok {
		g.call(c)
	} else if o, ok := readOutput(item); ok {
		if run := g.waiting[o.callID]; run != nil {
			run.failure = failure(o.text)
			delete(g.waiting, o.callID)
		}
	}
}

func (g *gathering) message(m message) {
	if !m.spoken() {
		return
	}
	if m.role == protocol.RoleAssistant || len(g.unanswered) > 0 && g.unanswered[0].role != m.role {
		g.unanswered = nil
	}
	g.unanswered = append(g.unanswered, m)
	var words []string
	for sentence := range sentences(m.text) {
		words = wordsOf(words[:0], sentence)
		s := statement{sentence, words}
		if s.settles() {
			g.decisions.add(s.excerpt(decisive))
		}
		if m.role == protocol.RoleUser && s.binds() {
			g.constraints.add(s.excerpt(binding))
		}
	}
}

func (g *gathering) call(c call) {
	for _, file := range patched(c.input) {
		g.files.add(file)
	}
	if !c.shell {
		return
	}
	for _, file := range command.Changes(c.script) {
		g.files.add(file)
	}
	entry := scriptEntry(c.script)
	if entry == "" {
		return
	}
	run := g.runs[entry]
	if run == nil {
		run = &execution{entry: entry}
		g.runs[entry] = run
		g.order = append(g.order, run)
	}
	run.script, run.failure = c.script, ""
	g.waiting[c.id] = run
}

// commands are the entries of what was run, with how it failed.
func (g *gathering) commands() []string {
	var all, changing []string
	for _, run := range g.order {
		entry := run.entry
		if run.failure != "" {
			entry += " (" + run.failure + ")"
		}
		all = append(all, entry)
		if !command.Safe(run.script) {
			changing = append(changing, entry)
		}
	}
	if len(changing) >= manyCommands {
		return newest(changing)
	}
	return newest(all)
}

func (g *gathering) questions() []string {
	var open notes
	for _, m := range g.unanswered {
		for sentence := range sentences(m.text) {
			if isQuestion(sentence) {
				open.add(lastBytes(sentence, entryLimit))
			}
		}
	}
	return open.newest()
}
