package patch

import (
	"slices"
	"strings"
	"unicode/utf8"

	"appserver/core/pure/charset"
)

// bom is the byte order mark.
const bom = charset.BOM

// allows reports whether the bytes of an added line are certain.
func (t text) allows(line string) bool {
	return !t.IsUnknown() || !slices.ContainsFunc([]byte(line), func(b byte) bool { return b >= utf8.RuneSelf })
}

// shown returns the content of a file as valid UTF-8.
func shown(content string) string {
	text, e, reason := charset.Decode(content)
	switch {
	case reason != "" || e.IsUnknown():
		return charset.Valid(content)
	case e.IsUTF16():
		return strings.TrimPrefix(text, bom)
	}
	return text
}

// shownDiff returns the unified diff of two contents as valid UTF-8. The encoding of a file does not count, unless
// the two encodings differ.
func shownDiff(before, after string) string {
	a, from, reason := charset.Decode(before)
	b, to, other := charset.Decode(after)
	if reason == "" && other == "" && from == to && from.IsUTF16() {
		before, after = strings.TrimPrefix(a, bom), strings.TrimPrefix(b, bom)
	}
	return charset.Valid(Diff(before, after))
}
