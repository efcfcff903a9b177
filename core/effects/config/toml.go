package config

import (
	"bytes"
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// ParseTOML returns the values of a document. An error states the line.
func ParseTOML(text []byte) (map[string]any, error) {
	values, _, err := decodeTOML("", bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	return values, err
}

func decodeTOML(file string, text []byte) (map[string]any, *lines, error) {
	values := map[string]any{}
	if err := toml.Unmarshal(text, &values); err != nil {
		return nil, nil, tomlError(file, err)
	}
	return values, tomlLines(text), nil
}

// tomlLines finds the lines of the keys in a valid document.
func tomlLines(text []byte) *lines {
	var p unstable.Parser
	p.Reset(text)
	root := &lines{line: 1}
	table, count := root, &lineCounter{text: text}
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = walkKey(root, e, count)
		case unstable.KeyValue:
			markKeyValue(table, e, count)
		}
	}
	return root
}

func markKeyValue(table *lines, e *unstable.Node, count *lineCounter) {
	at := walkKey(table, e, count)
	if e.Value().Kind != unstable.InlineTable {
		return
	}
	for members := e.Value().Children(); members.Next(); {
		markKeyValue(at, members.Node(), count)
	}
}

// walkKey follows the parts of e's key.
func walkKey(at *lines, e *unstable.Node, count *lineCounter) *lines {
	for key := e.Key(); key.Next(); {
		n := key.Node()
		at = at.at(string(n.Data), count.line(int(n.Raw.Offset)))
	}
	return at
}

// lineCounter converts offsets to lines; it is fast for ascending offsets.
type lineCounter struct {
	text         []byte
	offset, seen int
}

func (c *lineCounter) line(offset int) int {
	if offset < c.offset {
		c.offset, c.seen = 0, 0
	}
	c.seen += bytes.Count(c.text[c.offset:offset], []byte("\n"))
	c.offset = offset
	return c.seen + 1
}

func tomlError(file string, err error) *Error {
	at := position{label: file}
	var decode *toml.DecodeError
	if !errors.As(err, &decode) {
		return &Error{Position: file, Problem: strings.TrimPrefix(err.Error(), "toml: ")}
	}
	at.line, _ = decode.Position()
	return &Error{Position: at.String(), Key: dotted(decode.Key()), Problem: strings.TrimPrefix(err.Error(), "toml: ")}
}
