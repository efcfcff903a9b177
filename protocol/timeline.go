package protocol

// ThreadTimelineListParams asks for a page of a conversation's timeline, by default of
// 100 entries, at least of 1 and at most of 1000. Without a cursor it is the newest page;
// Cursor is the nextCursor of the page before, and leads to older entries.
type ThreadTimelineListParams struct {
	ThreadID string  `json:"threadId"`
	Cursor   *string `json:"cursor,omitempty"`
	Limit    *uint32 `json:"limit,omitempty"`
}

// ThreadTimelineListResponse is a page of a timeline. The newest page is first; within a page the
// oldest entry is first. NextCursor is null on the page with the oldest entry.
// ActiveRealtimeSessionAtPageStart is always null. A cursor names the first entry of its page, so
// later entries, trims and undos do not move older pages.
type ThreadTimelineListResponse struct {
	Data                             []ThreadTimelineEntry `json:"data"`
	NextCursor                       *string               `json:"nextCursor"`
	ActiveRealtimeSessionAtPageStart *string               `json:"activeRealtimeSessionAtPageStart"`
}

// ThreadTimelineEntry is an entry of a timeline: {"type": "item", "position": 8, ...}. Position is the
// ordinal of its rollout line. Entries with the same position have the order summary, trimPoint,
// turnStarted, item, turnCompleted. Trimmed is set if an entry is before the latest trim point, or
// belongs to an earlier one.
type ThreadTimelineEntry struct{ ThreadTimelineEntryVariant }

// ThreadTimelineEntryVariant is *TimelineItem, *TimelineTurnStarted,
// *TimelineTurnCompleted, *TimelineSummary, *TimelineTrimPoint, or *Unknown.
type ThreadTimelineEntryVariant interface{ threadTimelineEntry() }

// TimelineItem is an item that is completed. Its turn may still run.
type TimelineItem struct {
	Position int64      `json:"position"`
	TurnID   string     `json:"turnId"`
	Item     ThreadItem `json:"item"`
	Trimmed  bool       `json:"trimmed"`
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
