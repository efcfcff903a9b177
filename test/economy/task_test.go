package economy

import (
	"fmt"
	"path"
	"strings"
	"time"

	"appserver/core/pure/patch"
)

// task works on one commit: search, read, edit, test, and sometimes fail, fix and test again.
func (w *writer) task(c *commit, edits []edit) {
	w.begin(fmt.Sprintf(requests[w.IntN(len(requests))], c.subject))
	w.explore(&edits[0])
	for i := range edits {
		if w.done() {
			return
		}
		w.change(&edits[i])
	}
	switch w.IntN(4) {
	case 0:
		w.add(answer{text: "All of it is changed.", calls: []call{w.shell("git diff --stat", diffStat(edits), 0)}})
	case 1:
		w.add(answer{calls: []call{w.shell("git log --oneline -20", w.log(), 0)}})
	case 2:
		w.failOnce()
	}
	if w.open != nil && w.shape.most <= 8 {
		w.end(reports[w.IntN(len(reports))])
	}
}

// explore searches a word of an edit, and lists its folder.
func (w *writer) explore(e *edit) {
	folder := path.Dir(e.path)
	names := w.tree.in(folder)
	word := w.identifier(e.after)
	found := search(word, names, func(name string) string { return w.repo.blobs.read(w.tree[name]) })
	exit := 0
	if found == "" {
		exit = 1
	}
	calls := []call{w.shell(fmt.Sprintf("rg -n %s %s", word, folder), found, exit)}
	if w.IntN(3) == 0 {
		calls = append(calls, w.shell("ls "+folder, strings.Join(names, "\n")+"\n", 0))
	}
	w.add(answer{text: fmt.Sprintf("I look for %s first.", word), calls: calls})
}

// lookAround reads a part of a file that the edit may concern, or searches in its folder.
func (w *writer) lookAround(e *edit) {
	names := w.tree.all()
	if len(names) == 0 {
		return
	}
	name := names[w.IntN(len(names))]
	if w.IntN(3) == 0 {
		near := edit{path: name, after: e.after}
		w.explore(&near)
		return
	}
	text := w.repo.blobs.read(w.tree[name])
	from := 1 + w.IntN(max(strings.Count(text, "\n")-100, 1))
	w.add(answer{calls: []call{w.shell(fmt.Sprintf("sed -n '%d,%dp' %s", from, from+200, name),
		lines(text, from, from+200), 0)}})
}

// change reads a file, edits it and tests it.
func (w *writer) change(e *edit) {
	read := w.read(e)
	for range w.IntN(3) {
		w.lookAround(e)
	}
	first, second := split(e)
	w.patch(e, e.before, first, read)
	if second == "" && w.IntN(3) > 0 {
		return
	}
	pkg := path.Dir(e.path)
	script := fmt.Sprintf("go test ./%s -count=1", pkg)
	middle := applied(e, e.before, first)
	if w.IntN(100) >= 45 || second == "" && w.IntN(2) == 0 {
		w.patch(e, middle, second, read)
		w.add(answer{calls: []call{w.test(script, passedReport(w.Rand, pkg), 0)}})
		w.solve(script)
		return
	}
	report, test, cause := failedReport(w.Rand, pkg, e.path, w.identifier(e.after))
	failed := w.test(script, report, 1)
	w.add(answer{calls: []call{failed}})
	w.failedFact(failed, cause)
	w.questions = append(w.questions, question{w.failureQuestion(test, cause), failed.id, cause})
	at := 1 + w.IntN(max(strings.Count(middle, "\n")-60, 1))
	again := w.shell(fmt.Sprintf("sed -n '%d,%dp' %s", at, at+60, e.path), lines(middle, at, at+60), 0)
	w.add(answer{text: "The cause is visible in the report.", calls: []call{again}, needs: []string{failed.id}})
	if second == "" {
		return // it stays unsolved
	}
	w.patch(e, middle, second, again.id)
	w.add(answer{calls: []call{w.test(script, passedReport(w.Rand, pkg), 0)}})
	w.solve(script)
}

// failedFact records that a script failed. An earlier failure of it counts no more.
func (w *writer) failedFact(c call, cause string) {
	if i, failed := w.ran[c.script]; failed {
		w.facts[i].solvedBy = c.id
	}
	w.ran[c.script] = len(w.facts)
	w.facts = append(w.facts, fact{kind: commandFailed, text: c.script, cause: cause, exit: c.exit, call: c.id})
}

// solve records that a script succeeded that failed before.
func (w *writer) solve(script string) {
	if i, failed := w.ran[script]; failed && !w.done() {
		w.facts[i].solvedBy = w.seen[len(w.seen)-1].id
		delete(w.ran, script)
	}
}

func (w *writer) test(script, output string, exit int) call {
	c := w.shell(script, bounded(output), exit)
	c.took = time.Duration(3+w.IntN(50)) * time.Second
	return c
}

// read reads a file, or the parts of it that change, or a neighbour of a new file. It returns the id of the call.
func (w *writer) read(e *edit) string {
	name, text := e.path, e.before
	if text == "" {
		names := w.tree.in(path.Dir(e.path))
		if len(names) == 0 {
			return ""
		}
		name = names[w.IntN(len(names))]
		text = w.repo.blobs.read(w.tree[name])
	}
	total := strings.Count(text, "\n") + 1
	var c call
	switch way := w.IntN(4); {
	case way == 0 && len(text) < maxOutput || len(text) < 3000:
		c = w.shell("cat "+name, bounded(text), 0)
	case way <= 2:
		c = w.shell(fmt.Sprintf("sed -n '1,%dp' %s", min(total, 250), name), lines(text, 1, min(total, 250)), 0)
	default:
		from := max(firstDifference(e.before, e.after)-40, 1)
		c = w.shell(fmt.Sprintf("sed -n '%d,%dp' %s", from, from+180, name), lines(text, from, from+180), 0)
	}
	calls := []call{c}
	if names := w.tree.in(path.Dir(name)); w.IntN(3) == 0 && len(names) > 0 { // a file beside it
		other := names[w.IntN(len(names))]
		calls = append(calls, w.shell(fmt.Sprintf("sed -n '1,120p' %s", other),
			lines(w.repo.blobs.read(w.tree[other]), 1, 120), 0))
	}
	w.add(answer{calls: calls})
	w.askAboutRead(c, name)
	return c.id
}

// askAboutRead adds a question about a declaration that an output has.
func (w *writer) askAboutRead(c call, name string) {
	for line := range strings.Lines(c.output) {
		declared, ok := strings.CutPrefix(strings.TrimSpace(line), "func ")
		if ok && w.IntN(6) == 0 {
			w.questions = append(w.questions, question{readQuestion(declared, name), c.id, strings.TrimSpace(line)})
			return
		}
	}
}

// firstDifference returns the number of the first line that differs.
func firstDifference(a, b string) int {
	n := 1
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			break
		}
		n++
	}
	return n
}

// patch edits a file by some hunks, and records the fact.
func (w *writer) patch(e *edit, before, hunks, read string) {
	if hunks == "" || w.done() {
		return
	}
	w.calls++
	c := call{id: fmt.Sprintf("c%d", w.calls), patch: patchText(e, hunks), took: time.Second,
		files: map[string]string{e.path: before}}
	if e.before == "" {
		c.files = nil
	}
	a := answer{calls: []call{c}}
	if read != "" {
		a.needs = []string{read}
	}
	w.add(a)
	w.facts = append(w.facts, fact{kind: fileChanged, text: e.path, call: c.id})
}

// patchText returns a patch of apply_patch.
func patchText(e *edit, hunks string) string {
	if e.before == "" {
		return "*** Begin Patch\n*** Add File: " + e.path + "\n" + hunks + "*** End Patch"
	}
	return "*** Begin Patch\n*** Update File: " + e.path + "\n" + hunks + "*** End Patch"
}

// maxHunks bounds the text of a patch, in bytes.
const maxHunks = 4 << 10

// split returns the hunks of an edit in two halves. The second one is empty if there is one hunk only.
func split(e *edit) (first, second string) {
	if e.before == "" {
		var b strings.Builder
		for line := range strings.Lines(e.after[:min(len(e.after), maxHunks)]) {
			b.WriteString("+" + strings.TrimRight(line, "\n") + "\n")
		}
		return b.String(), ""
	}
	var hunks []string
	for line := range strings.Lines(patch.Diff(e.before, e.after)) {
		switch {
		case strings.HasPrefix(line, "@@"):
			hunks = append(hunks, "@@\n")
		case len(hunks) > 0 && !strings.HasPrefix(line, `\`):
			hunks[len(hunks)-1] += line
		}
	}
	half := (len(hunks) + 1) / 2
	return joined(hunks[:half]), joined(hunks[half:])
}

// joined joins the hunks that fit into a patch.
func joined(hunks []string) (text string) {
	for _, h := range hunks {
		if len(text)+len(h) <= maxHunks {
			text += h
		}
	}
	return text
}

// applied returns a file after a patch, or unchanged if the patch does not apply.
func applied(e *edit, before, hunks string) string {
	if e.before == "" {
		return e.after
	}
	p, err := patch.Parse("", patchText(e, hunks), true)
	if err != nil {
		return before
	}
	r, err := p.Apply(contents{e.path: before})
	if err != nil || len(r.Files) == 0 || r.Files[0].After == nil {
		return before
	}
	return *r.Files[0].After
}

// contents are files by their paths.
type contents map[string]string

// List returns nothing.
func (c contents) List(string) []string { return nil }

// Read returns a file.
func (c contents) Read(name string) (content string, exists bool, err error) {
	content, exists = c[name]
	return content, exists, nil
}

// failOnce runs a command that fails and is not repeated.
func (w *writer) failOnce() {
	tool := singleCommands[w.IntN(len(singleCommands))]
	script := strings.ReplaceAll(tool.script, "{path}", w.anyFile())
	c := w.shell(script, tool.output+"\n", tool.exit)
	w.add(answer{calls: []call{c}})
	w.failedFact(c, tool.output)
}

func (w *writer) log() string {
	var b strings.Builder
	for i := min(w.next, len(w.repo.commits)-1); i >= max(w.next-20, 0); i-- {
		c := &w.repo.commits[i]
		fmt.Fprintf(&b, "%s %s\n", c.hash, c.subject)
	}
	return b.String()
}

func diffStat(edits []edit) string {
	var b strings.Builder
	for _, e := range edits {
		n := max(strings.Count(e.after, "\n")-strings.Count(e.before, "\n"), 1)
		fmt.Fprintf(&b, " %s | %d %s\n", e.path, n, strings.Repeat("+", min(n, 40)))
	}
	return b.String()
}
