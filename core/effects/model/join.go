package model

import "appserver/core"

// joinAfter is the number of pieces of an answer that are passed on as they come. Later texts are joined with
// those that came in the same read, so that a fast answer has few pieces.
const joinAfter = 500

// joiner passes pieces on. After each call of add, flush must follow before the caller waits.
type joiner struct {
	emit   func(core.Piece)
	passed int
	kind   core.PieceKind
	text   []byte // the joined text of the kind, not passed on yet
}

func (j *joiner) add(p core.Piece) {
	if p.Kind != core.PieceText && p.Kind != core.PieceReasoning || j.passed < joinAfter {
		j.flush()
		j.pass(p)
		return
	}
	if p.Kind != j.kind {
		j.flush()
	}
	j.kind, j.text = p.Kind, append(j.text, p.Text...)
}

func (j *joiner) flush() {
	if len(j.text) > 0 {
		piece := core.Piece{Kind: j.kind, Text: string(j.text)}
		j.text = j.text[:0]
		j.pass(piece)
	}
}

func (j *joiner) pass(p core.Piece) {
	j.passed++
	j.emit(p)
}
