package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is an argument as the program receives it. Loose is set if a shell may replace it: it has
// globs (zsh has # as well), braces, or a lone dollar sign.
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
	return word{text.String(), loose || replaced(w)}, true
}

// replaced reports whether a shell replaces an unquoted part of a word without a sign in its midst:
//
//   - zsh replaces =NAME by a program's path and, with extended globs, ^NAME by file names. fish replaces %self.
//   - All replace ~USER, bash ~+ and ~-, zsh names of its own. ~sys is /dev on some systems. bash does so after = and
//     : in some words. Only ~ and ~/ at the beginning count as plain.
//   - zsh can read two strings in single quotes that touch as one with a quote in it.
func replaced(w *syntax.Word) bool {
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if i == 0 && beginsReplaced(p.Value, len(w.Parts) == 1) || homeWithin(p.Value) {
				return true
			}
		case *syntax.SglQuoted:
			if i+1 < len(w.Parts) {
				if _, touches := w.Parts[i+1].(*syntax.SglQuoted); touches {
					return true
				}
			}
		}
	}
	return false
}

func beginsReplaced(text string, whole bool) bool {
	if text == "" {
		return false
	}
	home := text[0] == '~' && !strings.HasPrefix(text, "~/") && (len(text) > 1 || !whole)
	return home || strings.IndexByte("=^", text[0]) >= 0 || strings.HasPrefix(text, "%self")
}

// homeWithin reports whether a tilde follows = or :.
func homeWithin(text string) bool {
	return strings.Contains(text, "=~") || strings.Contains(text, ":~")
}

// literalPart returns the value of a part of a word; last is set for the last part.
func literalPart(part syntax.WordPart, last bool) (word, bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		piece := unescape(p.Value, "", "*?[{}$#", last)
		piece.loose = piece.loose || coded(p.Value)
		return piece, true
	case *syntax.SglQuoted:
		// In fish, a backslash escapes the quote that would end the string, and another backslash.
		return word{p.Value, strings.HasSuffix(p.Value, `\`) || strings.Contains(p.Value, `\\`)}, !p.Dollar
	case *syntax.DblQuoted:
		return doubleQuoted(p)
	}
	return word{}, false
}

// coded reports whether an unquoted literal has a backslash before a letter or digit. fish reads \x2d as a hyphen.
func coded(source string) bool {
	for i := 0; i+1 < len(source); i++ {
		if source[i] != '\\' {
			continue
		}
		i++
		if c := source[i]; c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' {
			return true
		}
	}
	return false
}

func doubleQuoted(q *syntax.DblQuoted) (word, bool) {
	var whole word
	for i, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return word{}, false
		}
		piece := unescape(lit.Value, "$`\"\\", "$", i == len(q.Parts)-1)
		piece.loose = piece.loose || strings.Contains(lit.Value, "\\`") // fish keeps this backslash
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
