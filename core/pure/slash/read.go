package slash

import (
	"strings"
	"unicode"

	"appserver/protocol"
)

// Typed is a command with the arguments that the user typed.
type Typed struct {
	Command
	Args []string
}

// UsageError reports invalid arguments of a command.
type UsageError struct {
	Usage string
	// Where explains the arguments in the usage.
	Where string
}

// Error shows the usage of the command.
func (e *UsageError) Error() string { return "usage: " + e.Usage + ", " + e.Where }

// Find returns the command of a text, with valid or invalid arguments, or false if the text is not
// a command. It ignores surrounding space and the case of the name.
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

// Params returns the params of the command's method. The error is a *UsageError.
func (t Typed) Params(threadID string) (any, error) {
	params, ok := t.params(threadID, t.Args)
	if !ok {
		return nil, &UsageError{t.Usage, t.where}
	}
	return params, nil
}

// Call returns the command in the form of the protocol.
func (t Typed) Call() protocol.SlashCommandCall {
	return protocol.SlashCommandCall{Command: t.Name, Args: t.Args}
}
