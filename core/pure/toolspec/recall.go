package toolspec

import (
	"encoding/json"
	"errors"
	"strings"

	"appserver/core/pure/command"
	"appserver/platform/excerpt"
)

// Recall is the name of the tool that searches what left the context.
const Recall = "recall"

// RecallSpec describes the tool recall.
var RecallSpec = Spec{
	Name: Recall,
	Description: "Finds what left the conversation, and earlier work in this repository, by words. " +
		"Includes items again by their ids, such as r12.",
	Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},` +
		`"ids":{"type":"array","items":{"type":"string"}}},"additionalProperties":false}`),
}

// MaxQuery bounds the text of a search, in bytes.
const MaxQuery = 2000

// RecallCall is a decoded call of recall. At least one member is not empty.
type RecallCall struct {
	// Query is the text to search for.
	Query string
	// IDs are the ids of excluded and removed items to include again.
	IDs []string
}

// ParseRecall decodes the arguments of recall. A longer query than MaxQuery is truncated.
func ParseRecall(arguments string) (RecallCall, error) {
	a, err := readMembers(arguments)
	if err != nil {
		return RecallCall{}, err
	}
	c := RecallCall{Query: trimmedQuery(a.text("query")), IDs: a.texts("ids")}
	if c.Query == "" && len(c.IDs) == 0 && a.err == nil {
		a.err = errors.New("query or ids must be given")
	}
	return c, a.err
}

func trimmedQuery(text string) string { return strings.TrimSpace(excerpt.Prefix(text, MaxQuery)) }

// isItemID reports whether a word is the id of an item, such as r12.
func isItemID(word string) bool {
	digits, ok := strings.CutPrefix(word, "r")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// Recall returns the call of recall that a script is: recall r12 r14, or recall WORDS. It reports false for other
// scripts.
func (c *Command) Recall() (call RecallCall, ok bool) {
	arguments, ok := command.Recall(c.Script)
	if !ok {
		return RecallCall{}, false
	}
	var words []string
	for _, argument := range arguments {
		if isItemID(argument) {
			call.IDs = append(call.IDs, argument)
		} else {
			words = append(words, argument)
		}
	}
	call.Query = trimmedQuery(strings.Join(words, " "))
	return call, true
}
