package slash

import (
	"strings"
	"unicode"

	"appserver/protocol"
)

// Typed is a command as somebody typed it.
type Typed struct {
	Command
	Args []string
}

// UsageError tells of a command with arguments that it does not take.
type UsageError struct {
	Usage string
	// Where says what the arguments in the usage are.
	Where string
}

// Error shows how the command is used.
func (e *UsageError) Error() string { return "usage: " + e.Usage + ", " + e.Where }

// Find is the command that a text is, used rightly or not; false where it is none. Space
// around the text does not count, nor do capitals in the name.
func Find(text string) (t Typed, found bool) {
	text, found = strings.CutPrefix(strings.TrimSpace(text), "/")
	if !found {
		return t, false
	}
	name, rest := text, ""
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		name, rest = text[:i], text[i:]
	}
	for _, c := range Commands() {
		if strings.EqualFold(c.Name, name) {
			return Typed{c, strings.Fields(rest)}, true
		}
	}
	return t, false
}

// Params are those of the method that the command stands for. The error is a
// *UsageError.
func (t Typed) Params(threadID string) (any, error) {
	params, ok := t.params(threadID, t.Args)
	if !ok {
		return nil, &UsageError{t.Usage, t.where}
	}
	return params, nil
}

// Call is the command as clients see it.
func (t Typed) Call() protocol.SlashCommandCall {
	return protocol.SlashCommandCall{Command: t.Name, Args: t.Args}
}
