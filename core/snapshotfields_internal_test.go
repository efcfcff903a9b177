package core

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"appserver/core/lineref"
	"appserver/protocol"
)

// notDurable are the fields that a snapshot leaves out, each with the reason.
var notDurable = map[string]string{
	"log.from":          "the caller of ContinueLoad gives the lines",
	"log.appended":      "lines are evicted after a load only",
	"history.hiddenTo":  "it saves a search, and is found again",
	"history.reordered": "after a load clients are sent the whole list",
	"history.makers":    "it is made again from the items",
	"contextItem.Ref":   "the payload is read again by its line",
	"contextItem.item":  "it is decoded again",
	"contextItem.about": "it is made again when it is asked for",
	"contextItem.aside": "it is decided for each request",
	"itemRecord.Ref":    "the payload is read again by its line",
	"itemRecord.item":   "it is decoded again",
}

// TestSnapshotsHaveEveryFieldOfTheDurableState gives each field a value, and expects it back from
// a snapshot. A new field fails the test until the snapshot has it, or notDurable says why not.
func TestSnapshotsHaveEveryFieldOfTheDurableState(t *testing.T) {
	lines := noLines{}
	from := lineref.NewSource(lines)
	settings := Settings{Cwd: "/", ApprovalPolicy: protocol.AskForApproval{Mode: protocol.ApprovalNever}, Reviewer: "user", Sandbox: protocol.SandboxPolicy{SandboxPolicyVariant: &protocol.DangerFullAccess{}}}
	was := Thread{log: log{from: from}}
	fillFields(t, reflect.ValueOf(&was.log).Elem(), map[string]any{
		"meta": protocol.SessionMeta{ID: "id"}, "settings": settings, "usage": protocol.ThreadTokenUsage{Total: protocol.TokenUsageBreakdown{TotalTokens: 1}},
		"history.items": []contextItem{{}}, "history.journal": []edit{{}}, "turns": []turnRecord{{}}, "turnAt": map[string]int{"x": 0},
		"history.order": []int32{0}, "history.latest": map[string]int32{"x": 0}, "history.shownAs": map[int32]string{0: "x"},
		"chronicle.moments": []moment{{}}, "chronicle.messages": []int64{1},
		"worktreeLog.points": []checkpoint{{At: 1}}, "worktreeLog.fileChanges": []protocol.WorktreeChanges{{ID: "x"}},
	})
	text := "text"
	visible := fate{hidden: true, deleted: true, excluded: true, pinned: true, says: 1, text: &text}
	fillFields(t, reflect.ValueOf(&was.items[0]).Elem(), map[string]any{"fate": visible})
	was.items[0].Ref = lineref.Ref{Source: from, Line: 1, Part: 2}
	was.items[0].maker, was.makers = 0, []maker{{"provider", "model"}}
	fillFields(t, reflect.ValueOf(&was.turns[0]).Elem(), map[string]any{
		"err": &protocol.TurnError{Message: "x", Misalignment: json.RawMessage("null")}, "items": []itemRecord{{}}, "before": protocol.ThreadTokenUsage{Last: protocol.TokenUsageBreakdown{TotalTokens: 1}},
	})
	fillFields(t, reflect.ValueOf(&was.turns[0].items[0]).Elem(), map[string]any{
		"more": []lineref.Ref{{Source: from, Line: 2, Part: none}},
	})
	was.turns[0].items[0].Ref = lineref.Ref{Source: from, Line: 1, Part: none}
	fillFields(t, reflect.ValueOf(&was.journal[0]).Elem(), map[string]any{
		"ContextEdit": protocol.ContextEdit{Op: "x"}, "changes": []change{{0, visible, visible}}, "point": &protocol.StoredTrimPoint{ID: "x"},
	})
	fillFields(t, reflect.ValueOf(&was.moments[0]).Elem(), nil)

	var snapshot bytes.Buffer
	loading := &Loading{thread: &was, defaults: settings}
	require.NoError(t, loading.Snapshot(&snapshot))
	again, ok := ContinueLoad(settings, lines, &snapshot)
	require.True(t, ok)
	now := again.thread
	sameFields(t, reflect.ValueOf(&was.log).Elem(), reflect.ValueOf(&now.log).Elem())
	sameFields(t, reflect.ValueOf(&was.items[0]).Elem(), reflect.ValueOf(&now.items[0]).Elem())
	sameFields(t, reflect.ValueOf(&was.turns[0]).Elem(), reflect.ValueOf(&now.turns[0]).Elem())
	sameFields(t, reflect.ValueOf(&was.turns[0].items[0]).Elem(), reflect.ValueOf(&now.turns[0].items[0]).Elem())
	sameFields(t, reflect.ValueOf(&was.journal[0]).Elem(), reflect.ValueOf(&now.journal[0]).Elem())
}

type noLines struct{}

// Payload returns nil.
func (noLines) Payload(int) json.RawMessage { return nil }

// fillFields gives each field of a struct a value: one of values, or one of its kind. Fields of
// embedded structs of this package have the names of those.
func fillFields(t *testing.T, v reflect.Value, values map[string]any) {
	for i := range v.NumField() {
		field, structName := v.Type().Field(i), v.Type().Name()
		at := open(v.Field(i))
		given, known := values[field.Name]
		if !known {
			given, known = values[structName+"."+field.Name]
		}
		switch {
		case known:
			at.Set(reflect.ValueOf(given))
		case notDurable[structName+"."+field.Name] != "":
		case field.Anonymous && at.Kind() == reflect.Struct:
			fillFields(t, at, values)
		default:
			require.True(t, fill(at), "%s.%s needs a value in this test, or a reason in notDurable", structName, field.Name)
		}
	}
}

// fill gives a value of a basic kind, a list or a map of them, or a pointer to one.
func fill(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return fill(v.Index(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return fill(v.Elem())
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		v.Set(reflect.MakeMap(v.Type()))
		filled := fill(key) && fill(value)
		v.SetMapIndex(key, value)
		return filled
	default:
		return false
	}
	return true
}

// sameFields compares the fields of two structs. Of lists it compares the lengths.
func sameFields(t *testing.T, was, now reflect.Value) {
	for i := range was.NumField() {
		field, structName := was.Type().Field(i), was.Type().Name()
		a, b := open(was.Field(i)), open(now.Field(i))
		switch {
		case notDurable[structName+"."+field.Name] != "":
		case field.Anonymous && a.Kind() == reflect.Struct && a.Type().PkgPath() == "appserver/core":
			sameFields(t, a, b)
		case a.Kind() == reflect.Slice && a.Type().Elem().Kind() == reflect.Struct && a.Type().Elem().PkgPath() == "appserver/core":
			require.Equal(t, a.Len(), b.Len(), "%s.%s", structName, field.Name)
		default:
			require.False(t, a.IsZero() && field.Name != "maker", "%s.%s has no value", structName, field.Name)
			require.Equal(t, a.Interface(), b.Interface(), "the snapshot lacks %s.%s", structName, field.Name)
		}
	}
}

// open makes a field that is not exported readable and settable.
func open(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}
