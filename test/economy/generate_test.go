package economy

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"time"
)

// shape is the form of a session.
type shape struct {
	name string
	// turns is the number of turns. least and most bound the answers with calls of a turn.
	turns, least, most int
	// pauses is the share of turns before which the user is away for longer than the provider keeps its cache.
	pauses float64
}

// longShapes are the forms of the long sessions, in turn.
var longShapes = []shape{
	{"many short turns", 400, 1, 2, 0},
	{"short turns, pauses", 160, 1, 3, 0.04},
	{"mixed", 100, 1, 7, 0},
	{"mixed, pauses", 80, 2, 8, 0.08},
	{"long turns", 50, 8, 16, 0},
	{"long turns, pauses", 50, 6, 14, 0.15},
}

// shortShapes are the forms of the sessions of fewer than ten turns.
var shortShapes = []shape{
	{"3 turns", 3, 1, 4, 0}, {"5 turns", 5, 2, 8, 0}, {"7 turns, pauses", 7, 3, 9, 0.3}, {"9 turns", 9, 1, 5, 0},
	{"9 long turns", 9, 8, 16, 0}, {"4 long turns", 4, 10, 24, 0},
}

// writer writes one session. It works through the commits of a repository.
type writer struct {
	*rand.Rand
	*session
	repo  *repository
	shape shape
	// next is the index of the next commit, tree the files before it.
	next int
	tree tree
	// open is the turn that is written. left is the number of its answers that may follow.
	open *turn
	left int
	// calls is the number of calls. seen are the ids and scripts of the outputs, newest last.
	calls int
	seen  []call
	// ran is the last failure of each script, as an index of facts.
	ran map[string]int
}

// generate writes a session. Equal arguments give equal sessions.
func generate(repo *repository, s shape, first int, seed uint64) *session {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 1)), session: &session{name: repo.name + ", " + s.name}, repo: repo,
		shape: s, tree: tree{}, ran: map[string]int{}}
	for i := range first {
		w.tree.apply(&repo.commits[i])
	}
	w.next = first
	w.instructions = w.document()
	for empty := 0; !w.done(); {
		if w.next == len(repo.commits) {
			w.next, w.tree = 0, tree{}
		}
		c := &repo.commits[w.next]
		if edits := repo.edits(c); len(edits) > 0 {
			w.task(c, edits)
			empty = 0
		} else if empty++; empty > len(repo.commits) {
			break
		}
		w.tree.apply(c)
		w.next++
	}
	return w.session
}

// maxInstructions is the length of AGENTS.md, in bytes.
const maxInstructions = 6 << 10

// document returns the beginning of the repository's README.md, which stands for the text of AGENTS.md.
func (w *writer) document() string {
	for i := range w.repo.commits {
		for _, f := range w.repo.commits[i].changes {
			if text := w.repo.blobs.read(f.after); strings.EqualFold(f.path, "README.md") && len(text) > maxInstructions/4 {
				return strings.ToValidUTF8(text[:min(len(text), maxInstructions)], "")
			}
		}
	}
	return ""
}

func (w *writer) done() bool { return len(w.turns) == w.shape.turns }

// begin begins a turn, unless one is open.
func (w *writer) begin(request string) {
	if w.open != nil || w.done() {
		return
	}
	w.open = &turn{pause: time.Duration(5+w.IntN(90)) * time.Second, user: w.withWishes(request)}
	if w.Float64() < w.shape.pauses {
		w.open.pause = time.Duration(15+w.IntN(240)) * time.Minute
	}
	w.left = w.shape.least + w.IntN(w.shape.most-w.shape.least+1)
}

// add adds an answer with calls to the open turn, and ends the turn if it has enough.
func (w *writer) add(a answer) {
	if w.done() {
		return
	}
	w.begin(nudges[w.IntN(len(nudges))])
	if len(w.open.answers) == 0 && len(w.seen) > 40 && w.IntN(25) == 0 {
		w.askAboutOldOutput()
	}
	w.open.answers = append(w.open.answers, a)
	w.seen = append(w.seen, a.calls...)
	if w.left--; w.left <= 0 {
		w.end(reports[w.IntN(len(reports))])
	}
}

// end ends the open turn.
func (w *writer) end(text string) {
	if w.open == nil {
		return
	}
	last := answer{text: text + w.quotation()}
	if w.IntN(9) == 0 {
		sentence := w.sentence(ownDecisions)
		last.text += " " + sentence
		w.facts = append(w.facts, fact{kind: decision, text: sentence, turn: len(w.turns), said: true})
	}
	w.open.answers = append(w.open.answers, last)
	w.turns = append(w.turns, *w.open)
	w.open = nil
}

// quotation returns a sentence that quotes a line of the last output, or "".
func (w *writer) quotation() string {
	if len(w.seen) == 0 || w.IntN(3) > 0 {
		return ""
	}
	all := strings.Split(w.seen[len(w.seen)-1].output, "\n")
	line := strings.TrimSpace(all[w.IntN(len(all))])
	if len(line) < 20 || len(line) > 120 || strings.Contains(line, "`") {
		return ""
	}
	return fmt.Sprintf(" The line `%s` shows it.", line)
}

// askAboutOldOutput makes the next answer of the open turn use an output of long ago.
func (w *writer) askAboutOldOutput() {
	old := w.seen[w.IntN(len(w.seen)-20)]
	if old.script == "" {
		return
	}
	w.open.user += fmt.Sprintf("\n\nBefore that: what was in the output of `%s`?", firstLine(old.script))
	w.open.answers = append(w.open.answers, answer{text: "I compare it with the present state.",
		needs: []string{old.id},
		calls: []call{w.shell("git status --short", " M "+w.anyFile()+"\n", 0)}})
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// shell returns a call of the shell.
func (w *writer) shell(script, output string, exit int) call {
	w.calls++
	c := call{id: fmt.Sprintf("c%d", w.calls), script: script, output: output, exit: exit, took: time.Second}
	return c
}

func (w *writer) anyFile() string {
	edits := w.repo.edits(&w.repo.commits[min(w.next, len(w.repo.commits)-1)])
	if len(edits) == 0 {
		return "README.md"
	}
	return edits[w.IntN(len(edits))].path
}

// withWishes adds rules and decisions of the user to a request.
func (w *writer) withWishes(request string) string {
	if w.IntN(8) == 0 {
		request += w.wish(constraint, constraints)
	}
	if w.IntN(12) == 0 {
		request += w.wish(decision, decisions)
	}
	return request
}

func (w *writer) wish(kind factKind, templates []string) string {
	sentence := w.sentence(templates)
	w.facts = append(w.facts, fact{kind: kind, text: sentence, turn: len(w.turns)})
	return "\n\n" + sentence
}

// sentence fills a template with a path, a name and a number.
func (w *writer) sentence(templates []string) string {
	file := w.anyFile()
	name := w.identifier(w.repo.blobs.read(w.tree[file]))
	return strings.NewReplacer("{path}", file, "{folder}", path.Dir(file), "{name}", name,
		"{number}", fmt.Sprint(2+w.IntN(4000))).Replace(templates[w.IntN(len(templates))])
}

// identifier returns an identifier of a text, preferably a long one.
func (w *writer) identifier(text string) string {
	fields := strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	best := "main"
	for range min(len(fields), 12) {
		if f := fields[w.IntN(len(fields))]; len(f) > len(best) && len(f) < 30 {
			best = f
		}
	}
	return best
}
