package listing

import (
	"time"

	"github.com/tidwall/gjson"

	"appserver/platform/excerpt"
	"appserver/protocol"
	"appserver/rollout/line"
)

// Collector keeps the head of a thread up to date while lines are appended.
type Collector struct {
	head   Head
	listed bool
	// running is set while a turn is under way.
	running bool
	scan    headScan
	latest  Latest
}

// NewCollector returns a collector for the lines after those of a head. The zero head has no lines.
// Lists include the thread if listed is set. A turn is under way if running is set.
func NewCollector(head Head, listed, running bool) *Collector {
	return &Collector{head: head, listed: listed, running: running}
}

// Add applies the next line. It copies what it keeps.
func (c *Collector) Add(l protocol.RolloutLine) {
	if !c.listed || c.head.Context == nil {
		c.scan.addLine(line.Parsed{RolloutLine: l})
	}
	c.latest.Add(l)
	if l.Type == protocol.LineEventMsg {
		switch gjson.GetBytes(l.Payload, "type").Str {
		case protocol.EventTaskStarted:
			c.running = true
		case protocol.EventTaskComplete, protocol.EventTurnAborted:
			c.running = false
		}
	}
}

// Running reports whether a turn has begun and has not ended.
func (c *Collector) Running() bool { return c.running }

// Head returns the head, and whether lists include the thread.
func (c *Collector) Head() (head Head, listed bool) {
	if c.head.Meta.ID == "" && c.scan.meta {
		c.head.Meta = c.scan.head.Meta
		if at, err := time.Parse(time.RFC3339Nano, c.head.Meta.Timestamp); err == nil {
			c.head.CreatedAt = at
		}
	}
	if c.head.Context == nil {
		c.head.Context = c.scan.head.Context
	}
	if !c.listed && c.scan.hasUser() {
		c.head.Preview, c.listed = c.scan.preview(), true
	}
	c.latest.Update(&c.head)
	return c.head, c.listed
}

// preview returns the text of the first user message, or "".
func (h *headScan) preview() string {
	switch {
	case h.event != nil:
		return excerpt.Prefix(protocol.PreviewOf(*h.event), maxPreview)
	case h.item != nil:
		return excerpt.Prefix(protocol.PreviewOf(*h.item), maxPreview)
	}
	return ""
}
