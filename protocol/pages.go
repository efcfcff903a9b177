package protocol

import (
	"fmt"
	"reflect"

	"github.com/tidwall/gjson"
)

// ThreadTurnsListParams requests a page of a thread's turns.
type ThreadTurnsListParams struct {
	ThreadID string `json:"threadId"`
	// Cursor is a cursor of a page of the same thread.
	Cursor *string `json:"cursor,omitempty"`
	// Limit is the number of turns of a page: 25 by default, at least 1 and at most 100.
	Limit *uint32 `json:"limit,omitempty"`
	// SortDirection is desc by default: the newest turn first.
	SortDirection *string `json:"sortDirection,omitempty" oneof:"asc desc"`
	// ItemsView is summary by default: the first message of the user and the last message of the
	// agent.
	ItemsView *string `json:"itemsView,omitempty" oneof:"notLoaded summary full"`
}

// ThreadTurnsListResponse is a page of turns.
type ThreadTurnsListResponse struct {
	Data []Turn `json:"data"`
	// NextCursor is the cursor of the next page, or null on the last one.
	NextCursor *string `json:"nextCursor"`
	// BackwardsCursor is the cursor of the page that begins with this page's first turn, in the
	// other direction. It is null for an empty page.
	BackwardsCursor *string `json:"backwardsCursor"`
}

// ThreadItemsListParams requests a page of a thread's completed items, or of one turn's.
type ThreadItemsListParams struct {
	ThreadID string `json:"threadId"`
	// TurnID selects a turn. The default is all turns.
	TurnID *string           `json:"turnId,omitempty"`
	Cursor *ThreadItemCursor `json:"cursor,omitempty"`
	// Limit is the number of items of a page: 100 by default, at least 1 and at most 1,000.
	Limit *uint32 `json:"limit,omitempty"`
	// SortDirection is asc by default: the oldest item first.
	SortDirection *string `json:"sortDirection,omitempty" oneof:"asc desc"`
}

// ThreadItemsListResponse is a page of items. The cursors have the same meaning as in
// ThreadTurnsListResponse.
type ThreadItemsListResponse struct {
	Data            []ThreadItemEntry `json:"data"`
	NextCursor      *string           `json:"nextCursor"`
	BackwardsCursor *string           `json:"backwardsCursor"`
}

// ThreadItemEntry is an item and its turn. Times are in Unix milliseconds, or null if unknown.
type ThreadItemEntry struct {
	TurnID        string     `json:"turnId"`
	Item          ThreadItem `json:"item"`
	StartedAtMs   *int64     `json:"startedAtMs"`
	CompletedAtMs *int64     `json:"completedAtMs"`
}

// ThreadItemCursor is a cursor of a page, or {"type": "item", "itemId": ID}. The page then begins
// after this item.
type ThreadItemCursor struct {
	Page   string
	ItemID string
}

// itemAnchor is the object form of a ThreadItemCursor.
type itemAnchor struct {
	Type   string `json:"type" oneof:"item"`
	ItemID string `json:"itemId"`
}

// MarshalJSON writes the text, or the object.
func (c ThreadItemCursor) MarshalJSON() ([]byte, error) {
	if c.ItemID != "" {
		return marshal(itemAnchor{"item", c.ItemID})
	}
	return marshal(c.Page)
}

// UnmarshalJSON accepts the text or the object.
func (c *ThreadItemCursor) UnmarshalJSON(b []byte) error {
	switch v := gjson.ParseBytes(b); {
	case v.Type == gjson.String:
		*c = ThreadItemCursor{Page: textOf(v)}
	case v.IsObject():
		var anchor itemAnchor
		if err := decodeObject(v, reflect.ValueOf(&anchor).Elem()); err != nil {
			return err
		}
		*c = ThreadItemCursor{ItemID: anchor.ItemID}
	default:
		return wrongType(v, "a string or an object")
	}
	if *c == (ThreadItemCursor{}) {
		return fmt.Errorf("is empty")
	}
	return nil
}
