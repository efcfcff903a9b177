package main

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// printer shows a session.
type printer struct {
	out    io.Writer
	stable bool
	width  int
	names  map[string]string // paths, and in a stable session ids
	held   object            // the delta that others may join, in a stable session
}

func (p *printer) say(text string) { fmt.Fprintf(p.out, "\n# %s\n", text) }

// message prints a message. A stable session shows the deltas of a text that follow
// each other as one: how many there are depends on how fast the client reads.
func (p *printer) message(direction string, m object) {
	mergeable := p.stable && isDelta(m)
	if mergeable {
		m = p.join(m)
	}
	if p.held != nil {
		p.print("<-", p.held)
		p.held = nil
	}
	if mergeable {
		p.held = m
		return
	}
	p.print(direction, m)
}

func isDelta(m object) bool {
	method, _ := m["method"].(string)
	return strings.HasSuffix(strings.ToLower(method), "delta")
}

// join adds a delta to the one that is held, if both are of the same text.
func (p *printer) join(m object) object {
	if p.held == nil || p.held["method"] != m["method"] || dig(p.held, "params", "itemId") != dig(m, "params", "itemId") {
		return m
	}
	before, _ := dig(p.held, "params", "delta").(string)
	more, _ := dig(m, "params", "delta").(string)
	if params, ok := m["params"].(object); ok {
		params["delta"] = before + more
	}
	p.held = nil
	return m
}

func (p *printer) print(direction string, m object) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(m); err != nil {
		text.WriteString(err.Error())
	}
	line := p.name(strings.TrimSpace(text.String()))
	if runes := []rune(line); p.width > 0 && len(runes) > p.width {
		line = string(runes[:p.width]) + "…"
	}
	fmt.Fprintln(p.out, direction, line)
}

var (
	uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	dates = regexp.MustCompile(`sessions/\d{4}/\d{2}/\d{2}/rollout-[0-9T-]+-`)
	// cursors contain the names of files.
	cursors = regexp.MustCompile(`("[a-zA-Z]*Cursor"):"[^"]*"`)
	walls   = regexp.MustCompile(`Wall time: [0-9.]+ seconds`)
	// agents contain the machine and the terminal.
	agents = regexp.MustCompile(`("userAgent":"\S+) \([^)]*\) \S+ \(`)
	// numbers are times, process ids and token counts. The prompt has the path and the time zone, so
	// token counts differ.
	numbers = regexp.MustCompile(`("(?:[a-zA-Z]*At|[a-zA-Z]*AtMs|durationMs|processId|[a-zA-Z]*Tokens)"):("?)\d+("?)`)
)

// name replaces what differs from session to session.
func (p *printer) name(line string) string {
	for value, name := range p.names {
		line = strings.ReplaceAll(line, value, name)
	}
	if !p.stable {
		return line
	}
	line = uuids.ReplaceAllStringFunc(line, func(id string) string {
		if p.names[id] == "" {
			p.names[id] = fmt.Sprintf("ID%d", len(p.names)-1)
		}
		return p.names[id]
	})
	line = dates.ReplaceAllString(line, "sessions/DATE/rollout-TIME-")
	line = cursors.ReplaceAllString(line, `$1:"CURSOR"`)
	line = walls.ReplaceAllString(line, "Wall time: 0.0 seconds")
	line = agents.ReplaceAllString(line, "$1 (SYSTEM) TERMINAL (")
	return numbers.ReplaceAllString(line, "$1:${2}0$3")
}
