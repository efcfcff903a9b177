package sample

import (
	"math/rand/v2"
	"reflect"

	"appserver/protocol"
)

// Operations draws operations on the context from the table of the protocol.
type Operations struct {
	// Int draws a number below n.
	Int func(n int, label string) int
	// Targets draws items.
	Targets func() protocol.ContextTargets
	// Turns are ids of turns.
	Turns []string
}

// RandomOperations returns operations on one of some items.
func RandomOperations(rng *rand.Rand, ids []string) *Operations {
	return &Operations{
		Int: func(n int, _ string) int { return rng.IntN(n) },
		Targets: func() protocol.ContextTargets {
			return protocol.ContextTargets{IDs: []string{ids[rng.IntN(len(ids))]}}
		},
	}
}

// failer is a test that fails.
type failer interface {
	Fatalf(format string, args ...any)
}

// Draw draws an operation. Its members are drawn by their types, so a new operation needs no generator, unless it has a
// member of a new type. Such a member fails the test.
func (o *Operations) Draw(t failer) protocol.ContextOperationVariant {
	all := protocol.ContextOperations()
	all = append(all, &protocol.SetInclusion{}, &protocol.SetInclusion{}) // the others do nothing without exclusions
	kind := reflect.TypeOf(all[o.Int(len(all), "operation")]).Elem()
	drawn := reflect.New(kind)
	for i := range kind.NumField() {
		if !o.fill(drawn.Elem(), i) {
			t.Fatalf("%s.%s has the type %s: add it to package sample", kind.Name(), kind.Field(i).Name, kind.Field(i).Type)
		}
	}
	return drawn.Interface().(protocol.ContextOperationVariant)
}

// fill draws a member. It returns false for a member of an unknown type.
func (o *Operations) fill(operation reflect.Value, member int) bool {
	name, v := operation.Type().Field(member).Name, operation.Field(member)
	switch at := v.Addr().Interface().(type) {
	case *protocol.ContextTargets:
		*at = o.Targets()
	case *bool:
		*at = o.Int(2, name) == 0
	case *string:
		*at = o.text(name)
	case **string:
		if name != "ID" {
			*at = o.optionalText(name)
		}
	case **int64:
		return name == "Index" && o.nameOne(operation)
	case *[]protocol.ContextCategory:
		*at = []protocol.ContextCategory{}
		for range o.Int(5, "categories") {
			all := protocol.ContextCategories()
			*at = append(*at, all[o.Int(len(all), "category")])
		}
	case **protocol.PruneRange:
		*at = o.pruneRange()
	default:
		return false
	}
	return true
}

func (o *Operations) text(label string) string {
	return []string{"short", "", "two\nlines", "…"}[o.Int(4, label)]
}

func (o *Operations) optionalText(label string) *string {
	if o.Int(3, label+" is set") == 0 {
		return nil
	}
	text := o.text(label)
	return &text
}

// nameOne draws the members Index and ID, of which an operation on one item needs one.
func (o *Operations) nameOne(operation reflect.Value) bool {
	named := o.Targets()
	switch id := operation.FieldByName("ID"); {
	case !id.IsValid():
		return false
	case len(named.IDs) > 0:
		id.Set(reflect.ValueOf(&named.IDs[0]))
	case len(named.Indices) > 0:
		operation.FieldByName("Index").Set(reflect.ValueOf(&named.Indices[0]))
	}
	return true
}

func (o *Operations) pruneRange() *protocol.PruneRange {
	words := []string{"", protocol.RangeAll, protocol.RangeFirstTurns, protocol.RangeBeforeTurn,
		protocol.RangeKeepLastTurns, protocol.RangeKeepLastOutputs}
	r := &protocol.PruneRange{Word: words[o.Int(len(words), "range")]}
	switch r.Word {
	case "":
		return nil
	case protocol.RangeBeforeTurn:
		turns := append([]string{"no turn"}, o.Turns...)
		r.TurnID = turns[o.Int(len(turns), "turn")]
	default:
		r.Count = uint32(o.Int(5, "count"))
	}
	return r
}
