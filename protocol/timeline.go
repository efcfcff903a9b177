package protocol

// ThreadTimelineListParams asks for a page of a conversation's timeline, by default of
// 100 entries, at least of 1 and at most of 1000. Without a cursor it is the newest page;
// Cursor is the nextCursor of the page before, and leads to older entries.
type ThreadTimelineListParams struct {
	ThreadID string  `json:"threadId"`
	Cursor   *string `json:"cursor,omitempty"`
	Limit    *uint32 `json:"limit,omitempty"`
}

// ThreadTimelineListResponse is a page of a timeline: the pages come newest first, the
// entries of each oldest first. NextCursor is null on the page with the oldest entry,
// activeRealtimeSessionAtPageStart always. A cursor names the first entry of its page:
// what is said, trimmed or undone later moves no older page.
type ThreadTimelineListResponse struct {
	Data                             []ThreadTimelineEntry `json:"data"`
	NextCursor                       *string               `json:"nextCursor"`
	ActiveRealtimeSessionAtPageStart *string               `json:"activeRealtimeSessionAtPageStart"`
}

// ThreadTimelineEntry is an entry of a timeline: {"type": "item", "position": 8, ...}.
// Position is the ordinal of the rollout line that it comes of; at one position entries
// come in the order summary, trimPoint, turnStarted, item, turnCompleted. Trimmed is set
// where an entry is before the latest trim point, or belongs to an earlier one.
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

// TimelineTurnStarted is where a turn began. A turn that no line of the rollout began
// began with its first item. StartedAt is in Unix seconds, null where it is not known.
type TimelineTurnStarted struct {
	Position  int64  `json:"position"`
	TurnID    string `json:"turnId"`
	StartedAt *int64 `json:"startedAt"`
	Trimmed   bool   `json:"trimmed"`
}

// TimelineTurnCompleted is where a turn ended. A turn that runs, or that a crash cut off
// and nobody resumed since, has none. Times are as in Turn.
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

// TimelineSummary is the banner of a trim point that has a summary: Text stands for what
// is before it.
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
