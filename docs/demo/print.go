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
	last   string            // the item of the last delta, in a stable session
}

func (p *printer) say(text string) { fmt.Fprintf(p.out, "\n# %s\n", text) }

func (p *printer) message(direction string, m object) {
	if p.stable && p.skip(m) {
		return
	}
	b, err := json.Marshal(m)
	if err != nil {
		b = []byte(err.Error())
	}
	line := p.name(string(b))
	if runes := []rune(line); p.width > 0 && len(runes) > p.width {
		line = string(runes[:p.width]) + "…"
	}
	fmt.Fprintln(p.out, direction, line)
}

// skip leaves out all but the first delta of an item: how many there are depends on
// how fast the client reads.
func (p *printer) skip(m object) bool {
	method, _ := m["method"].(string)
	if !strings.HasSuffix(strings.ToLower(method), "delta") {
		p.last = ""
		return false
	}
	item, _ := dig(m, "params", "itemId").(string)
	again := item == p.last
	p.last = item
	return again
}

var (
	uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	times = regexp.MustCompile(`("(?:[a-zA-Z]*At|[a-zA-Z]*AtMs|durationMs|processId)"):("?)\d+("?)`)
	dates = regexp.MustCompile(`sessions/\d{4}/\d{2}/\d{2}/rollout-[0-9T-]+-`)
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
	return times.ReplaceAllString(line, "$1:${2}0$3")
}
