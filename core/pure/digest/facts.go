package digest

import (
	"slices"
	"strings"

	"appserver/core/pure/command"
	"appserver/protocol"
)

const (
	// entryLimit is the length of an entry of Facts, in bytes.
	entryLimit = 200
	// ruleLimit is the length of a rule of the user, in bytes. Rules are kept word for word.
	ruleLimit = 1000
	// listLimit is the largest number of entries of a list of Facts, and ruleCount that of rules.
	listLimit = 200
	ruleCount = 1000
	// messageRules is the largest number of rules of one message of the user. More are the text of a document.
	messageRules = 100
)

// Facts are the contents of a part of a conversation. Entries are one line of at most 200 bytes, rules of
// the user of at most 1,000, each once, in the order in which they first appeared. Of more than 200 entries,
// or 1,000 rules, the newest are kept. Lists are never nil.
type Facts struct {
	// FilesChanged are paths as patches and scripts give them. Whether a patch or a
	// script then failed does not count: it may have done a part of its work.
	FilesChanged []string `json:"filesChanged"`
	// CommandsRun are the first lines of shell scripts, with the failure of the last run and its cause:
	// "go vet ./... (exit 1): a.go:3:1: undefined: x". The cause is a line of the output, of at most 200
	// bytes more. A line that is a part of its script ends with an ellipsis. Scripts that surely only read
	// are left out unless they failed.
	CommandsRun []string `json:"commandsRun"`
	// Decisions are sentences of the user and of the assistant that settle something.
	Decisions []string `json:"decisions"`
	// OpenQuestions are the questions of the last message if it is the assistant's, or of the user's
	// messages since the assistant's last. A question counts as answered after any message of the other
	// side.
	OpenQuestions []string `json:"openQuestions"`
	// UserConstraints are the rules of the user: sentences that bind, such as do not, only, always. Of one
	// message they are the first 100.
	UserConstraints []string `json:"userConstraints"`
}

// Source is a part of a conversation. Its items are read once: no field may change after a method was called. It is not
// safe for concurrent use.
type Source struct {
	Items []protocol.ResponseItem
	// Former is the summary of the part before it, or "".
	Former string
	// Dir is the working directory, or "". Paths below it are shown relative to it.
	Dir string
	// WithoutRules leaves the rules of the user out of an extract.
	WithoutRules bool
	found        *gathering // nil until the items are read
}

// Of returns the facts of a part of a conversation.
func Of(items []protocol.ResponseItem) Facts { return (&Source{Items: items}).Facts() }

// Facts returns the facts of the part.
func (s *Source) Facts() Facts { return s.gathered().facts() }

func (s *Source) gathered() *gathering {
	if s.found == nil {
		s.found = s.gather()
	}
	return s.found
}

func (s *Source) gather() *gathering {
	g := &gathering{dir: s.Dir, runs: map[string]*execution{}, waiting: map[string]*execution{}}
	for i, item := range s.Items {
		g.at = i
		g.read(item)
	}
	for _, m := range g.unanswered {
		for sentence := range sentences(m.text) {
			if isQuestion(sentence) {
				g.questions.add(lastBytes(sentence, entryLimit), entryLimit, m.at)
			}
		}
	}
	g.commands = g.keptCommands()
	return g
}

func (g *gathering) facts() Facts {
	f := Facts{
		FilesChanged: newest(g.files.list), CommandsRun: []string{}, Decisions: newest(g.decisions.list),
		OpenQuestions: newest(g.questions.list), UserConstraints: last(g.rules.list, ruleCount),
	}
	for _, run := range g.commands {
		f.CommandsRun = append(f.CommandsRun, run.text())
	}
	return f
}

// notes are entries, each once, in the order of their first appearance, with the items that state them.
type notes struct {
	items map[string][]int
	list  []string
}

// add records the beginning of a text of the item at an index.
func (n *notes) add(text string, limit, at int) {
	entry := headLine(text, limit)
	if entry == "" {
		return
	}
	if n.items == nil {
		n.items = map[string][]int{}
	}
	known := n.items[entry]
	if known == nil {
		n.list = append(n.list, entry)
	}
	if len(known) == 0 || known[len(known)-1] != at {
		n.items[entry] = append(known, at)
	}
}

// newest returns a copy of the end of a list. It is not nil.
func newest(list []string) []string { return last(list, listLimit) }

func last[E any](list []E, n int) []E { return append([]E{}, list[max(0, len(list)-n):]...) }

// gathering reads items one after the other.
type gathering struct {
	dir string
	// at is the index of the item that is read.
	at                                 int
	files, decisions, questions, rules notes
	// runs are the executions by their entry; order has them as they first appeared.
	runs  map[string]*execution
	order []*execution
	// waiting are those whose output was not read yet, by call id.
	waiting map[string]*execution
	// commands are the executions that are facts.
	commands []*execution
	// unanswered are the messages since the last one of the other side.
	unanswered []placed
}

// placed is a message with the index of its item.
type placed struct {
	message
	at int
}

// execution is a script with the result of its last run.
type execution struct {
	entry, script  string
	failure, cause string
	// calls are the items that ran it. output is the item of the last output, or -1.
	calls  []int
	output int
}

// text returns the entry of the script in Facts.
func (e *execution) text() string {
	switch {
	case e.failure == "":
		return e.entry
	case e.cause == "":
		return e.entry + " (" + e.failure + ")"
	}
	return e.entry + " (" + e.failure + "): " + e.cause
}

// items returns the indices of the calls, and of the output that reports a failure.
func (e *execution) items() []int {
	if e.failure == "" || e.output < 0 {
		return e.calls
	}
	return append(slices.Clone(e.calls), e.output)
}

func (g *gathering) read(item protocol.ResponseItem) {
	if m, ok := readMessage(item); ok {
		g.message(m)
	} else if c, ok := readCall(item); ok {
		g.call(c)
	} else if o, ok := readOutput(item); ok {
		if run := g.waiting[o.callID]; run != nil {
			run.failure, run.cause, run.output = failure(o.text), "", g.at
			if run.failure != "" && run.failure != notRun {
				run.cause = relative(causeIn(o.text), g.dir)
			}
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
	g.unanswered = append(g.unanswered, placed{m, g.at})
	for sentence := range sentences(m.text) {
		if s := statementOf(sentence); s.settles() {
			g.decisions.add(s.excerpt(decisive, entryLimit), entryLimit, g.at)
		}
	}
	if m.role == protocol.RoleUser {
		for _, rule := range rulesIn(m.text) {
			g.rules.add(rule, ruleLimit, g.at)
		}
	}
}

func (g *gathering) call(c call) {
	for _, file := range patched(c.input) {
		g.files.add(relative(file, g.dir), entryLimit, g.at)
	}
	if !c.shell {
		return
	}
	script := scriptIn(c.script, c.dir, g.dir)
	for _, file := range command.Changes(script) {
		g.files.add(relative(file, g.dir), entryLimit, g.at)
	}
	script = relative(script, g.dir)
	entry := scriptEntry(script)
	if entry == "" {
		return
	}
	run := g.runs[entry]
	if run == nil {
		run = &execution{entry: entry}
		g.runs[entry] = run
		g.order = append(g.order, run)
	}
	run.script, run.failure, run.cause, run.output = script, "", "", -1
	run.calls = append(run.calls, g.at)
	g.waiting[c.id] = run
}

// keptCommands returns the newest scripts that changed something or failed.
func (g *gathering) keptCommands() (runs []*execution) {
	for _, run := range g.order {
		if run.failed() || !command.Safe(run.script) {
			runs = append(runs, run)
		}
	}
	return last(runs, listLimit)
}

// failed reports whether the last run failed. A script that only reads and exits with 1 without an output
// found nothing.
func (e *execution) failed() bool {
	foundNothing := e.failure == "exit 1" && e.cause == "" && command.Safe(e.script)
	return e.failure != "" && !foundNothing
}

// longestFailure is the longest text between the script and the cause in an entry.
const longestFailure = " (exit -2147483648)"

// scriptEntry returns the first line of a script that is not blank, with an ellipsis if more follows. It leaves room
// for a failure.
func scriptEntry(script string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(script), "\n")
	entry := headLine(first, entryLimit-len(longestFailure)-len(" …"))
	if rest != "" && !strings.HasSuffix(entry, "…") {
		entry += " …"
	}
	return entry
}
