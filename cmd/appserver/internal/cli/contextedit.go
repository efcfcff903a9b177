package cli

import (
	"fmt"
	"strings"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/termtext"
	"appserver/protocol"
)

func (c *contextCall) exclude() error { return c.setIncluded(false) }
func (c *contextCall) include() error { return c.setIncluded(true) }
func (c *contextCall) pin() error     { return c.setPinned(true) }
func (c *contextCall) unpin() error   { return c.setPinned(false) }
func (c *contextCall) note() error    { return c.setNote("Noted", &c.text) }
func (c *contextCall) unnote() error  { return c.setNote("Removed the note of", nil) }

// editReport has the result of an edit and the state before it.
type editReport struct {
	verb    string
	result  any
	changed int
	ignored int
	before  protocol.ContextUsage
	after   protocol.ContextUsage
}

// setIncluded excludes items, or includes them again. Items that are not in the list can be included by their
// ids.
func (c *contextCall) setIncluded(included bool) error {
	list, named, err := c.selectItems(included)
	if err != nil {
		return err
	}
	r, err := app.Call[protocol.ContextSetInclusionResponse](c.client, "context/setInclusion",
		protocol.ContextSetInclusionParams{
			ContextRequest: c.request(list.Revision),
			SetInclusion:   protocol.SetInclusion{ContextTargets: named, Included: included},
		})
	verb := "Excluded"
	if included {
		verb = "Included"
	}
	return c.report(editReport{verb, r, r.Changed, r.Ignored, list.Usage, r.Usage}, err)
}

// setPinned pins items, or unpins them.
func (c *contextCall) setPinned(pinned bool) error {
	list, named, err := c.selectItems(false)
	if err != nil {
		return err
	}
	r, err := app.Call[protocol.ContextPinResponse](c.client, "context/pin", protocol.ContextPinParams{
		ContextRequest: c.request(list.Revision), Pin: protocol.Pin{ContextTargets: named, Pinned: pinned},
	})
	verb := "Unpinned"
	if pinned {
		verb = "Pinned"
	}
	return c.report(editReport{verb, r, r.Changed, r.Ignored, list.Usage, list.Usage}, err)
}

// setNote attaches a note to items, or removes the notes.
func (c *contextCall) setNote(verb string, note *string) error {
	list, named, err := c.selectItems(false)
	if err != nil {
		return err
	}
	r, err := app.Call[protocol.ContextSetNoteResponse](c.client, "context/setNote", protocol.ContextSetNoteParams{
		ContextRequest: c.request(list.Revision), SetNote: protocol.SetNote{ContextTargets: named, Note: note},
	})
	return c.report(editReport{verb, r, r.Changed, r.Ignored, list.Usage, list.Usage}, err)
}

// remove deletes items after a confirmation.
func (c *contextCall) remove() error {
	list, named, err := c.selectItems(false)
	if err != nil {
		return err
	}
	deletion := protocol.PruneByIndices{ContextTargets: named}
	if !c.o.yes {
		if err := c.confirmDeletion(&deletion); err != nil {
			return err
		}
	}
	r, err := app.Call[protocol.ContextPruneByIndicesResponse](c.client, "context/pruneByIndices",
		protocol.ContextPruneByIndicesParams{
			ContextRequest: c.request(list.Revision), PruneByIndices: deletion,
		})
	return c.report(editReport{"Deleted", r, r.Removed, r.Ignored, list.Usage, r.Usage}, err)
}

func (c *contextCall) confirmDeletion(deletion *protocol.PruneByIndices) error {
	p, err := c.previewEdit(deletion)
	if err != nil {
		return err
	}
	effect := fmt.Sprintf("This would delete %s of thread %s. %s",
		termtext.Counted(itemCount(&p.Before)-itemCount(&p.After), "item"), c.thread,
		difference("would have", &p.Before, &p.After))
	for _, w := range p.Warnings {
		effect += "\nWarning: " + termtext.Plain(w)
	}
	return c.asker.confirm(effect)
}

func itemCount(u *protocol.ContextUsage) (n int) {
	for _, part := range u.ByCategory {
		n += part.Count
	}
	return n
}

func (c *contextCall) previewEdit(o protocol.ContextOperationVariant) (protocol.ContextPreviewResponse, error) {
	return app.Call[protocol.ContextPreviewResponse](c.client, "context/preview", protocol.ContextPreviewParams{
		ThreadID: c.thread, Edits: []protocol.ContextOperation{{ContextOperationVariant: o}},
	})
}

// prune excludes items by category.
func (c *contextCall) prune() error {
	was, err := c.getUsage()
	if err != nil {
		return err
	}
	r, err := app.Call[protocol.ContextPruneResponse](c.client, "context/prune", protocol.ContextPruneParams{
		ContextRequest: c.request(was.Revision), Prune: c.o.prune,
	})
	return c.report(editReport{"Excluded", r, r.Changed, 0, was.Usage, r.Usage}, err)
}

// preview prints the effect of a prune.
func (c *contextCall) preview() error {
	p, err := c.previewEdit(&c.o.prune)
	if err != nil || c.o.json {
		return c.printResult(p, err)
	}
	after := map[protocol.ContextCategory]int64{}
	for _, part := range p.After.ByCategory {
		after[part.Category] = part.IncludedTokens
	}
	t := &table{right: map[int]bool{1: true, 2: true, 3: true}}
	t.add("category", "sent now", "after prune", "saved")
	for _, part := range p.Before.ByCategory {
		if then := after[part.Category]; then != part.IncludedTokens {
			t.add(part.Category.Words(), termtext.Grouped(part.IncludedTokens), termtext.Grouped(then),
				termtext.Grouped(part.IncludedTokens-then))
		}
	}
	if len(t.rows) > 1 {
		t.write(&c.out, c.width)
	}
	c.printLine("%s Nothing was changed.", difference("would have", &p.Before, &p.After))
	for _, w := range p.Warnings {
		c.printLine("Warning: %s", w)
	}
	return nil
}

// undo undoes the last edit.
func (c *contextCall) undo() error {
	was, err := c.getUsage()
	if err != nil {
		return err
	}
	r, err := app.Call[protocol.ContextUndoResponse](c.client, "context/undo",
		protocol.ContextUndoParams{ContextRequest: c.request(was.Revision)})
	return c.reportTurn("Undone", "redo", r.Undone, r, err, &was.Usage, &r.Usage)
}

// redo redoes the edit that was undone last.
func (c *contextCall) redo() error {
	was, err := c.getUsage()
	if err != nil {
		return err
	}
	r, err := app.Call[protocol.ContextRedoResponse](c.client, "context/redo",
		protocol.ContextRedoParams{ContextRequest: c.request(was.Revision)})
	return c.reportTurn("Redone", "undo", r.Redone, r, err, &was.Usage, &r.Usage)
}

func (c *contextCall) reportTurn(verb, back string, e protocol.ContextEdit, result any, err error, before,
	after *protocol.ContextUsage) error {
	if err != nil || c.o.json {
		return c.printResult(result, err)
	}
	c.printLine("%s: %s of %s. %s", verb, e.Op, termtext.Counted(e.Count, "item"), difference("has", before, after))
	c.printLine("To %s it: appserver context %s %s", back, back, c.thread)
	return nil
}

// restore undoes all edits except pins, after a confirmation.
func (c *contextCall) restore() error {
	list, err := c.getItems()
	if err != nil {
		return err
	}
	if !c.o.yes {
		if err := c.confirmRestore(list.Items); err != nil {
			return err
		}
	}
	p := protocol.ContextRestoreParams{ContextRequest: c.request(list.Revision)}
	if c.o.backup {
		from := "backup"
		p.From = &from
	}
	r, err := app.Call[protocol.ContextRestoreResponse](c.client, "context/restore", p)
	return c.report(editReport{"Restored", r, r.Restored, 0, list.Usage, r.Usage}, err)
}

// confirmRestore asks for confirmation of a restore. Only the journal has the price of deleted items, so
// the tokens of all items are read from there.
func (c *contextCall) confirmRestore(items []protocol.ContextItem) error {
	journal, err := app.Call[protocol.ContextListEditsResponse](c.client, "context/listEdits",
		protocol.ContextListEditsParams{ThreadID: c.thread, IncludeItems: true})
	if err != nil {
		return err
	}
	excluded, replaced := 0, 0
	for _, item := range items {
		if !item.Included {
			excluded++
		}
		if item.Replaced {
			replaced++
		}
	}
	deleted, saved := restorable(journal.Edits)
	if excluded+replaced+deleted == 0 {
		return nil
	}
	return c.asker.confirm(fmt.Sprintf("This would undo the edits of thread %s: %s excluded, %s replaced, %s deleted. The next request would have about %s more tokens.",
		c.thread, termtext.Counted(excluded, "item"), termtext.Grouped(int64(replaced)), termtext.Grouped(int64(deleted)),
		termtext.Grouped(saved)))
}

// restorable returns the number of items that a restore brings back, and the tokens that the undone edits
// save now.
func restorable(edits []protocol.ContextEdit) (deleted int, saved int64) {
	for _, e := range edits {
		switch {
		case e.Undone:
		case e.Op == protocol.EditRestore || e.Op == protocol.EditCompact:
			deleted, saved = 0, 0
		default:
			saved += e.SavedTokens
			for _, item := range *e.Items {
				if item.Was != protocol.ItemDeleted && item.Is == protocol.ItemDeleted {
					deleted++
				}
			}
		}
	}
	return deleted, saved
}

// request returns the params of an edit, which is rejected if the context has another revision than the command has
// read, or than the user has named.
func (c *contextCall) request(revision int64) protocol.ContextRequest {
	if c.o.revision != nil {
		revision = *c.o.revision
	}
	return protocol.ContextRequest{ThreadID: c.thread, ExpectedRevision: &revision}
}

// selectItems reads the list and returns the items that the command line names. It returns an error if one of
// them is not in the list, except for ids if removed ones are allowed.
func (c *contextCall) selectItems(allowRemoved bool) (
	list protocol.ContextGetItemsResponse, named protocol.ContextTargets, err error,
) {
	if list, err = c.getItems(); err != nil {
		return list, named, err
	}
	ids, unknown := idsOf(c.items, list.Items, allowRemoved)
	if len(unknown) > 0 {
		return list, named, fmt.Errorf("%s: %s: thread %s has %s: nothing was changed; appserver context list %s prints the items",
			termtext.Counted(len(unknown), "unknown item"), strings.Join(unknown, ", "), c.thread,
			termtext.Counted(len(list.Items), "item"), c.thread)
	}
	named.IDs = ids
	return list, named, nil
}

// report prints the result of an edit and the command that undoes it.
func (c *contextCall) report(e editReport, err error) error {
	if err != nil || c.o.json {
		return c.printResult(e.result, err)
	}
	if e.changed == 0 && e.ignored > 0 {
		c.printLine("Nothing changed: the thread has no such item. appserver context list %s prints the items.", c.thread)
		return nil
	}
	if e.changed == 0 {
		c.printLine("Nothing changed: the edit has no effect.")
		return nil
	}
	c.printLine("%s %s. %s", e.verb, termtext.Counted(e.changed, "item"), difference("has", &e.before, &e.after))
	if e.ignored > 0 {
		c.printLine("%s ignored: no longer in the list.", termtext.Counted(e.ignored, "item"))
	}
	c.printLine("To undo it: appserver context undo %s", c.thread)
	return nil
}

// difference describes the size of the next request and its change. has is the verb.
func difference(has string, before, after *protocol.ContextUsage) string {
	text := "The next request " + has + " " + termtext.Counted(int(after.PromptTokens), "token")
	if after.ModelContextWindow != nil {
		text += " (" + termtext.Percent(after.PromptTokens, *after.ModelContextWindow) + " of the window)"
	}
	switch saved := before.PromptTokens - after.PromptTokens; {
	case saved > 0:
		return text + ", " + termtext.Grouped(saved) + " fewer."
	case saved < 0:
		return text + ", " + termtext.Grouped(-saved) + " more."
	}
	return text + ", unchanged."
}
