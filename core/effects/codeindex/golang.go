package codeindex

import (
	"go/scanner"
	"go/token"
)

// markGo finds the declarations of a Go file. The scanner is enough: it also reads files that do
// not compile, and has no limit of nesting.
func markGo(content []byte, lines []line) {
	file := token.NewFileSet().AddFile("", -1, len(content))
	g := goMarks{lines: lines, fresh: true}
	var s scanner.Scanner
	s.Init(file, content, func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, kind, text := s.Scan()
		if kind == token.EOF {
			return
		}
		g.token(file.PositionFor(pos, false).Line-1, kind, text)
	}
}

// goMarks marks the lines of a Go file, token by token.
type goMarks struct {
	lines []line
	depth int
	// fresh is set where a statement begins.
	fresh bool
	// naming is the declaration that has no name yet, and its line.
	naming     token.Token
	namingLine int
	receiver   string
	// comment is the index of a comment that ends in the line commentEnd.
	comment, commentEnd int
	// lastLine is the line of the last token that is not a comment.
	lastLine int
}

func (g *goMarks) token(at int, kind token.Token, text string) {
	switch kind {
	case token.COMMENT:
		g.noteComment(at, text)
		return
	case token.LPAREN, token.LBRACE, token.LBRACK:
		g.depth++
	case token.RPAREN, token.RBRACE, token.RBRACK:
		g.depth = max(g.depth-1, 0)
	case token.FUNC, token.TYPE, token.VAR, token.CONST, token.IMPORT:
		if g.fresh && g.depth == 0 {
			g.start(at, kind)
		}
	case token.IDENT:
		g.noteName(text)
	}
	g.fresh = kind == token.SEMICOLON
	if !g.fresh || text == ";" {
		g.lastLine = at + 1
	}
}

// noteComment records the begin of a comment before a declaration. A comment after other tokens does
// not count.
func (g *goMarks) noteComment(at int, text string) {
	if at+1 == g.lastLine {
		return
	}
	if g.commentEnd != at {
		g.comment = at
	}
	g.commentEnd = at + 1
	for _, c := range text {
		if c == '\n' {
			g.commentEnd++
		}
	}
}

func (g *goMarks) start(at int, kind token.Token) {
	first := at
	if g.commentEnd == at && g.comment < at {
		first = g.comment
	}
	if first < len(g.lines) {
		g.lines[first].starts = true
	}
	g.naming, g.namingLine, g.receiver = kind, at, ""
	if kind == token.IMPORT {
		g.naming = token.ILLEGAL
	}
}

// noteName records the name of a declaration: the identifier after the receiver, or the first one
// of a group.
func (g *goMarks) noteName(text string) {
	switch {
	case g.naming == token.ILLEGAL || g.namingLine >= len(g.lines):
		return
	case g.naming == token.FUNC && g.depth == 1:
		g.receiver = text
		return
	case g.naming == token.FUNC && g.depth > 1:
		return
	}
	if g.receiver != "" {
		text = g.receiver + "." + text
	}
	g.lines[g.namingLine].name = text
	g.naming = token.ILLEGAL
}
