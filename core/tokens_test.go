package core_test

import (
	"strconv"
	"strings"
)

// guess is a tokenizer that knows no model but those whose names end in "known". Its
// counts differ from model to model.
type guess int

func (guess) Known(model string) bool { return strings.HasSuffix(model, "known") }

func (g guess) Count(model, text string) int {
	digit, _ := strconv.Atoi(model[max(len(model)-1, 0):])
	return (len(text)+int(g)-1)/int(g) + digit
}
