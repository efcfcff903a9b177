package redact

import (
	"appserver/protocol"
)

// rewrite returns JSON with other strings as values. change receives the name of the innermost member,
// even for elements of its lists. A text that is no JSON does not change.
func rewrite(raw []byte, change func(name, value string) string) []byte {
	w := &rewriter{in: raw, change: change}
	w.value("")
	if w.failed || w.out == nil {
		return raw
	}
	return append(w.out, raw[w.copied:]...)
}

// rewriter goes through JSON once.
type rewriter struct {
	in []byte
	// at is the index of the next byte to read. out has the bytes before copied.
	at, copied int
	out        []byte
	change     func(name, value string) string
	depth      int
	failed     bool
}

// maxDepth is how deep values of a rollout may nest.
const maxDepth = 10_000

func (w *rewriter) value(name string) {
	w.depth++
	defer func() { w.depth-- }()
	if w.depth > maxDepth {
		w.failed = true
		return
	}
	switch w.next() {
	case '{':
		w.object()
	case '[':
		w.list(name)
	case '"':
		w.text(name)
	default:
		w.scalar()
	}
}

// next returns the next byte that is no space, or 0 at the end.
func (w *rewriter) next() byte {
	for ; w.at < len(w.in); w.at++ {
		switch c := w.in[w.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (w *rewriter) object() {
	w.at++
	for w.next() == '"' && !w.failed {
		name := w.decode(w.str())
		if w.next() != ':' {
			break
		}
		w.at++
		w.value(name)
		if w.next() == ',' {
			w.at++
		}
	}
	w.end('}')
}

func (w *rewriter) list(name string) {
	w.at++
	for c := w.next(); c != ']' && c != 0 && !w.failed; c = w.next() {
		w.value(name)
		if w.next() == ',' {
			w.at++
		}
	}
	w.end(']')
}

func (w *rewriter) end(c byte) {
	if w.next() != c {
		w.failed = true
		return
	}
	w.at++
}

// scalar skips a number or a word.
func (w *rewriter) scalar() {
	begin := w.at
	for ; w.at < len(w.in); w.at++ {
		switch w.in[w.at] {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			w.failed = w.failed || w.at == begin
			return
		}
	}
	w.failed = w.failed || w.at == begin
}

// str skips a string, and returns it with its quotes.
func (w *rewriter) str() []byte {
	begin := w.at
	for w.at++; w.at < len(w.in); w.at++ {
		switch w.in[w.at] {
		case '\\':
			w.at++
		case '"':
			w.at++
			return w.in[begin:w.at]
		}
	}
	w.failed = true
	return nil
}

// decode returns the value of a string.
func (w *rewriter) decode(raw []byte) (value string) {
	if protocol.Unmarshal(raw, &value) != nil {
		w.failed = true
	}
	return value
}

func (w *rewriter) text(name string) {
	begin := w.at
	value := w.decode(w.str())
	if w.failed {
		return
	}
	changed := w.change(name, value)
	if changed == value {
		return
	}
	w.out = protocol.AppendString(append(w.out, w.in[w.copied:begin]...), changed)
	w.copied = w.at
}
