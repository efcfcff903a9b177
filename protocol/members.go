package protocol

import (
	"bytes"
	"encoding/json"
	"iter"
	"unsafe"
)

// Members returns an iterator over the members of an object, in order and with duplicates. The object
// must be valid JSON without surrounding space. Names and values alias it.
//
// Package encoding/json would decode and copy every value. Callers need the raw bytes of a few members.
func Members(object []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for i := skipSpace(object, 1); object[i] != '}'; {
			nameEnd := endOfString(object, i)
			name := unquote(object[i:nameEnd])
			i = skipSpace(object, nameEnd)
			valueEnd := endOfValue(object, i)
			if !yield(name, object[i:valueEnd:valueEnd]) {
				return
			}
			i = skipSpace(object, valueEnd)
		}
	}
}

// Elements returns an iterator over the elements of an array. It has the preconditions of Members.
func Elements(array []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for i := skipSpace(array, 1); array[i] != ']'; {
			end := endOfValue(array, i)
			if !yield(array[i:end:end]) {
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

// endOfString searches the quote that ends a string: one behind an even number of backslashes.
func endOfString(b []byte, i int) int {
	for start := i + 1; ; {
		i += 1 + bytes.IndexByte(b[i+1:], '"')
		first := i
		for first > start && b[first-1] == '\\' {
			first--
		}
		if (i-first)%2 == 0 {
			return i + 1
		}
	}
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

// StringOf returns the value of a JSON string. It returns false for other values, and for nil.
func StringOf(value json.RawMessage) (text string, ok bool) {
	if len(value) == 0 || value[0] != '"' {
		return "", false
	}
	return unquote(value), true
}

// unquote returns the text of a JSON string, or "" if it cannot be decoded. It aliases a string without
// escapes.
func unquote(quoted []byte) string {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return unsafe.String(unsafe.SliceData(inner), len(inner))
	}
	if s, ok := plainText(quoted); ok {
		return s
	}
	var s string
	if Unmarshal(quoted, &s) != nil {
		return ""
	}
	return s
}
