package core_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/protocol"
	"appserver/test/sample"
)

// This file is the part of the model that knows the operations. Random tests draw each operation from the table of the
// protocol, and compare what it does with its row here.

// modelOperation is the expectation of the test model for an operation.
type modelOperation struct {
	// expect returns the line of a request. It sets the number of ignored targets, or the kind of an error.
	expect func(w *contextChecker, m *machine, o protocol.ContextOperationVariant,
		e *expectation) protocol.StoredContextEdit
	// effects are the changes that lines make to an item, by their op.
	effects map[string]func(*modelVisibility, *protocol.StoredContextEdit)
	// restore is the change that a restore of the context makes to an item, or nil.
	restore func(*modelVisibility)
}

// modelVisibility is the effect of edits on an item.
type modelVisibility struct {
	hidden, deleted, excluded, pinned, replaced bool
	says                                        int64
	text, note                                  string
	ofClient                                    string // the note of a client
}

// shown returns the marks that clients see.
func (f *modelVisibility) shown() protocol.ContextItemMarks {
	return protocol.ContextItemMarks{Pinned: f.pinned, Replaced: f.replaced, Note: f.ofClient}
}

// modelOperations returns the row of each operation, by its method.
func modelOperations() map[string]modelOperation {
	return map[string]modelOperation{
		"context/setInclusion": {
			expect: expectInclusion,
			effects: map[string]func(*modelVisibility, *protocol.StoredContextEdit){
				protocol.EditExclude: excludeItem, protocol.EditMask: excludeItem,
				protocol.EditInclude: func(f *modelVisibility, e *protocol.StoredContextEdit) {
					f.excluded, f.says, f.note = false, 0, ""
					f.hidden, f.deleted = f.hidden && !e.Returns, f.deleted && !e.Returns
				},
			},
			restore: func(f *modelVisibility) {
				if f.excluded {
					f.excluded, f.says, f.note = false, 0, ""
				}
			},
		},
		"context/pruneByIndices": {
			expect: func(w *contextChecker, _ *machine, o protocol.ContextOperationVariant,
				e *expectation) protocol.StoredContextEdit {
				stored := protocol.StoredContextEdit{Op: protocol.EditDelete}
				w.expectTargets(&o.(*protocol.PruneByIndices).ContextTargets, &stored, e,
					func(modelItem) bool { return true })
				return stored
			},
			effects: map[string]func(*modelVisibility, *protocol.StoredContextEdit){
				protocol.EditDelete: func(f *modelVisibility, _ *protocol.StoredContextEdit) { f.deleted = true },
			},
			restore: func(f *modelVisibility) {
				if f.deleted {
					f.deleted, f.says, f.note = false, 0, ""
				}
			},
		},
		"context/prune": {
			expect: func(w *contextChecker, m *machine, o protocol.ContextOperationVariant,
				e *expectation) protocol.StoredContextEdit {
				stored := protocol.StoredContextEdit{Op: protocol.EditPrune}
				stored.IDs, e.kind = w.prunable(m, o.(*protocol.Prune))
				return stored
			},
			effects: map[string]func(*modelVisibility, *protocol.StoredContextEdit){protocol.EditPrune: excludeItem},
		},
		"context/pin": {
			expect: expectPin,
			effects: map[string]func(*modelVisibility, *protocol.StoredContextEdit){
				protocol.EditPin:   func(f *modelVisibility, _ *protocol.StoredContextEdit) { f.pinned = true },
				protocol.EditUnpin: func(f *modelVisibility, _ *protocol.StoredContextEdit) { f.pinned = false },
			},
		},
		"context/replace": {
			expect: func(w *contextChecker, _ *machine, o protocol.ContextOperationVariant,
				e *expectation) protocol.StoredContextEdit {
				r := o.(*protocol.Replace)
				stored := protocol.StoredContextEdit{Op: protocol.EditReplace, Text: &r.Text}
				stored.IDs, e.kind = w.toReplace(r)
				return stored
			},
			effects: map[string]func(*modelVisibility, *protocol.StoredContextEdit){
				protocol.EditReplace: func(f *modelVisibility, e *protocol.StoredContextEdit) {
					if f.replaced, f.text = e.Text != nil, ""; e.Text != nil {
						f.text = *e.Text
					}
				},
			},
			restore: func(f *modelVisibility) { f.replaced, f.text = false, "" },
		},
		"context/setNote": {
			expect: expectNote,
			effects: map[string]func(*modelVisibility, *protocol.StoredContextEdit){
				protocol.EditNote: func(f *modelVisibility, e *protocol.StoredContextEdit) {
					if f.ofClient = ""; e.Text != nil {
						f.ofClient = *e.Text
					}
				},
			},
		},
	}
}

func excludeItem(f *modelVisibility, _ *protocol.StoredContextEdit) { f.excluded = true }

func expectInclusion(w *contextChecker, _ *machine, o protocol.ContextOperationVariant,
	e *expectation) (stored protocol.StoredContextEdit) {
	r := o.(*protocol.SetInclusion)
	if r.Included {
		stored.Op = protocol.EditInclude
		stored.IDs, stored.Returns, e.ignored, e.kind = w.toInclude(&r.ContextTargets)
		return stored
	}
	stored.Op = protocol.EditExclude
	w.expectTargets(&r.ContextTargets, &stored, e, func(i modelItem) bool { return !i.excluded })
	return stored
}

func expectPin(w *contextChecker, _ *machine, o protocol.ContextOperationVariant,
	e *expectation) (stored protocol.StoredContextEdit) {
	r := o.(*protocol.Pin)
	stored.Op = map[bool]string{true: protocol.EditPin, false: protocol.EditUnpin}[r.Pinned]
	w.expectTargets(&r.ContextTargets, &stored, e, func(i modelItem) bool { return i.pinned != r.Pinned })
	return stored
}

func expectNote(w *contextChecker, _ *machine, o protocol.ContextOperationVariant,
	e *expectation) (stored protocol.StoredContextEdit) {
	r := o.(*protocol.SetNote)
	stored.Op, stored.Text = protocol.EditNote, r.Note
	note := ""
	if r.Note != nil {
		note = *r.Note
	}
	w.expectTargets(&r.ContextTargets, &stored, e, func(i modelItem) bool { return i.ofClient != note })
	if r.Note != nil && (strings.TrimSpace(note) == "" || len([]rune(note)) > 2000) {
		stored.IDs, e.kind = nil, protocol.KindInvalidParams
	}
	return stored
}

// modelEffectOf returns the effect of a line with an op on an item, or nil.
func modelEffectOf(op string) func(*modelVisibility, *protocol.StoredContextEdit) {
	for _, row := range modelOperations() {
		if effect := row.effects[op]; effect != nil {
			return effect
		}
	}
	return nil
}

// restored returns the effect of edits on an item that a restore brings back.
func (f modelVisibility) restored() modelVisibility {
	f.hidden = false
	for _, row := range modelOperations() {
		if row.restore != nil {
			row.restore(&f)
		}
	}
	return f
}

// TestEveryOperationIsMadeEverywhere makes each operation of the protocol alone and by an apply, undoes and redoes it,
// excludes and restores the items, and loads the thread from a snapshot. The model checks each step.
func TestEveryOperationIsMadeEverywhere(t *testing.T) {
	for _, zero := range protocol.ContextOperations() {
		t.Run(protocol.ContextMethod(zero), func(t *testing.T) {
			e := &explorer{newMachine(t.Fatalf)}
			e.take(e.start(protocol.HistoryPaginated))
			e.take(core.InjectItems{To: e.caller(), Env: &e.world, Items: conversationItems(t)})
			all := protocol.ContextTargets{Indices: []int64{0, 1, 2, 3, 4}}
			rng, changes := rand.New(rand.NewPCG(1, 2)), 0
			for range 500 {
				o := sample.RandomOperations(rng, []string{"r1", "r2", "r3", "r4", "r5"}).Draw(t)
				if reflect.TypeOf(o) != reflect.TypeOf(zero) || changes == 10 {
					continue
				}
				before, revision := e.state(), e.thread.ContextRevision()
				if e.take(core.EditContext{To: e.caller(), Operation: o}); e.thread.ContextRevision() == revision {
					continue
				}
				changes++
				after := e.state()
				require.NotEqual(t, before, after)
				e.take(core.UndoContext{To: e.caller()})
				require.Equal(t, before, e.state())
				e.take(core.ApplyContext{To: e.caller(), Operations: []protocol.ContextOperation{{ContextOperationVariant: o}}})
				require.Equal(t, after, e.state())
				e.checker.checkLoaded(e.machine, e.checker.continueLoad(e.machine).Thread(e.options))
				e.take(core.EditContext{To: e.caller(), Operation: &protocol.SetInclusion{ContextTargets: all}})
				e.take(core.RestoreContext{To: e.caller()})
				e.checker.checkLoaded(e.machine, e.checker.continueLoad(e.machine).Thread(e.options))
			}
			require.NotZero(t, changes, "no request changes anything")
		})
	}
}

// conversationItems returns a message, a reasoning, a call and its output, and an answer.
func conversationItems(t *testing.T) []protocol.ResponseItem {
	p := protocol.ThreadInjectItemsParams{}
	for _, item := range []string{
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}`,
		`{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}`,
		`{"type":"function_call","name":"view","arguments":"{}","call_id":"f1"}`,
		`{"type":"function_call_output","call_id":"f1","output":"a b c"}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}`,
	} {
		p.Items = append(p.Items, json.RawMessage(item))
	}
	items, err := p.Decode()
	require.Nil(t, err)
	return items
}

// TestTheModelKnowsEveryOperation requires a row of the model for each operation that random tests draw.
func TestTheModelKnowsEveryOperation(t *testing.T) {
	for _, o := range protocol.ContextOperations() {
		require.Contains(t, modelOperations(), protocol.ContextMethod(o))
	}
	require.Len(t, modelOperations(), len(protocol.ContextOperations()))
}
