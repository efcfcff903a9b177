package protocol

import (
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"
)

// ThreadInjectItemsParams adds items to the model's input history of a loaded thread.
type ThreadInjectItemsParams struct {
	ThreadID string `json:"threadId"`
	// Items are messages, calls and outputs in the form of the Responses API.
	Items []json.RawMessage `json:"items"`
}

// Decode decodes the items. Items of unknown types are kept, but not sent to the model.
func (p *ThreadInjectItemsParams) Decode() ([]ResponseItem, *Error) {
	if len(p.Items) == 0 {
		return nil, Refuse(KindInvalidRequest, "items must not be empty")
	}
	return DecodeItems("items", p.Items)
}

// DecodeItems decodes the response items of a member of params. Items of unknown types are kept,
// but not sent to the model.
func DecodeItems(member string, raws []json.RawMessage) ([]ResponseItem, *Error) {
	items := make([]ResponseItem, len(raws))
	for i, raw := range raws {
		err := items[i].UnmarshalJSON(raw)
		if err == nil {
			err = items[i].complete(raw)
		}
		if err != nil {
			refusal := Refuse(KindInvalidRequest, "%s[%d] is not a valid response item: %v", member, i, err)
			refusal.Data.Field = fmt.Sprintf("%s.%d", member, i)
			return nil, refusal
		}
	}
	return items, nil
}

// complete returns an error if an item lacks a member that every item of its type has.
func (i *ResponseItem) complete(raw json.RawMessage) error {
	members := []string{"type"}
	if _, ok := i.ResponseItemVariant.(*Message); ok {
		members = append(members, "role", "content")
	}
	for _, name := range members {
		if !gjson.GetBytes(raw, name).Exists() {
			return &MissingFieldError{name}
		}
	}
	return nil
}
