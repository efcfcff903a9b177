package protocol

// MemoryEnabled and MemoryDisabled are the modes of a thread's memory: as it is configured,
// or off.
const (
	MemoryEnabled  = "enabled"
	MemoryDisabled = "disabled"
)

// The kinds of memories: summaries of what left the contexts of threads, and pieces of the
// files of a repository.
const (
	MemorySummary = "summary"
	MemoryCode    = "code"
)

// ReminderHead begins the message that reminds the model of what is remembered.
const ReminderHead = "[memory:summary v1 |"

// LineMemoryMode is the type of a line with a StoredMemoryMode.
const LineMemoryMode = "memory_mode"

// StoredMemoryMode is the payload of the line that keeps the mode of a thread's memory.
type StoredMemoryMode struct {
	Mode string `json:"mode"`
}

// ThreadMemoryModeSetParams sets the mode of a thread's memory, loaded or not. A thread whose
// memory is disabled is not summarised and its model not reminded of anything.
type ThreadMemoryModeSetParams struct {
	ThreadID string     `json:"threadId"`
	Mode     MemoryMode `json:"mode"`
}

// MemoryMode is MemoryEnabled or MemoryDisabled.
type MemoryMode string

// UnmarshalJSON accepts the known modes.
func (m *MemoryMode) UnmarshalJSON(b []byte) error {
	s, err := decodeEnum(b, []string{MemoryEnabled, MemoryDisabled})
	*m = MemoryMode(s)
	return err
}

// MemoryUpdatedNotification tells that summaries were kept of what has left a thread's
// context.
type MemoryUpdatedNotification struct {
	ThreadID string `json:"threadId"`
	RepoKey  string `json:"repoKey"`
	Stored   int    `json:"stored"`
}

// NotificationMethod is memory/updated.
func (MemoryUpdatedNotification) NotificationMethod() string { return "memory/updated" }

// MemoryView is something that is remembered. RepoKey is the root of its repository, or the
// directory outside of one. SessionID is the thread that a summary comes from, and ItemIDs its
// context items; Path the file of a piece of code. CreatedAt is in Unix milliseconds.
type MemoryView struct {
	ID        string   `json:"id"`
	RepoKey   string   `json:"repoKey"`
	Kind      string   `json:"kind"`
	SessionID string   `json:"sessionId"`
	CreatedAt int64    `json:"createdAt"`
	Title     string   `json:"title"`
	Text      string   `json:"text"`
	ItemIDs   []string `json:"itemIds"`
}

// MemorySearchParams searches what is remembered of a repository. RepoKey is a directory in
// it, by default that which the server was started in; Kinds are MemorySummary and
// MemoryCode, by default both; Limit is 10 by default, 100 at most.
type MemorySearchParams struct {
	Query   string   `json:"query"`
	RepoKey *string  `json:"repoKey,omitempty"`
	Kinds   []string `json:"kinds,omitempty"`
	Limit   *uint32  `json:"limit,omitempty"`
}

// MemoryHit is something that was found, with how well it fits: more is better, and only to
// be compared within one answer.
type MemoryHit struct {
	MemoryView
	Score float64 `json:"score"`
}

// MemorySearchResponse has the best first. Semantic is set where meanings were compared, too.
type MemorySearchResponse struct {
	Data     []MemoryHit `json:"data"`
	Semantic bool        `json:"semantic"`
}

// MemoryListParams lists summaries, the newest first, of all repositories by default.
type MemoryListParams struct {
	RepoKey   *string `json:"repoKey,omitempty"`
	SessionID *string `json:"sessionId,omitempty"`
	Cursor    *string `json:"cursor,omitempty"`
	Limit     *uint32 `json:"limit,omitempty"`
}

// MemoryListResponse is a page. NextCursor is null on the last one.
type MemoryListResponse struct {
	Data       []MemoryView `json:"data"`
	NextCursor *string      `json:"nextCursor"`
}

// MemoryForgetParams names what is to be forgotten: Ids, or with All everything, of one
// repository where RepoKey is given.
type MemoryForgetParams struct {
	Ids     []string `json:"ids,omitempty"`
	All     bool     `json:"all,omitempty"`
	RepoKey *string  `json:"repoKey,omitempty"`
}

// MemoryForgetResponse counts what was forgotten. It is gone from the disk.
type MemoryForgetResponse struct {
	Forgotten int `json:"forgotten"`
}

// MemoryResetParams forgets everything, what is known of files included.
type MemoryResetParams struct{}

// MemoryStatusParams asks how the memory is.
type MemoryStatusParams struct{}

// MemoryStatusResponse tells how the memory is, by the configuration that holds for all
// threads. Summaries, Code and Repositories count what is kept, Bytes is its size on the
// disk. Indexes are of the repositories whose files are read. Error is the last trouble, null
// without any. The members that begin with v2 are those of the reference implementation.
type MemoryStatusResponse struct {
	Summarizes   bool              `json:"summarizes"`
	Reminds      bool              `json:"reminds"`
	Summaries    int               `json:"summaries"`
	Code         int               `json:"code"`
	Repositories int               `json:"repositories"`
	Bytes        int64             `json:"bytes"`
	Embeddings   *MemoryEmbeddings `json:"embeddings"`
	Indexes      []MemoryCodeIndex `json:"indexes"`
	Error        *string           `json:"error"`

	V2ConsolidatedThreads int  `json:"v2ConsolidatedThreads"`
	V2Ready               bool `json:"v2Ready"`
}

// MemoryEmbeddings tells which model compares meanings, and how far it has come.
type MemoryEmbeddings struct {
	Model     string `json:"model"`
	Dimension int    `json:"dimension"`
	Embedded  int    `json:"embedded"`
	Pending   int    `json:"pending"`
}

// MemoryIndexPauseParams pauses the reading of a repository's files, or lets it go on. RepoKey
// is as that of MemorySearchParams.
type MemoryIndexPauseParams struct {
	RepoKey *string `json:"repoKey,omitempty"`
	Paused  bool    `json:"paused"`
}

// MemoryIndexPauseResponse tells whether the repository's files are read at all.
type MemoryIndexPauseResponse struct {
	Found bool `json:"found"`
}

// MemoryCodeIndex tells how far the files of a repository are known. Phase is walking, reading,
// idle, paused, failed, or elsewhere where another server reads them; Error is why the last look
// failed. Skipped counts files that are left out, by reason.
type MemoryCodeIndex struct {
	RepoKey string         `json:"repoKey"`
	Phase   string         `json:"phase"`
	Files   int            `json:"files"`
	Done    int            `json:"done"`
	Chunks  int            `json:"chunks"`
	Bytes   int64          `json:"bytes"`
	Error   *string        `json:"error"`
	Skipped map[string]int `json:"skipped"`
}

// MemoryIndexProgressNotification tells how far the files of a repository are known, a few
// times a second at most while that changes.
type MemoryIndexProgressNotification struct {
	MemoryCodeIndex
}

// NotificationMethod is memory/index/progress.
func (MemoryIndexProgressNotification) NotificationMethod() string { return "memory/index/progress" }
