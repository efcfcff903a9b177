package protocol

import (
	"fmt"
	"reflect"

	"github.com/tidwall/gjson"
)

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

// UnmarshalJSON accepts the known words, each with what belongs to it.
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
