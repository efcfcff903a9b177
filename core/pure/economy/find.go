package economy

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"appserver/core/pure/command"
	"appserver/core/pure/digest"
	"appserver/core/pure/history"
	"appserver/platform/pattern"
	"appserver/protocol"
)

const (
	// minOutput is the least cost of an output that is taken out, in tokens. Placeholders cost about 20.
	minOutput = 40
	// keptTurns are the last turns from which nothing is taken out if they have few outputs.
	keptTurns = 2
	// usedFor is the time for which an output stays after its last use, in multiples of Options.KeepOutputs.
	usedFor = 2
)

// Options select what Find names.
type Options struct {
	// Cwd is the working directory of the thread.
	Cwd string
	// KeepOutputs is the number of the last outputs that stay, with all that follows them.
	KeepOutputs int
	// Skip are places that stay.
	Skip map[int]bool
	// QuotesExpire lets outputs leave that messages quoted some time ago. The messages have the quotes.
	QuotesExpire bool
}

// Finding is a group of items with one reason.
type Finding struct {
	Reason protocol.SuggestionReason
	// Subject is the file or the command that the items are about, or "".
	Subject string
	// Places are the items, in order. Outcomes has for each of them the outcome of a failure that no later item
	// has, or "".
	Places   []int
	Outcomes []string
}

// note returns the text of the placeholder of the k-th item: the reason or the outcome of a failure, and the
// command that includes the item again. The call itself says what it was.
func (f *Finding) note(h *history.History, k int) string {
	back := "$ recall " + h.Item(f.Places[k]).ID()
	if why := cmp.Or(notes[f.Reason], f.Outcomes[k]); why != "" {
		return why + "; " + back
	}
	return back
}

// exchange is a call with its output.
type exchange struct {
	place, rank int // of the output
	call        digest.Call
	text        string
	// script is the script of a shell, from the working directory of the thread, or "".
	script string
	tokens int64
	failed bool
	images bool
	// running is set if the command had not ended.
	running bool
	// whole is set if the output has all that the tool returned: nothing of it was cut.
	whole   bool
	reads   []command.Read
	changes []string
}

// finder has the parts of a history that reasons depend on.
type finder struct {
	Options
	*history.History
	ranks     map[int]int // of the items that are not hidden, by place
	exchanges []exchange
	// protected is the rank from which on nothing is taken out. turn is the rank at which the last turn
	// begins. used is the rank from which on a use of an output keeps it.
	protected, turn, used int
	quotes                quotes
	found                 map[string]*Finding
	order                 []string
}

// Find returns the groups of items that the next requests can do without, in the order of their first
// items. It reads the text of every item of the prompt.
func Find(h *history.History, o Options) []Finding {
	f := &finder{Options: o, History: h, ranks: map[int]int{}, quotes: newQuotes(), found: map[string]*Finding{}}
	f.read()
	if f.protected > 0 {
		f.findOutputs()
		f.findReasoning()
	}
	findings := make([]Finding, len(f.order))
	for i, key := range f.order {
		findings[i] = *f.found[key]
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return f.ranks[a.Places[0]] - f.ranks[b.Places[0]] })
	return findings
}

// read reads the prompt.
func (f *finder) read() {
	rank, starts, last := 0, []int{}, ""
	for place := range f.Shown() {
		f.ranks[place] = rank
		c := f.Item(place)
		if turn := c.TurnID(); f.InPrompt(place) && turn != "" && turn != last {
			starts, last = append(starts, rank), turn
		}
		if f.InPrompt(place) {
			f.readItem(place, rank)
		}
		rank++
	}
	f.turn = startOf(starts, 1)
	f.protected = startOf(starts, keptTurns)
	if n := len(f.exchanges) - f.KeepOutputs; n > 0 {
		f.protected = f.exchanges[n].rank
	}
	if n := len(f.exchanges) - usedFor*f.KeepOutputs; n > 0 {
		f.used = f.exchanges[n].rank
	}
}

// startOf returns the rank at which the last n turns begin.
func startOf(starts []int, n int) int {
	if n > len(starts) {
		return 0
	}
	return starts[len(starts)-n]
}

func (f *finder) readItem(place, rank int) {
	c := f.Item(place)
	switch {
	case c.IsOutput() && c.Pair() != history.None:
		item := c.Sent()
		text, _ := digest.OutputOf(item)
		call, _ := digest.CallOf(f.Item(c.Pair()).Decode())
		e := exchange{place: place, rank: rank, call: call, text: text, tokens: f.SentTokens(place),
			failed: digest.Failed(text), images: hasImages(item), running: runningMark().MatchString(text)}
		e.whole = !e.running && !c.Replaced() && !cutMark().MatchString(text)
		if call.Shell {
			e.script = call.ScriptIn(f.Cwd)
			e.reads = f.readsOf(e.script)
		}
		if !digest.NotRun(text) {
			e.changes = f.changesOf(&e)
		}
		f.exchanges = append(f.exchanges, e)
	case c.IsCall():
		if call, ok := digest.CallOf(c.Decode()); ok && len(call.Patched) > 0 {
			f.quotes.addPatch(call.Input, rank)
		}
	case f.Category(place) == protocol.CategoryAssistantMessage:
		f.quotes.addMessage(c.Text(), rank)
		f.quotes.answer = rank
	case f.IsUserMessage(place):
		f.quotes.addMessage(c.Text(), rank)
	}
}

// runningMark matches the line of an output whose command still runs: more of it comes later.
var runningMark = pattern.New(`(?m)^Process running with session ID `)

// cutMark matches the marks of cut outputs: our own, and the ones of other programs whose histories are read.
var cutMark = pattern.New(`\[\.\.\. \d+ bytes cut \.\.\.\]|…\d+ (?:tokens|chars) truncated…|` +
	`\[\.\.\. omitted \d+ of \d+ lines \.\.\.\]`)

// changesOf returns the files that a call changed.
func (f *finder) changesOf(e *exchange) []string {
	dir, _, _ := command.Patch(e.script)
	all := f.normal(command.Changes(e.script))
	for _, name := range e.call.Patched {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		all = append(all, f.relative(name))
	}
	return all
}

func (f *finder) readsOf(script string) []command.Read {
	reads := command.Reads(script)
	for i := range reads {
		reads[i].Path = f.relative(reads[i].Path)
	}
	return reads
}

func (f *finder) normal(paths []string) []string {
	all := make([]string, len(paths))
	for i, p := range paths {
		all[i] = f.relative(p)
	}
	return all
}

// relative returns a path below the working directory without it.
func (f *finder) relative(name string) string {
	name = filepath.Clean(name)
	if below, ok := strings.CutPrefix(name, strings.TrimSuffix(f.Cwd, "/")+"/"); ok && f.Cwd != "" {
		return below
	}
	return name
}

func hasImages(item protocol.ResponseItem) bool {
	var parts []protocol.ContentItem
	switch v := item.ResponseItemVariant.(type) {
	case *protocol.FunctionCallOutput:
		parts = v.Output.Parts
	case *protocol.CustomToolCallOutput:
		parts = v.Output.Parts
	}
	return slices.ContainsFunc(parts, func(p protocol.ContentItem) bool { return p.Type == protocol.ContentInputImage })
}

// later has the actions of the exchanges after the present one.
type later struct {
	reads   map[string][]command.Read // by path
	changed map[string]bool           // by path
	runs    map[string]bool           // those that succeeded, by script or arguments
	texts   map[string]bool           // of outputs
}

// findOutputs adds the outputs of the exchanges, from the last to the first.
func (f *finder) findOutputs() {
	l := later{map[string][]command.Read{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for i := len(f.exchanges) - 1; i >= 0; i-- {
		e := &f.exchanges[i]
		if f.mayGo(e) {
			if reason := f.reasonOf(i, &l); reason != "" {
				f.add(reason, e)
			}
		}
		l.add(e)
	}
	for _, found := range f.found { // they were found from the last to the first
		slices.Reverse(found.Places)
		slices.Reverse(found.Outcomes)
	}
}

func (l *later) add(e *exchange) {
	for _, r := range e.reads {
		if !e.failed && e.whole {
			l.reads[r.Path] = append(l.reads[r.Path], r)
		}
	}
	for _, p := range e.changes {
		l.changed[p] = true
	}
	if !e.failed && !e.running {
		l.runs[e.key()] = true
	}
	if !e.images { // their texts do not have the images
		l.texts[e.text] = true
	}
}

func (e *exchange) key() string {
	if e.call.Shell {
		return "\x00" + e.script
	}
	return e.call.Tool + "\x00" + e.call.Input
}

// mayGo reports whether any reason can take out an output.
func (f *finder) mayGo(e *exchange) bool {
	c, since := f.Item(e.place), e.rank
	if f.QuotesExpire {
		since = max(since, f.used-1)
	}
	return e.rank < f.protected && e.tokens >= minOutput && !f.Skip[e.place] && !f.IsPinned(c) &&
		!f.IsPinned(f.Item(c.Pair())) && !f.quotes.quoted(e.text, since)
}

// reasonOf returns the first reason why the i-th exchange's output is superfluous, or "".
func (f *finder) reasonOf(i int, l *later) protocol.SuggestionReason {
	e := &f.exchanges[i]
	again := l.runs[e.key()]
	switch {
	case l.supersede(e):
		return protocol.SuggestSupersededRead
	case again && e.failed:
		return protocol.SuggestFailedAttempt
	case again && e.call.Shell: // other tools can return the next part with each call
		return protocol.SuggestRepeatedCommand
	case l.texts[e.text] && !e.images:
		return protocol.SuggestDuplicateOutput
	case l.change(e):
		return protocol.SuggestStaleRead
	case e.images && f.quotes.answeredAfter(e.rank):
		return protocol.SuggestDescribedImage
	case i+f.KeepOutputs < len(f.exchanges) && !f.quotes.patched(e.text, f.exchanges[i+f.KeepOutputs].rank) &&
		!f.quotes.quoted(e.text, e.rank):
		return protocol.SuggestUncitedOutput
	case e.rank < f.used && !f.quotes.patched(e.text, f.used-1):
		return protocol.SuggestOldOutput
	}
	return ""
}

// supersede reports whether later reads have all of an exchange's reads.
func (l *later) supersede(e *exchange) bool {
	return len(e.reads) > 0 && !slices.ContainsFunc(e.reads, func(r command.Read) bool {
		return !slices.ContainsFunc(l.reads[r.Path], func(other command.Read) bool { return other.Covers(r) })
	})
}

// change reports whether all files that an exchange read were changed later.
func (l *later) change(e *exchange) bool {
	return len(e.reads) > 0 && !slices.ContainsFunc(e.reads, func(r command.Read) bool { return !l.changed[r.Path] })
}

// add adds an output to the group of its reason and subject.
func (f *finder) add(reason protocol.SuggestionReason, e *exchange) {
	subject, outcome := "", ""
	switch {
	case reason == protocol.SuggestUncitedOutput, reason == protocol.SuggestOldOutput,
		reason == protocol.SuggestDescribedImage:
		if e.failed {
			outcome = digest.Outcome(e.text)
		}
	case len(e.reads) > 0:
		subject = e.reads[0].Path
	default:
		subject = e.what()
	}
	f.group(reason, subject, e.place, outcome)
}

func (f *finder) group(reason protocol.SuggestionReason, subject string, place int, outcome string) {
	key := string(reason) + "\x00" + subject
	g := f.found[key]
	if g == nil {
		g = &Finding{Reason: reason, Subject: subject}
		f.found[key], f.order = g, append(f.order, key)
	}
	g.Places, g.Outcomes = append(g.Places, place), append(g.Outcomes, outcome)
}

// findReasoning adds the reasoning before the last turn.
func (f *finder) findReasoning() {
	for place := range f.Shown() {
		c := f.Item(place)
		if f.ranks[place] < min(f.turn, f.protected) && f.InPrompt(place) &&
			f.Category(place) == protocol.CategoryReasoning && !c.Pinned() && !f.Skip[place] {
			f.group(protocol.SuggestOldReasoning, "", place, "")
		}
	}
}
