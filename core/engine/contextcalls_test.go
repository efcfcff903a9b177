package engine_test

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/core/engine"
	"appserver/protocol"
)

func getItems(thread string) call {
	p := &protocol.ContextGetItemsParams{ThreadID: thread}
	return call{"context/getItems", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ContextGetItems(to, p) }}
}

func getUsage(thread string) call {
	p := &protocol.ContextGetUsageParams{ThreadID: thread}
	return call{"context/getUsage", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ContextGetUsage(to, p) }}
}

func listEdits(thread string) call {
	p := &protocol.ContextListEditsParams{ThreadID: thread}
	return call{"context/listEdits", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ContextListEdits(to, p) }}
}

func getPrompt(thread string) call {
	p := &protocol.ContextGetPromptParams{ThreadID: thread}
	return call{"context/getPrompt", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ContextGetPrompt(to, p) }}
}

func preview(thread string, o protocol.ContextOperationVariant) call {
	p := &protocol.ContextPreviewParams{ThreadID: thread, Edits: []protocol.ContextOperation{{ContextOperationVariant: o}}}
	return call{"context/preview", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ContextPreview(to, p) }}
}

func apply(thread string, operations ...protocol.ContextOperationVariant) call {
	p := &protocol.ContextApplyParams{ContextRequest: protocol.ContextRequest{ThreadID: thread}}
	for _, o := range operations {
		p.Edits = append(p.Edits, protocol.ContextOperation{ContextOperationVariant: o})
	}
	return call{"context/apply", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ContextApply(to, p) }}
}

func goTo(thread string, revision int64) call {
	p := &protocol.ContextGotoParams{ContextRequest: protocol.ContextRequest{ThreadID: thread}, Revision: revision}
	return call{"context/goto", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ContextGoto(to, p) }}
}

func named(ids []string) protocol.ContextTargets {
	return protocol.ContextTargets{IDs: append([]string{}, ids...)}
}

func exclude(thread string, ids ...string) call { return excludeAt(thread, nil, ids...) }

// excludeAt excludes items if the context has the revision.
func excludeAt(thread string, revision *int64, ids ...string) call {
	p := &protocol.ContextSetInclusionParams{
		ContextRequest: protocol.ContextRequest{ThreadID: thread, ExpectedRevision: revision},
		SetInclusion:   protocol.SetInclusion{ContextTargets: named(ids)},
	}
	return setInclusion(p)
}

func include(thread string, ids ...string) call {
	return setInclusion(&protocol.ContextSetInclusionParams{
		ContextRequest: protocol.ContextRequest{ThreadID: thread},
		SetInclusion:   protocol.SetInclusion{ContextTargets: named(ids), Included: true},
	})
}

func setInclusion(p *protocol.ContextSetInclusionParams) call {
	return edit(p.ThreadID, p.ExpectedRevision, &p.SetInclusion)
}

// edit applies an operation.
func edit(thread string, expected *int64, o protocol.ContextOperationVariant) call {
	r := protocol.ContextRequest{ThreadID: thread, ExpectedRevision: expected}
	return call{protocol.ContextMethod(o), thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ContextEdit(to, r, o) }}
}

// remove deletes.
func remove(thread string, ids ...string) call {
	return edit(thread, nil, &protocol.PruneByIndices{ContextTargets: named(ids)})
}

func prune(thread string, categories ...protocol.ContextCategory) call {
	return edit(thread, nil, &protocol.Prune{Categories: categories})
}

// inject adds items, each of which is JSON.
func inject(thread string, items ...string) call {
	p := &protocol.ThreadInjectItemsParams{ThreadID: thread}
	for _, item := range items {
		p.Items = append(p.Items, []byte(item))
	}
	return call{"thread/inject_items", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadInjectItems(to, p) }}
}

func pin(thread string, ids ...string) call {
	return edit(thread, nil, &protocol.Pin{ContextTargets: named(ids), Pinned: true})
}

func replace(thread, id, text string) call {
	return edit(thread, nil, &protocol.Replace{ID: &id, Text: text})
}

func undo(thread string) call {
	p := &protocol.ContextUndoParams{ContextRequest: protocol.ContextRequest{ThreadID: thread}}
	return call{"context/undo", thread, func(e *engine.Engine, to protocol.Caller) error { return e.ContextUndo(to, p) }}
}

func redo(thread string) call {
	p := &protocol.ContextRedoParams{ContextRequest: protocol.ContextRequest{ThreadID: thread}}
	return call{"context/redo", thread, func(e *engine.Engine, to protocol.Caller) error { return e.ContextRedo(to, p) }}
}

func restore(thread string) call { return restoreFrom(thread, nil) }

func restoreFromBackup(thread string) call { return restoreFrom(thread, new("backup")) }

func restoreFrom(thread string, from *string) call {
	p := &protocol.ContextRestoreParams{ContextRequest: protocol.ContextRequest{ThreadID: thread}, From: from}
	return call{"context/restore", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ContextRestore(to, p) }}
}

// contextReads returns the methods that change nothing.
func contextReads(thread string) []call {
	return []call{getItems(thread), getUsage(thread), listEdits(thread), getPrompt(thread),
		preview(thread, &protocol.Prune{Categories: protocol.ContextCategories()})}
}

// contextEdits returns all edits, in an order in which each has an effect on a thread whose items are
// the environment and then those of "run touch a".
func contextEdits(thread string, ids []string) []call {
	return []call{
		exclude(thread, ids[1]), include(thread, ids[1]), pin(thread, ids[2]), replace(thread, ids[3], "short"),
		apply(thread, &protocol.SetInclusion{ContextTargets: named(ids[:1])},
			&protocol.Pin{ContextTargets: named(ids[1:2]), Pinned: false}),
		remove(thread, ids[4]), prune(thread, protocol.CategoryUserMessage), undo(thread), goTo(thread, 7), restore(thread),
	}
}

// isEdit reports whether a method changes a context.
func isEdit(method string) bool {
	switch method {
	case "context/getItems", "context/getUsage", "context/listEdits", "context/getPrompt", "context/preview":
		return false
	}
	return strings.HasPrefix(method, "context/")
}

// items returns the list of a thread's context items.
func (r *rig) items(thread string) []gjson.Result {
	r.t.Helper()
	return r.ask(99, getItems(thread)).Get("items").Array()
}

// ids returns the ids of the context items.
func (r *rig) ids(thread string) []string {
	r.t.Helper()
	return texts(r.items(thread), "id")
}

// idOf returns the id of the context item with the preview.
func (r *rig) idOf(thread, words string) string {
	r.t.Helper()
	var previews []string
	for _, item := range r.items(thread) {
		if item.Get("preview").Str == words {
			return item.Get("id").Str
		}
		previews = append(previews, item.Get("preview").Str)
	}
	require.Failf(r.t, "no such item", "%q is none of %q", words, previews)
	return ""
}

// outline returns a line for each context item: its preview, and its state after edits.
func (r *rig) outline(thread string) []string {
	r.t.Helper()
	return outlineOf(r.items(thread))
}

func outlineOf(items []gjson.Result) (lines []string) {
	for _, item := range items {
		line := item.Get("preview").Str
		if item.Get("category").Str == string(protocol.CategoryEnvironmentContext) {
			line = "surroundings"
		}
		for _, mark := range []string{"pinned", "replaced"} {
			if item.Get(mark).Bool() {
				line += " " + mark
			}
		}
		if !item.Get("included").Bool() {
			line += " excluded"
		}
		lines = append(lines, line)
	}
	return lines
}

// context returns the whole context of a thread in the form of the wire.
func (r *rig) context(thread string) string {
	r.t.Helper()
	var all strings.Builder
	for _, c := range contextReads(thread) {
		fmt.Fprintf(&all, "%s %s\n", c.method, r.ask(99, c).Raw)
	}
	return all.String()
}
