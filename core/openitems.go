package core

import (
	"strings"
	"time"

	"appserver/core/pure/toolspec"
	"appserver/platform/excerpt"
	"appserver/protocol"
)

// openItems returns the items of calls between item/started and item/completed. A subscribing
// client needs them for the requests about them.
func (t *turn) openItems() (items []protocol.ThreadItem) {
	for _, c := range t.calls {
		if c.item != nil && c.state != callDone {
			items = append(items, withOutput(*c.item, c.commandOutput()))
		}
	}
	return items
}

// itemsInProgress returns the items between item/started and item/completed with the texts and outputs that clients
// have received: those of the active turn in the order of their begin, then the commands in the background.
func (t *Thread) itemsInProgress() (entries []protocol.ThreadItemEntry) {
	if !t.isIdle() {
		for _, item := range t.active.itemsInProgress() {
			entries = append(entries, entryInProgress(t.active.id, item))
		}
	}
	for _, term := range t.terminals {
		if _, known := t.transcript.IndexOf(term.turnID); known && term.result == nil && !term.inFirstCall() {
			entries = append(entries, entryInProgress(term.turnID, withOutput(*term.item, term.command.received.String())))
		}
	}
	return entries
}

func (t *turn) itemsInProgress() (items []protocol.ThreadItem) {
	if c := t.compaction; c != nil && c.item != nil {
		items = append(items, *c.item)
	}
	items = append(items, t.streamedItems()...)
	items = append(items, t.openItems()...)
	for _, o := range t.userCommands {
		items = append(items, withOutput(*o.item, o.command.received.String()))
	}
	return items
}

func entryInProgress(turnID string, item protocol.ThreadItem) protocol.ThreadItemEntry {
	return protocol.ThreadItemEntry{TurnID: turnID, Item: item, StartedAtMs: item.StartedAtMs}
}

// streamedItems returns the items of the running model request whose texts stream in. Clients do not see the message of
// a reviewer before its end.
func (t *turn) streamedItems() (items []protocol.ThreadItem) {
	if t.request == nil {
		return nil
	}
	if o := t.request.reasoning; o != nil {
		items = append(items, newItem(o.view(), o.startedAt))
	}
	for _, o := range t.request.searches {
		items = append(items, newItem(&protocol.WebSearchItem{ID: o.id}, o.startedAt))
	}
	switch o := t.request.message; {
	case o == nil || t.review != nil:
	case o.plans == nil:
		items = append(items, newItem(&protocol.AgentMessageItem{ID: o.id, Text: o.text.String()}, o.startedAt))
	default:
		items = append(items, o.plans.openItems(o.id)...)
	}
	return items
}

func newItem(v protocol.ThreadItemVariant, at time.Time) protocol.ThreadItem {
	return protocol.ThreadItem{ThreadItemVariant: v, StartedAtMs: new(at.UnixMilli())}
}

// receivedOutput is the output of a command that clients have received, cut to its ends.
type receivedOutput struct{ text excerpt.Text }

func (o *receivedOutput) add(text string) {
	o.text.Limit = toolspec.MaxOutput
	o.text.Write(strings.ToValidUTF8(text, "\ufffd"))
}

// String returns the output, or "".
func (o *receivedOutput) String() string { return o.text.String() }

// commandOutput returns the output so far of a call that runs a command, or "".
func (c *toolCall) commandOutput() string {
	if k, ok := c.kind.(*commandCall); ok {
		return k.received.String()
	}
	return ""
}

// withOutput returns the item of a running command with its output so far. It returns other items as they are.
func withOutput(item protocol.ThreadItem, output string) protocol.ThreadItem {
	if running, ok := item.ThreadItemVariant.(*protocol.CommandExecutionItem); ok && output != "" {
		withOutput := *running
		withOutput.AggregatedOutput = &output
		item.ThreadItemVariant = &withOutput
	}
	return item
}
