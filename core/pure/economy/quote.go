package economy

import (
	"hash/maphash"
	"strings"
)

const (
	// quoteWords is the number of successive words that make a quote, with at least quoteBytes bytes.
	quoteWords, quoteBytes = 6, 24
	// spanBytes is the least length of a line that is a quote by itself, and of a line that a patch cites.
	spanBytes = 16
)

// quotes has the texts by which messages and patches refer to outputs: hashes with the rank of the last
// item that has them.
type quotes struct {
	seed               maphash.Seed
	runs, spans, lines map[uint64]int
	// answer is the rank of the last answer.
	answer int
}

func newQuotes() quotes {
	return quotes{maphash.MakeSeed(), map[uint64]int{}, map[uint64]int{}, map[uint64]int{}, -1}
}

// addMessage adds the runs of words and the lines of the code spans of a message.
func (q *quotes) addMessage(text string, rank int) {
	for hash := range q.runsOf(text) {
		q.runs[hash] = rank
	}
	for i, span := range strings.Split(text, "`") {
		if i%2 == 0 {
			continue
		}
		for line := range strings.Lines(span) {
			if line = strings.TrimSpace(line); len(line) >= spanBytes {
				q.spans[maphash.String(q.seed, line)] = rank
			}
		}
	}
}

// addPatch adds the lines of a patch.
func (q *quotes) addPatch(text string, rank int) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "+- ")); len(line) >= spanBytes {
			q.lines[maphash.String(q.seed, line)] = rank
		}
	}
}

// answeredAfter reports whether an answer follows an item.
func (q *quotes) answeredAfter(rank int) bool { return q.answer > rank }

// quoted reports whether a message after a rank quotes an output.
func (q *quotes) quoted(output string, rank int) bool {
	for line := range strings.Lines(output) {
		if line = withoutNumber(line); len(line) >= spanBytes && q.after(q.spans, line, rank) {
			return true
		}
	}
	for hash := range q.runsOf(output) {
		if at, found := q.runs[hash]; found && at > rank {
			return true
		}
	}
	return false
}

// patched reports whether a patch after a rank has a line of an output.
func (q *quotes) patched(output string, rank int) bool {
	for line := range strings.Lines(output) {
		if line = withoutNumber(line); len(line) >= spanBytes && q.after(q.lines, line, rank) {
			return true
		}
	}
	return false
}

func (q *quotes) after(of map[uint64]int, text string, rank int) bool {
	at, found := of[maphash.String(q.seed, text)]
	return found && at > rank
}

// withoutNumber returns a line without the number that nl, cat -n or grep -n put before it.
func withoutNumber(line string) string {
	line = strings.TrimSpace(line)
	rest := strings.TrimLeft(line, "0123456789")
	text := strings.TrimLeft(rest, ":\t -")
	if rest == line || text == rest {
		return line
	}
	return text
}

// runsOf returns the hashes of the runs of words of a text.
func (q *quotes) runsOf(text string) func(yield func(uint64) bool) {
	return func(yield func(uint64) bool) {
		var starts [quoteWords]int // of the last words, in a ring
		n := 0
		for at := 0; at < len(text); {
			for at < len(text) && isSpace(text[at]) {
				at++
			}
			start := at
			for at < len(text) && !isSpace(text[at]) {
				at++
			}
			if start == at {
				return
			}
			starts[n%quoteWords] = start
			if n++; n < quoteWords {
				continue
			}
			run := text[starts[n%quoteWords]:at]
			if len(run) >= quoteBytes && !yield(maphash.String(q.seed, run)) {
				return
			}
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
