package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is an argument as the program receives it. Loose is set if a shell may replace it: it has
// globs, braces, or a lone dollar sign.
type word struct {
	text  string
	loose bool
}

// literal returns the value of a word, or false if it has expansions.
func literal(w *syntax.Word) (word, bool) {
	var text strings.Builder
	loose := false
	for i, part := range w.Parts {
		piece, ok := literalPart(part, i == len(w.Parts)-1)
		if !ok {
			return word{}, false
		}
		text.WriteString(piece.text)
		loose = loose || piece.loose
	}
	return word{text.String(), loose || replacedByZsh(w)}, true
}

// replacedByZsh reports whether a word begins with an unquoted = or ^. zsh replaces the first by a
// program's path and, with extended globs, the second by file names.
func replacedByZsh(w *syntax.Word) bool {
	if len(w.Parts) == 0 {
		return false
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	return ok && lit.Value != "" && strings.IndexByte("=^", lit.Value[0]) >= 0
}

// literalPart returns the value of a part of a word; last is set for the last part.
func literalPart(part syntax.WordPart, last bool) (word, bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		return unescape(p.Value, "", "*?[{}$", last), true
	case *syntax.SglQuoted:
		// In fish, a backslash escapes the quote that would end the string.
		return word{p.Value, strings.HasSuffix(p.Value, `\`)}, !p.Dollar
	case *syntax.DblQuoted:
		return doubleQuoted(p)
	}
	return word{}, false
}

func doubleQuoted(q *syntax.DblQuoted) (word, bool) {
	var whole word
	for i, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return word{}, false
		}
		piece := unescape(lit.Value, "$`\"\\", "$", i == len(q.Parts)-1)
		whole.text += piece.text
		whole.loose = whole.loose || piece.loose
	}
	return whole, !q.Dollar
}

// unescape removes the backslashes of a literal. Within double quotes only those
// before the bytes of escapable count; "" means that all do. The bytes of active
// make the word loose, but for a dollar sign at the end of the last part.
func unescape(source, escapable, active string, last bool) word {
	var text strings.Builder
	loose := false
	for i := 0; i < len(source); i++ {
		c := source[i]
		end := i == len(source)-1
		switch {
		case c == '\\' && !end && (escapable == "" || strings.IndexByte(escapable, source[i+1]) >= 0):
			i++
			c = source[i]
		case strings.IndexByte(active, c) >= 0:
			loose = loose || c != '$' || !end || !last
		}
		text.WriteByte(c)
	}
	return word{text.String(), loose}
}
