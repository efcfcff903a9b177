package protocol

import (
	"fmt"
	"reflect"

	"github.com/tidwall/gjson"
)

// ContextOperation is a context edit, with a tag: {"type": "setInclusion", "ids": [...], ...}.
type ContextOperation struct{ ContextOperationVariant }

// ContextOperationVariant is *SetInclusion, *PruneByIndices, *Prune, *Pin or *Replace.
type ContextOperationVariant interface{ contextOperation() }

// ContextTargets selects items by their positions, by their ids, or by both. Unknown and repeated
// ones are ignored.
type ContextTargets struct {
	// Indices are current positions in the list of context/getItems.
	Indices []int64  `json:"indices,omitempty"`
	IDs     []string `json:"ids,omitempty"`
}

// SetInclusion excludes items, or includes them again. By its id, an include also brings back an
// item that a compaction, a trim or a deletion removed from the list.
type SetInclusion struct {
	ContextTargets
	Included bool `json:"included"`
}

// PruneByIndices deletes items from the list. Undo and restore bring them back.
type PruneByIndices struct{ ContextTargets }

// Prune excludes the items of some categories, except pinned ones.
type Prune struct {
	Categories []ContextCategory `json:"categories"`
	// Range selects the turns. The default is all.
	Range *PruneRange `json:"range,omitempty"`
}

// Pin protects items from prune, trim and compaction, or removes the protection.
type Pin struct {
	ContextTargets
	Pinned bool `json:"pinned"`
}

// Replace sets another text for a tool output or for reasoning. The original stays in the rollout.
// Exactly one of Index and ID is required.
type Replace struct {
	// Index is the position in the list.
	Index *int64  `json:"index,omitempty"`
	ID    *string `json:"id,omitempty"`
	Text  string  `json:"text"`
}

func (*SetInclusion) contextOperation()   {}
func (*PruneByIndices) contextOperation() {}
func (*Prune) contextOperation()          {}
func (*Pin) contextOperation()            {}
func (*Replace) contextOperation()        {}

var contextOperations = newVariants("type",
	variantRow[ContextOperationVariant]{"setInclusion", &SetInclusion{}},
	variantRow[ContextOperationVariant]{"pruneByIndices", &PruneByIndices{}},
	variantRow[ContextOperationVariant]{"prune", &Prune{}},
	variantRow[ContextOperationVariant]{"pin", &Pin{}},
	variantRow[ContextOperationVariant]{"replace", &Replace{}},
)

// MarshalJSON writes the variant with its type.
func (o ContextOperation) MarshalJSON() ([]byte, error) {
	return contextOperations.encode(o.ContextOperationVariant)
}

// UnmarshalJSON accepts the known variants.
func (o *ContextOperation) UnmarshalJSON(b []byte) error {
	v, err := contextOperations.strict(gjson.ParseBytes(b))
	o.ContextOperationVariant = v
	return err
}

// PruneRange selects turns: "all", {"firstTurns": {"count": N}}, {"beforeTurnId": ID} or
// {"keepLastTurns": {"count": N}}. {"keepLastOutputs": {"count": N}} selects the items before the
// last N tool outputs, also within turns, without the calls of these outputs. The names are also
// accepted in snake_case and PascalCase. The zero PruneRange selects all turns.
type PruneRange struct {
	// Word is one of the Range constants.
	Word   string
	Count  uint32
	TurnID string
}

// The words of a PruneRange.
const (
	RangeAll             = "all"
	RangeFirstTurns      = "firstTurns"
	RangeBeforeTurn      = "beforeTurnId"
	RangeKeepLastTurns   = "keepLastTurns"
	RangeKeepLastOutputs = "keepLastOutputs"
)

var pruneRanges = []string{RangeAll, RangeFirstTurns, RangeBeforeTurn, RangeKeepLastTurns, RangeKeepLastOutputs}

// rangeCount is the value of the words that count turns or outputs.
type rangeCount struct {
	Count uint32 `json:"count"`
}

// MarshalJSON writes the word, or the object.
func (r PruneRange) MarshalJSON() ([]byte, error) {
	switch r.Word {
	case RangeFirstTurns, RangeKeepLastTurns, RangeKeepLastOutputs:
		return marshal(map[string]rangeCount{r.Word: {r.Count}})
	case RangeBeforeTurn:
		return marshal(map[string]string{r.Word: r.TurnID})
	}
	return marshal(RangeAll)
}

// UnmarshalJSON accepts the known words, each with its value.
func (r *PruneRange) UnmarshalJSON(b []byte) error {
	word, detail, err := decodeWord(b)
	if err != nil {
		return err
	}
	spelled, known := respell(word, pruneRanges)
	switch {
	case !known:
		return &UnknownVariantError{word, pruneRanges}
	case (spelled == RangeAll) == detail.Exists():
		return fmt.Errorf("expected \"all\", {%q: {\"count\": N}}, {%q: ID}, {%q: {\"count\": N}} or {%q: {\"count\": N}}",
			RangeFirstTurns, RangeBeforeTurn, RangeKeepLastTurns, RangeKeepLastOutputs)
	}
	read := PruneRange{Word: spelled}
	switch spelled {
	case RangeBeforeTurn:
		if detail.Type != gjson.String {
			return at(word, wrongType(detail, "a string"))
		}
		read.TurnID = textOf(detail)
	case RangeFirstTurns, RangeKeepLastTurns, RangeKeepLastOutputs:
		var n rangeCount
		if err := decodeObject(detail, reflect.ValueOf(&n).Elem()); err != nil {
			return at(word, err)
		}
		read.Count = n.Count
	}
	*r = read
	return nil
}
