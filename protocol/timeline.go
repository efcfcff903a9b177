package protocol

// ThreadTimelineListParams requests a page of a timeline. At most one of Cursor, From and Around is
// permitted. The default is the newest page.
type ThreadTimelineListParams struct {
	ThreadID string `json:"threadId"`
	// Cursor is the nextCursor of a page. The new page ends before the entry of the cursor.
	Cursor *string `json:"cursor,omitempty"`
	// Limit is the number of entries of a page: 100 by default, at most 1,000.
	Limit *uint32 `json:"limit,omitempty"`
	// From is the newerCursor of a page. The new page begins with the entry of the cursor.
	From *string `json:"from,omitempty"`
	// Around is the id of an item. The page has the item in the middle, if there are enough
	// entries.
	Around *string `json:"around,omitempty"`
	// TurnID is the turn of the item of Around. By default, the last item with the id is selected,
	// and old items take longer.
	TurnID *string `json:"turnId,omitempty"`
	// TextLimit is the maximum number of characters of a text in an item.
	TextLimit *uint32 `json:"textLimit,omitempty"`
	// IncludeTotal requests FirstIndex and Total in the response.
	IncludeTotal *bool `json:"includeTotal,omitempty"`
}

// ThreadTimelineListResponse is a page of a timeline. The newest page is first; within a page the
// oldest entry is first. A cursor refers to an entry at an end of its page, so later entries, trims
// and undos do not move older pages.
type ThreadTimelineListResponse struct {
	Data []ThreadTimelineEntry `json:"data"`
	// NextCursor is null on the page with the oldest entry.
	NextCursor *string `json:"nextCursor"`
	// ActiveRealtimeSessionAtPageStart is always null.
	ActiveRealtimeSessionAtPageStart *string `json:"activeRealtimeSessionAtPageStart"`
	// NewerCursor is absent if the page has the newest entry, or if the request had neither From
	// nor Around.
	NewerCursor *string `json:"newerCursor,omitempty"`
	// InProgress has the items that have started and not completed, with the texts and outputs that clients have
	// received: those of the active turn, then the commands in the background, which can have an entry as well. Later
	// deltas continue them. Outputs have at most 40,000 bytes, without their middle. It is absent unless the page has the
	// newest entry.
	InProgress []ThreadItemEntry `json:"inProgress,omitempty"`
	// FirstIndex is the index of the first entry of the page. The oldest entry of the timeline has
	// 0. It is absent unless it was requested.
	FirstIndex *int `json:"firstIndex,omitempty"`
	// Total is the number of entries of the timeline. It is absent unless it was requested.
	Total *int `json:"total,omitempty"`
}

// ThreadItemReadParams requests one item of a thread in full.
type ThreadItemReadParams struct {
	ThreadID string `json:"threadId"`
	ItemID   string `json:"itemId"`
	// TurnID is the turn of the item. By default, the last item with the id is selected.
	TurnID *string `json:"turnId,omitempty"`
}

// ThreadItemReadResponse is one item with its turn.
type ThreadItemReadResponse struct {
	TurnID string `json:"turnId"`
	// Position is the ordinal of the item's rollout line, or -1 for an item in progress.
	Position int64      `json:"position"`
	Item     ThreadItem `json:"item"`
}

// ThreadTimelineEntry is an entry of a timeline, with a tag: {"type": "item", "position": 8, ...}.
// Position is the ordinal of its rollout line. Entries with the same position have the order
// summary, trimPoint, turnStarted, item, turnCompleted. Trimmed is set if an entry is before the
// latest trim point, or belongs to an earlier one.
type ThreadTimelineEntry struct{ ThreadTimelineEntryVariant }

// ThreadTimelineEntryVariant is *TimelineItem, *TimelineTurnStarted,
// *TimelineTurnCompleted, *TimelineSummary, *TimelineTrimPoint, or *Unknown.
type ThreadTimelineEntryVariant interface{ threadTimelineEntry() }

// TimelineItem is a completed item. Its turn can still be active.
type TimelineItem struct {
	Position int64      `json:"position"`
	TurnID   string     `json:"turnId"`
	Item     ThreadItem `json:"item"`
	Trimmed  bool       `json:"trimmed"`
	// Truncated is set if a text of the item was cut to the TextLimit of the request.
	// thread/item/read returns the whole item.
	Truncated bool `json:"truncated,omitempty"`
}

// TimelineTurnStarted is the begin of a turn. If no line of the rollout begins the turn, its first
// item does.
type TimelineTurnStarted struct {
	Position int64  `json:"position"`
	TurnID   string `json:"turnId"`
	// StartedAt is in Unix seconds, or null if unknown.
	StartedAt *int64 `json:"startedAt"`
	Trimmed   bool   `json:"trimmed"`
}

// TimelineTurnCompleted is the end of a turn. An active turn has none, nor a turn that a crash
// interrupted and that was not resumed. Times have the same meaning as in Turn.
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

// TimelineSummary is the banner of a trim point with a summary.
type TimelineSummary struct {
	Position    int64  `json:"position"`
	TrimPointID string `json:"trimPointId"`
	// Text is the summary of the entries before it.
	Text    string `json:"text"`
	Trimmed bool   `json:"trimmed"`
}

// TimelineTrimPoint is the divider of a trim point.
type TimelineTrimPoint struct {
	Position  int64     `json:"position"`
	TrimPoint TrimPoint `json:"trimPoint"`
	// HiddenMessageCount is the number of messages of the user and the agent before the trim point.
	HiddenMessageCount int `json:"hiddenMessageCount"`
	// Label is a line to show on the divider.
	Label   string `json:"label"`
	Trimmed bool   `json:"trimmed"`
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
