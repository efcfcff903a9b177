package patch

import "strings"

// envelope holds the lines of a patch, without the begin and the end mark and without what models write around them.
type envelope struct {
	lines []string
	// first is the number of the first line in the text that the model sent.
	first int
	// ended is set if the end mark, the end of a fence or the end of a here-document follows the lines. Broken is set
	// if a fence or a here-document has no end.
	ended, broken bool
}

const maxWrappings = 4

// open removes the envelope of a patch. Whole is set if the text cannot have lost its end.
func open(text string, whole bool) (*envelope, error) {
	fullLine := strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\r")
	e := &envelope{lines: splitPatch(text), first: 1}
	for range maxWrappings {
		if !e.unwrapFence() && !e.unwrapDocument() {
			break
		}
	}
	if err := e.begin(); err != nil {
		return nil, err
	}
	return e, e.end(whole, fullLine)
}

// splitPatch returns the lines of a patch. A patch without a newline has the line ends of old Macintosh systems.
func splitPatch(text string) []string {
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), bom))
	if !strings.Contains(text, "\n") {
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], "\r")
	}
	return lines
}

// unwrapFence removes a Markdown fence. The closing fence shows that no line is missing.
func (e *envelope) unwrapFence() bool {
	last := len(e.lines) - 1
	fence := fenceOf(e.lines[0])
	switch {
	case fence != "" && last > 0 && strings.HasPrefix(e.lines[last], fence):
		e.cut(1, last)
		e.ended = true
	case fence != "" && last > 0:
		e.cut(1, last+1)
		e.broken = true
	case e.followsEnd(last) && fenceOf(e.lines[last]) != "":
		e.cut(0, last)
	default:
		return false
	}
	return true
}

// fenceOf returns the characters of a fence, or "".
func fenceOf(line string) string {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"`", "~"} {
		info := strings.TrimLeft(line, mark)
		if n := len(line) - len(info); n >= 3 && !strings.Contains(info, mark) {
			return line[:n]
		}
	}
	return ""
}

// unwrapDocument removes a here-document that no shell has read, with or without the name of the tool before it.
func (e *envelope) unwrapDocument() bool {
	line := strings.TrimSpace(e.lines[0])
	for _, name := range []string{"apply_patch", "applypatch"} {
		if rest, ok := strings.CutPrefix(line, name); ok {
			line = strings.TrimSpace(rest)
		}
	}
	last := len(e.lines) - 1
	word, isDocument := endWord(line)
	switch {
	case !isDocument || last == 0:
		return false
	case strings.TrimRight(e.lines[last], " \t") == word:
		e.cut(1, last)
		e.ended = true
	case e.followsEnd(last) && strings.HasSuffix(e.lines[last], word):
		e.cut(1, last)
	default:
		e.cut(1, last+1)
		e.broken = true
	}
	return true
}

// endWord returns the word that ends a here-document, from the operator that begins it.
func endWord(line string) (word string, ok bool) {
	rest, ok := strings.CutPrefix(line, "<<")
	if !ok {
		return "", false
	}
	word = strings.TrimSpace(strings.TrimPrefix(rest, "-"))
	for _, quote := range []string{`'`, `"`} {
		if inner, found := strings.CutPrefix(word, quote); found {
			word, ok = strings.CutSuffix(inner, quote)
		}
	}
	return word, ok && word != "" && !strings.ContainsAny(word, " \t'\"<>|&;`$\\")
}

// followsEnd reports whether the end mark is the last line with a text before a line.
func (e *envelope) followsEnd(at int) bool {
	for at--; at >= 0; at-- {
		if strings.TrimSpace(e.lines[at]) != "" {
			return isEnd(e.lines[at])
		}
	}
	return false
}

// cut keeps the lines from one index to another, without empty lines around them. It keeps an empty line if none is
// left.
func (e *envelope) cut(from, to int) {
	lines := e.lines[from:to]
	if len(lines) == 0 {
		lines = []string{""}
	}
	for len(lines) > 1 && strings.TrimSpace(lines[0]) == "" {
		lines, from = lines[1:], from+1
	}
	for len(lines) > 1 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	e.lines, e.first = lines, e.first+from
}

func isBegin(line string) bool { return strings.TrimSpace(line) == beginMark }
func isEnd(line string) bool   { return strings.TrimRight(line, " \t") == endMark }

// begin removes the begin mark. A patch may begin with the header of a file instead.
func (e *envelope) begin() error {
	if isBegin(e.lines[0]) {
		e.lines, e.first = e.lines[1:], e.first+1
		return nil
	}
	if _, _, header := readHeader(e.lines[0]); header || unifiedNames(e.lines) != nil {
		return nil
	}
	return &Error{Kind: Malformed, Message: "the first line must be " + beginMark}
}

// end removes the end mark. A patch without it may have lost its end, and then no part of it may be applied. It is
// complete if something else ends it, or if the text is whole and its last line has a line end.
func (e *envelope) end(whole, fullLine bool) error {
	const send = " Send the whole patch, with the line " + endMark + " at its end."
	last := len(e.lines) - 1
	switch {
	case last >= 0 && isEnd(e.lines[last]), last >= 0 && whole && strings.TrimSpace(e.lines[last]) == endMark:
		e.lines, e.ended = e.lines[:last], true
	case e.ended:
	case !whole || e.broken:
		return &Error{Kind: Malformed, Message: "the last line must be " + endMark +
			": the answer was cut off, so a part of the patch may be missing." + send}
	case !fullLine:
		return &Error{Kind: Malformed, Message: "the last line must be " + endMark +
			": the patch ends within a line, so a part of it may be missing." + send}
	}
	return nil
}
