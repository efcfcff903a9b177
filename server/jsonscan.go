package server

import (
	"bytes"
	"encoding/json"
	"iter"

	"appserver/protocol"
)

// objectMembers returns an iterator over the members of an object, in order and with
// duplicates. The object must be valid JSON without surrounding space. Values alias it.
//
// Package encoding/json would decode and copy every value. The server needs the raw bytes of a
// few members.
func objectMembers(object []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for i := skipSpace(object, 1); object[i] != '}'; {
			nameEnd := endOfString(object, i)
			name := unquote(object[i:nameEnd])
			i = skipSpace(object, nameEnd)
			valueEnd := endOfValue(object, i)
			if !yield(name, object[i:valueEnd]) {
				return
			}
			i = skipSpace(object, valueEnd)
		}
	}
}

// arrayElements returns an iterator over the elements of an array. It has the preconditions of
// objectMembers.
func arrayElements(array []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for i := skipSpace(array, 1); array[i] != ']'; {
			end := endOfValue(array, i)
			if !yield(array[i:end]) {
				return
			}
			i = skipSpace(array, end)
		}
	}
}

// skipSpace skips white space and the separators "," and ":".
func skipSpace(b []byte, i int) int {
	for b[i] <= ' ' || b[i] == ',' || b[i] == ':' {
		i++
	}
	return i
}

func endOfValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return endOfString(b, i)
	case '{', '[':
		return endOfNested(b, i)
	}
	for b[i] > ' ' && b[i] != ',' && b[i] != '}' && b[i] != ']' {
		i++
	}
	return i
}

func endOfString(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func endOfNested(b []byte, i int) int {
	for depth := 0; ; i++ {
		switch b[i] {
		case '"':
			i = endOfString(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

// unquote returns the text of a JSON string, or "" if it cannot be decoded.
func unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var s string
	if protocol.Unmarshal(quoted, &s) != nil {
		return ""
	}
	return s
}
