package line

import (
	"bytes"
	"iter"
)

// A damaged line may hold sound records: a crash or a full disk cuts a record off, or leaves zero bytes, and the next
// record is written behind it on the same line.
const (
	// recordStart begins every record that this program and the reference implementation write.
	recordStart = `{"timestamp":`
	// maxTries limits the work for a line with many beginnings of records. A line is cut off by one crash, or a few.
	maxTries = 16
	// maxNesting is the nesting depth of values in a record that only the program that writes it chooses: those of its
	// members and of the members of its payload. Deeper ones may come from a model or a server.
	maxNesting = 2
)

// Piece is a part of a line: a sound record, or the bytes between records. Offset is the offset in the line.
type Piece struct {
	Parsed
	Sound bool
}

// Pieces returns the parts of a line without surrounding space. A sound line is one piece. So is a damaged line without
// a sound record. White space between pieces belongs to none.
//
// A record in a damaged line begins at the start, after zero bytes, after another record, or where another one was cut
// off. The latter must end at the end of the line, before zero bytes or before another record, and must not be a
// value within the other one. Except after zero bytes, it begins with its timestamp.
func Pieces(text []byte) []Piece {
	if p, reason := Parse(text); reason == "" {
		p.Text = text
		return []Piece{{p, true}}
	}
	var s splitter
	s.text = text
	s.split()
	return s.pieces
}

// Records returns an iterator over the sound records of a line without surrounding space.
func Records(text []byte) iter.Seq[Parsed] {
	return func(yield func(Parsed) bool) {
		if p, reason := Parse(text); reason == "" {
			p.Text = text
			yield(p)
			return
		}
		for _, piece := range Pieces(text) {
			if piece.Sound && !yield(piece.Parsed) {
				return
			}
		}
	}
}

// splitter divides a damaged line.
type splitter struct {
	text   []byte
	pieces []Piece
	// done is the end of the last record, and tries the number of beginnings that were no records.
	done, tries int
}

func (s *splitter) split() {
	for at := skipBlank(s.text, 0); at < len(s.text) && s.tries < maxTries; {
		p, end := parseRecord(s.text, at)
		if end != malformed && s.isRecord(at, end) {
			s.addDamage(at)
			p.Text, p.Offset, p.Indent = s.text[at:end:end], int64(at), at-s.done
			s.pieces = append(s.pieces, Piece{p, true})
			s.done = end
			at = skipBlank(s.text, end)
			continue
		}
		s.tries++
		next := bytes.Index(s.text[at+1:], []byte(recordStart))
		if next < 0 {
			break
		}
		at += 1 + next
	}
	s.addDamage(len(s.text))
}

// addDamage adds the bytes between the last record and an offset, unless they are white space.
func (s *splitter) addDamage(end int) {
	text, left := Trim(s.text[s.done:end])
	if len(text) > 0 {
		s.pieces = append(s.pieces, Piece{Parsed{Text: text, Offset: int64(s.done + left)}, false})
	}
}

// isRecord reports whether an object with the members of a record is one.
func (s *splitter) isRecord(at, end int) bool {
	before := s.text[s.done:at]
	named := bytes.HasPrefix(s.text[at:], []byte(recordStart))
	begin := skipBlank(before, 0)
	if begin == len(before) {
		return named || bytes.IndexByte(before, 0) >= 0
	}
	if before[begin] != '{' {
		return false // no record was cut off: another program has written this
	}
	behind := s.text[skipBlank(s.text, end):]
	ends := len(behind) == 0 || bytes.HasPrefix(behind, []byte(recordStart))
	return ends && !isWithin(before)
}

// skipBlank returns the index of the next byte that is neither white space nor zero.
func skipBlank(b []byte, i int) int {
	for i < len(b) && (b[i] == 0 || b[i] == ' ' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// parseRecord parses the record that begins at an offset. The end is malformed if there is none.
func parseRecord(text []byte, at int) (p Parsed, end int) {
	if end = scanObject(text, at, 0, nil); end == malformed {
		return p, malformed
	}
	p, reason := Parse(text[at:end])
	if reason != "" {
		return p, malformed
	}
	return p, end
}

// isWithin reports whether a record that begins after a text may be a value within a deeper part of a record that the
// text begins.
func isWithin(before []byte) bool {
	depth := 0
	last := byte(0)
	arrays := []bool{}
	for i := 0; i < len(before); i++ {
		switch c := before[i]; c {
		case ' ', '\t', '\r':
			continue
		case '"':
			end := scanString(before, i)
			if end == malformed {
				return false // the record begins within a string, where quotes would have a backslash
			}
			i = end - 1
		case '{', '[':
			depth++
			arrays = append(arrays, c == '[')
		case '}', ']':
			if depth == 0 {
				return false
			}
			depth--
			arrays = arrays[:depth]
		}
		last = before[i]
	}
	inArray := depth > 0 && arrays[depth-1]
	expectsValue := last == ':' || last == '[' || last == ',' && inArray
	return expectsValue && depth > maxNesting
}
