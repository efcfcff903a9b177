package protocol

import (
	"fmt"
	"reflect"

	"github.com/tidwall/gjson"
)

// ThreadTurnsListParams asks for a page of a thread's turns: by default of 25, at least of
// 1 and at most of 100, the newest first, with summaries of their items. Cursor is a cursor
// of a page of the same thread.
type ThreadTurnsListParams struct {
	ThreadID      string  `json:"threadId"`
	Cursor        *string `json:"cursor,omitempty"`
	Limit         *uint32 `json:"limit,omitempty"`
	SortDirection *string `json:"sortDirection,omitempty" oneof:"asc desc"`
	ItemsView     *string `json:"itemsView,omitempty" oneof:"notLoaded summary full"`
}

// ThreadTurnsListResponse is a page of turns. The summary of a turn's items is the first message of
// the user and the last message of the agent. NextCursor is the cursor of the next page, or null at
// the end. BackwardsCursor starts at the page's first turn, in the other direction. It is null for an
// empty page.
type ThreadTurnsListResponse struct {
	Data            []Turn  `json:"data"`
	NextCursor      *string `json:"nextCursor"`
	BackwardsCursor *string `json:"backwardsCursor"`
}

// ThreadItemsListParams requests a page of a thread's items, or of one turn's items, the oldest first.
// A page has 100 items by default, at least 1 and at most 1000. It has completed items only.
type ThreadItemsListParams struct {
	ThreadID      string            `json:"threadId"`
	TurnID        *string           `json:"turnId,omitempty"`
	Cursor        *ThreadItemCursor `json:"cursor,omitempty"`
	Limit         *uint32           `json:"limit,omitempty"`
	SortDirection *string           `json:"sortDirection,omitempty" oneof:"asc desc"`
}

// ThreadItemsListResponse is a page of items. Its cursors have the meaning of ThreadTurnsListResponse.
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

// UnmarshalJSON reads either.
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
