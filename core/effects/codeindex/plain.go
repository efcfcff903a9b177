package codeindex

import (
	"slices"
	"strings"
	"unicode"
)

// proseExtensions returns the extensions of files without declarations.
func proseExtensions() []string {
	return []string{"", ".adoc", ".cfg", ".conf", ".css", ".csv", ".htm", ".html", ".ini", ".json", ".log", ".properties",
		".rst", ".svg", ".tex", ".toml", ".tsv", ".txt", ".xml", ".yaml", ".yml"}
}

// role is the effect of a word on the next one.
type role int

const (
	// modifies: another word follows before the name.
	modifies role = iota + 1
	// declares: the next word is the name.
	declares
	// binds acts like declares in unindented lines. Elsewhere, the name is local to a function.
	binds
)

// roles has the words that precede names in common languages.
var roles = map[string]role{
	"class": declares, "contract": declares, "def": declares, "defmodule": declares, "enum": declares,
	"extension": declares, "fn": declares, "fun": declares, "func": declares, "function": declares, "impl": declares,
	"interface": declares, "message": declares, "mod": declares, "module": declares, "namespace": declares,
	"object": declares, "package": declares, "proc": declares, "protocol": declares, "record": declares,
	"rpc": declares, "service": declares, "struct": declares, "sub": declares, "trait": declares, "type": declares,
	"union": declares,

	"const": binds, "let": binds, "val": binds, "var": binds,

	"abstract": modifies, "async": modifies, "crate": modifies, "data": modifies, "declare": modifies, "default": modifies,
	"export": modifies, "extern": modifies, "final": modifies, "inline": modifies, "internal": modifies,
	"local": modifies, "open": modifies, "override": modifies, "partial": modifies, "private": modifies,
	"protected": modifies, "pub": modifies, "public": modifies, "sealed": modifies, "static": modifies,
	"typedef": modifies, "unsafe": modifies, "virtual": modifies,
}

// markPlain marks the begins of sections in a file of any language, by blank lines, indents and the
// ends of blocks. If the file is code, it marks the names after some words.
func markPlain(lines []line, code bool) {
	for i := range lines {
		l := &lines[i]
		top := !l.blank() && l.indent() == 0
		l.starts = i > 0 && top && !closes(l.text) && (lines[i-1].blank() || closes(lines[i-1].text))
		if code {
			l.name = declared(l.text, top)
		}
	}
}

// closes reports whether a line without indent ends a block.
func closes(text string) bool {
	return strings.HasPrefix(text, "}") || strings.HasPrefix(text, ")") || strings.HasPrefix(text, "]") ||
		strings.TrimRight(text, "\r\n") == "end"
}

// maxDeclared is the length of the part of a line that is searched for a name, in bytes.
const maxDeclared = 300

// declared returns the name that a line declares: after a declaring word or, in a line without indent,
// before a parenthesis. A comment declares nothing.
func declared(text string, top bool) string {
	text = strings.TrimLeft(text[:min(len(text), maxDeclared)], " \t")
	if strings.IndexFunc(text, unicode.IsLetter) != 0 {
		return ""
	}
	if params, generic := strings.CutPrefix(text, "impl<"); generic {
		_, text, _ = strings.Cut(params, ">")
		text = "impl" + text
	}
	named := false
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !nameRune(r) }) {
		switch r := roles[word]; {
		case r == declares, r == binds && (top || named):
			named = true
		case r == modifies:
		case named:
			return word
		default:
			return called(text, top)
		}
	}
	return ""
}

// nameRune reports whether a character can be part of a name.
func nameRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// called returns the word before the first parenthesis of a line that does not end with a
// statement.
func called(text string, top bool) string {
	before, _, found := strings.Cut(text, "(")
	end := strings.TrimSpace(text)
	if !top || !found || !slices.Contains([]string{"{", "(", ",", ")"}, end[len(end)-1:]) {
		return ""
	}
	at := strings.LastIndexFunc(before, func(r rune) bool { return !nameRune(r) })
	return before[at+1:]
}

// markHeadings finds the headings of Markdown, but not those in code.
func markHeadings(lines []line) {
	fence := ""
	for i := range lines {
		text := strings.TrimSpace(lines[i].text)
		if mark := fenceOf(text); mark != "" && (fence == "" || fence == mark) {
			if fence != "" {
				mark = ""
			}
			fence = mark
			continue
		}
		title := strings.TrimLeft(text, "#")
		if level := len(text) - len(title); fence == "" && level > 0 && level <= 6 && strings.HasPrefix(title, " ") {
			lines[i].starts, lines[i].name = true, heading(title)
		}
	}
}

// fenceOf returns the mark with which a line begins or ends code, or "".
func fenceOf(text string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(text, mark) {
			return mark
		}
	}
	return ""
}

// maxHeading is the maximum length of a heading in a title, in characters.
const maxHeading = 80

func heading(title string) string {
	title = strings.TrimSpace(strings.TrimRight(strings.TrimSpace(title), "#"))
	if long := []rune(title); len(long) > maxHeading {
		title = string(long[:maxHeading])
	}
	return title
}
