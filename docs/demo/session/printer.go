package session

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Printer shows the messages of a session.
type Printer struct {
	Out io.Writer
	// Stable replaces values that differ between sessions and machines.
	Stable bool
	// Width is the number of characters of a message that are printed. 0 is all.
	Width int
	// Names replace paths, and in a stable session ids.
	Names map[string]string
	// held is the delta that others may join, in a stable session.
	held Object
}

// Say prints a comment.
func (p *Printer) Say(text string) { fmt.Fprintf(p.Out, "\n# %s\n", text) }

// message prints a message. A stable session shows the deltas of a text that follow
// each other as one: how many there are depends on how fast the client reads.
func (p *Printer) message(direction string, m Object) {
	mergeable := p.Stable && isDelta(m)
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

func isDelta(m Object) bool {
	method, _ := m["method"].(string)
	return strings.HasSuffix(strings.ToLower(method), "delta")
}

// join adds a delta to the one that is held, if both are of the same text.
func (p *Printer) join(m Object) Object {
	if p.held == nil || p.held["method"] != m["method"] || Dig(p.held, "params", "itemId") != Dig(m, "params", "itemId") {
		return m
	}
	before, _ := Dig(p.held, "params", "delta").(string)
	more, _ := Dig(m, "params", "delta").(string)
	if params, ok := m["params"].(Object); ok {
		params["delta"] = before + more
	}
	p.held = nil
	return m
}

func (p *Printer) print(direction string, m Object) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(m); err != nil {
		text.WriteString(err.Error())
	}
	line := p.name(strings.TrimSpace(text.String()))
	if runes := []rune(line); p.Width > 0 && len(runes) > p.Width {
		line = string(runes[:p.Width]) + "…"
	}
	fmt.Fprintln(p.Out, direction, line)
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
func (p *Printer) name(line string) string {
	for value, name := range p.Names {
		line = strings.ReplaceAll(line, value, name)
	}
	if !p.Stable {
		return line
	}
	line = uuids.ReplaceAllStringFunc(line, func(id string) string {
		if p.Names[id] == "" {
			p.Names[id] = fmt.Sprintf("ID%d", len(p.Names)-1)
		}
		return p.Names[id]
	})
	line = dates.ReplaceAllString(line, "sessions/DATE/rollout-TIME-")
	line = cursors.ReplaceAllString(line, `$1:"CURSOR"`)
	line = walls.ReplaceAllString(line, "Wall time: 0.0 seconds")
	line = agents.ReplaceAllString(line, "$1 (SYSTEM) TERMINAL (")
	return numbers.ReplaceAllString(line, "$1:${2}0$3")
}
