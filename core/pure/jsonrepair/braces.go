package jsonrepair

// Braces follows the text of an object while it comes in parts.
type Braces struct {
	quotes quotes
	depth  int
	state  int
}

// The states of Braces.
const (
	beforeObject = iota
	inObject
	afterObject
	noObject
)

// Add adds a part of the text.
func (b *Braces) Add(text string) {
	for i := range len(text) {
		b.add(text[i])
	}
}

func (b *Braces) add(c byte) {
	inside := b.quotes.inside
	b.quotes.next(c)
	switch {
	case inside, c == ' ', c == '\t', c == '\n', c == '\r':
	case c == '{' && b.state <= inObject:
		b.state = inObject
		b.depth++
	case b.state != inObject:
		b.state = noObject
	case c == '}':
		if b.depth--; b.depth == 0 {
			b.state = afterObject
		}
	}
}

// Closed reports whether the text is one object to its last brace. The object can be invalid between the braces.
func (b *Braces) Closed() bool { return b.state == afterObject }
