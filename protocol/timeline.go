package protocol

// ThreadTimelineListParams asks for a page of a timeline. Limit is 100 by default and at most 1000. At
// most one of Cursor, From and Around is there; the default is the newest page.
//
//   - Cursor is a NextCursor: the page ends before the entry that it names.
//   - From is a NewerCursor: the page begins with the entry that it names.
//   - Around is the id of an item: the page has it in the middle, as far as there are entries.
//     TurnID is its turn. Without TurnID it is the last item with this id, and old items take longer.
//
// TextLimit is the largest number of characters of a text in an item. IncludeTotal asks for FirstIndex
// and Total.
type ThreadTimelineListParams struct {
	ThreadID     string  `json:"threadId"`
	Cursor       *string `json:"cursor,omitempty"`
	Limit        *uint32 `json:"limit,omitempty"`
	From         *string `json:"from,omitempty"`
	Around       *string `json:"around,omitempty"`
	TurnID       *string `json:"turnId,omitempty"`
	TextLimit    *uint32 `json:"textLimit,omitempty"`
	IncludeTotal *bool   `json:"includeTotal,omitempty"`
}

// ThreadTimelineListResponse is a page of a timeline. The newest page is first; within a page the
// oldest entry is first. NextCursor is null on the page with the oldest entry.
// ActiveRealtimeSessionAtPageStart is always null. A cursor names an entry at an end of its page, so
// later entries, trims and undos do not move older pages.
//
// NewerCursor is there if the page does not have the newest entry, and only for requests with From or
// Around. FirstIndex is the index of the first entry of the page; the oldest entry of the timeline has
// 0. Total is the number of entries of the timeline.
type ThreadTimelineListResponse struct {
	Data                             []ThreadTimelineEntry `json:"data"`
	NextCursor                       *string               `json:"nextCursor"`
	ActiveRealtimeSessionAtPageStart *string               `json:"activeRealtimeSessionAtPageStart"`
	NewerCursor                      *string               `json:"newerCursor,omitempty"`
	FirstIndex                       *int                  `json:"firstIndex,omitempty"`
	Total                            *int                  `json:"total,omitempty"`
}

// ThreadItemReadParams asks for one item of a thread in full. Without TurnID, it is the last item with
// this id.
type ThreadItemReadParams struct {
	ThreadID string  `json:"threadId"`
	ItemID   string  `json:"itemId"`
	TurnID   *string `json:"turnId,omitempty"`
}

// ThreadItemReadResponse is an item with its turn, and the ordinal of its rollout line.
type ThreadItemReadResponse struct {
	TurnID   string     `json:"turnId"`
	Position int64      `json:"position"`
	Item     ThreadItem `json:"item"`
}

// ThreadTimelineEntry is an entry of a timeline: {"type": "item", "position": 8, ...}. Position is the
// ordinal of its rollout line. Entries with the same position have the order summary, trimPoint,
// turnStarted, item, turnCompleted. Trimmed is set if an entry is before the latest trim point, or
// belongs to an earlier one.
type ThreadTimelineEntry struct{ ThreadTimelineEntryVariant }

// ThreadTimelineEntryVariant is *TimelineItem, *TimelineTurnStarted,
// *TimelineTurnCompleted, *TimelineSummary, *TimelineTrimPoint, or *Unknown.
type ThreadTimelineEntryVariant interface{ threadTimelineEntry() }

// TimelineItem is an item that is completed. Its turn may still run. Truncated is set if a text of the
// item was cut to the TextLimit of the request; thread/item/read returns the whole item.
type TimelineItem struct {
	Position  int64      `json:"position"`
	TurnID    string     `json:"turnId"`
	Item      ThreadItem `json:"item"`
	Trimmed   bool       `json:"trimmed"`
	Truncated bool       `json:"truncated,omitempty"`
}

// TimelineTurnStarted is the begin of a turn. If no line of the rollout begins the turn, its first
// item does. StartedAt is in Unix seconds, or null if unknown.
type TimelineTurnStarted struct {
	Position  int64  `json:"position"`
	TurnID    string `json:"turnId"`
	StartedAt *int64 `json:"startedAt"`
	Trimmed   bool   `json:"trimmed"`
}

// TimelineTurnCompleted is the end of a turn. An active turn has none, nor a turn that a crash
// interrupted and that was not resumed. Times have the meaning of Turn.
type TimelineTurnCompleted struct {
	Position    int64      `json:"position"`
	TurnID      string     `json:"turnId"`
	Status      TurnStatus `json:"status"`
	Error       *TurnError `json:"error"`
	StartedAt   *int64     `json:"startedAt"`
	CompletedAt *int64     `json:"completedAt"`
	DurationMs  *int64     `json:"durationMs"`
	Trimmed     bool       `json:"trimmed"`
}

// TimelineSummary is the banner of a trim point with a summary. Text is the summary of the entries
// before it.
type TimelineSummary struct {
	Position    int64  `json:"position"`
	TrimPointID string `json:"trimPointId"`
	Text        string `json:"text"`
	Trimmed     bool   `json:"trimmed"`
}

// TimelineTrimPoint is the divider of a trim point. Label is a line to show on it,
// HiddenMessageCount how many messages of the user and the agent are before it.
type TimelineTrimPoint struct {
	Position           int64     `json:"position"`
	TrimPoint          TrimPoint `json:"trimPoint"`
	HiddenMessageCount int       `json:"hiddenMessageCount"`
	Label              string    `json:"label"`
	Trimmed            bool      `json:"trimmed"`
}

func (*TimelineItem) threadTimelineEntry()          {}
func (*TimelineTurnStarted) threadTimelineEntry()   {}
func (*TimelineTurnCompleted) threadTimelineEntry() {}
func (*TimelineSummary) threadTimelineEntry()       {}
func (*TimelineTrimPoint) threadTimelineEntry()     {}
func (*Unknown) threadTimelineEntry()               {}

var timelineEntries = newVariants("type",
	variantRow[ThreadTimelineEntryVariant]{"item", &TimelineItem{}},
	variantRow[ThreadTimelineEntryVariant]{"turnStarted", &TimelineTurnStarted{}},
	variantRow[ThreadTimelineEntryVariant]{"turnCompleted", &TimelineTurnCompleted{}},
	variantRow[ThreadTimelineEntryVariant]{"summary", &TimelineSummary{}},
	variantRow[ThreadTimelineEntryVariant]{"trimPoint", &TimelineTrimPoint{}},
)

// MarshalJSON writes the variant with its type.
func (e ThreadTimelineEntry) MarshalJSON() ([]byte, error) {
	return timelineEntries.encode(e.ThreadTimelineEntryVariant)
}

// UnmarshalJSON keeps unknown variants as raw JSON.
func (e *ThreadTimelineEntry) UnmarshalJSON(b []byte) error {
	v, err := timelineEntries.tolerant(b)
	e.ThreadTimelineEntryVariant = v
	return err
}
