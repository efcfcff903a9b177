package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/termtext"
	"appserver/protocol"
)

// listedItems is the number of items that list prints without --all.
const listedItems = 100

func (c *contextCall) getItems() (protocol.ContextGetItemsResponse, error) {
	return app.Call[protocol.ContextGetItemsResponse](c.client, "context/getItems",
		protocol.ContextGetItemsParams{ThreadID: c.thread})
}

func (c *contextCall) getUsage() (protocol.ContextGetUsageResponse, error) {
	return app.Call[protocol.ContextGetUsageResponse](c.client, "context/getUsage",
		protocol.ContextGetUsageParams{ThreadID: c.thread})
}

// list prints the items and the usage.
func (c *contextCall) list() error {
	r, err := c.getItems()
	if err != nil || c.o.json {
		return c.printResult(r, err)
	}
	ages, err := c.ages()
	if err != nil {
		return err
	}
	items := r.Items
	if hidden := len(items) - listedItems; hidden > 0 && !c.o.all {
		c.printLine("%s not shown: --all lists them", termtext.Counted(hidden, "earlier item"))
		items = items[hidden:]
	}
	itemTable(items, ages).write(&c.out, c.width)
	c.printLine("")
	c.printUsage(&r.Usage)
	return nil
}

// printResult prints the result of a method as JSON.
func (c *contextCall) printResult(result any, err error) error {
	if err != nil {
		return err
	}
	return writeJSON(&c.out, result)
}

// ages returns the ages of turns by their ids. It omits turns without a start time.
func (c *contextCall) ages() (map[string]string, error) {
	read, err := app.Call[protocol.ThreadReadResponse](c.client, "thread/read",
		protocol.ThreadReadParams{ThreadID: c.thread, IncludeTurns: true})
	if err != nil {
		return nil, err
	}
	ages := map[string]string{}
	for _, turn := range read.Thread.Turns {
		if turn.StartedAt != nil {
			ages[turn.ID] = age(c.now.Sub(time.Unix(*turn.StartedAt, 0)))
		}
	}
	return ages, nil
}

// itemTable returns the table of items, each with its note in a row below. It has a column of ages if one is known.
func itemTable(items []protocol.ContextItem, ages map[string]string) *table {
	t := &table{right: map[int]bool{0: true, 3: true, 5: len(ages) > 0}}
	row := func(age string, cells ...string) {
		if len(ages) > 0 {
			cells = append(cells[:5:5], age, cells[5])
		}
		t.add(cells...)
	}
	row("age", "index", "id", "category", "tokens", "state", "preview")
	for _, item := range items {
		when := ""
		if item.TurnID != nil {
			when = ages[*item.TurnID]
		}
		row(when, fmt.Sprint(item.Index), item.ID, item.Category.Words(), termtext.Grouped(item.Tokens), state(&item),
			cmp.Or(item.LongPreview, item.Preview))
		if item.Note != "" {
			row("", "", "", "", "", "note", item.Note)
		}
	}
	return t
}

// state describes how an item differs from one that is sent unchanged.
func state(item *protocol.ContextItem) string {
	var words []string
	if sent := item.SentState(); sent != "" {
		words = append(words, sent)
	}
	if item.Pinned {
		words = append(words, "pinned")
	}
	if item.Replaced {
		words = append(words, "replaced")
	}
	return strings.Join(words, ", ")
}

// usage prints the tokens of the context by category.
func (c *contextCall) usage() error {
	r, err := c.getUsage()
	if err != nil || c.o.json {
		return c.printResult(r, err)
	}
	c.printUsage(&r.Usage)
	return nil
}

// printUsage prints the usage as shares of the context window, or of the request if the window is not
// known.
func (c *contextCall) printUsage(u *protocol.ContextUsage) {
	whole, of := u.PromptTokens, "share of request"
	if u.ModelContextWindow != nil {
		whole, of = *u.ModelContextWindow, "share of window"
	}
	t := &table{right: map[int]bool{1: true, 2: true, 3: true, 4: true}}
	t.add("category", "items", "tokens", "sent", of)
	count := 0
	for _, part := range u.ByCategory {
		count += part.Count
		t.add(part.Category.Words(), fmt.Sprint(part.Count), termtext.Grouped(part.Tokens),
			termtext.Grouped(part.IncludedTokens), termtext.Percent(part.IncludedTokens, whole))
	}
	rest := u.PromptTokens - u.IncludedTokens
	t.add("instructions, tools", "", termtext.Grouped(rest), termtext.Grouped(rest), termtext.Percent(rest, whole))
	t.add("total", fmt.Sprint(count), termtext.Grouped(u.TotalTokens+rest), termtext.Grouped(u.PromptTokens),
		termtext.Percent(u.PromptTokens, whole))
	t.write(&c.out, c.width)
	if u.ModelContextWindow == nil {
		c.printLine("The context window of the model is unknown: no turn of the thread records it.")
		return
	}
	c.printLine("The next request has %s tokens of the window of %s tokens.", termtext.Grouped(u.PromptTokens), termtext.Grouped(whole))
}

// edits prints the journal.
func (c *contextCall) edits() error {
	r, err := app.Call[protocol.ContextListEditsResponse](c.client, "context/listEdits",
		protocol.ContextListEditsParams{ThreadID: c.thread})
	if err != nil || c.o.json {
		return c.printResult(r, err)
	}
	if len(r.Edits) == 0 {
		c.printLine("There are no edits.")
		return nil
	}
	t := &table{right: map[int]bool{0: true, 2: true, 3: true, 4: true}}
	t.add("revision", "edit", "items", "saved", "age", "state")
	for _, e := range r.Edits {
		undone := ""
		if e.Undone {
			undone = "undone"
		}
		t.add(fmt.Sprint(e.Revision), e.Op, fmt.Sprint(e.Count), termtext.Grouped(e.SavedTokens),
			age(c.now.Sub(time.UnixMilli(e.At))), undone)
	}
	t.write(&c.out, c.width)
	return nil
}

// prompt prints the next model request.
func (c *contextCall) prompt() error {
	r, err := app.Call[protocol.ContextGetPromptResponse](c.client, "context/getPrompt",
		protocol.ContextGetPromptParams{ThreadID: c.thread})
	if err != nil || c.o.json {
		return c.printResult(r, err)
	}
	c.printLine("%s to model %s of provider %s, %s", termtext.Counted(len(r.Messages), "message"), r.Model, r.Provider,
		termtext.Counted(int(r.Tokens), "token"))
	for i, raw := range r.Messages {
		c.printMessage(i, raw)
	}
	for _, raw := range r.Tools {
		fmt.Fprintf(&c.out, "\n[tool] %s\n", termtext.PlainLines(string(raw)))
	}
	return nil
}

// printMessage prints the role and the text of a message, then its other members as JSON.
func (c *contextCall) printMessage(i int, raw json.RawMessage) {
	var m map[string]json.RawMessage
	var role, text string
	if protocol.Unmarshal(raw, &m) != nil {
		fmt.Fprintf(&c.out, "\n[%d] %s\n", i, termtext.PlainLines(string(raw)))
		return
	}
	if protocol.Unmarshal(m["role"], &role) == nil {
		delete(m, "role")
	}
	if protocol.Unmarshal(m["content"], &text) == nil {
		delete(m, "content")
	}
	fmt.Fprintf(&c.out, "\n[%d] %s\n", i, termtext.Plain(role))
	if text != "" {
		fmt.Fprintln(&c.out, termtext.PlainLines(text))
	}
	if len(m) > 0 {
		if rest, err := json.Marshal(m); err == nil { // m was decoded from JSON
			fmt.Fprintln(&c.out, termtext.PlainLines(string(rest)))
		}
	}
}
