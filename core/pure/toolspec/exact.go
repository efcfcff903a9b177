package toolspec

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"appserver/protocol"
)

// exactInteger returns the integer that a number in JSON stands for, also as 1000.0 or 1e3. One that is too large or
// too small counts as the nearest.
func exactInteger(number string) (n int64, exact bool) {
	number = strings.TrimSpace(number)
	if !json.Valid([]byte(number)) || strings.IndexByte("-0123456789", number[0]) < 0 {
		return 0, false
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		return n, true
	}
	f, _ := strconv.ParseFloat(number, 64) // an error is about the range, and f is infinite then
	switch {
	case f >= math.MaxInt64:
		return math.MaxInt64, true
	case f <= math.MinInt64:
		return math.MinInt64, true
	}
	return int64(f), f == math.Trunc(f)
}

// exactBoolean returns the boolean of a word, in any case.
func exactBoolean(word string) (b, exact bool) {
	word = strings.ToLower(strings.TrimSpace(word))
	return word == "true", word == "true" || word == "false"
}

// unquoted returns the text of a JSON string, and any other JSON as it is.
func unquoted(value json.RawMessage) string {
	var text string
	if len(value) > 0 && value[0] == '"' && protocol.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
