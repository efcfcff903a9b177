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

// ModeTag and ModeEnd enclose the instructions for a mode in a message of the developer, SkillsTag and SkillsEnd a list
// of skills, as in the reference implementation.
const (
	ModeTag, ModeEnd     = "<collaboration_mode>", "</collaboration_mode>"
	SkillsTag, SkillsEnd = "<skills_instructions>", "</skills_instructions>"
	// ToolDefinitionTag begins a message with the definition of a tool.
	ToolDefinitionTag = "<tool_definition"
)

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

// MemoryUpdatedNotification reports that summaries of removed context items were stored.
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

// MemorySearchParams searches the memory of a repository. RepoKey is a directory in it; the default is
// the working directory of the server. Kinds are MemorySummary and MemoryCode; the default is both.
// Limit is 10 by default, and at most 100.
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

// MemorySearchResponse has the matches, the best first. Semantic is set if vectors were compared as
// well.
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

// MemoryForgetParams deletes memories: those of Ids or, with All, all memories, or those of the
// repository RepoKey.
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

// MemoryStatusResponse is the state of the memory, by the configuration for all threads. Summaries,
// Code and Repositories are counts. Bytes is the size on the disk. Indexes are the repositories whose
// files are indexed. Error is the last error, or null. The members that begin with v2 are those of the
// reference implementation.
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

// MemoryEmbeddings has the embedding model and its progress.
type MemoryEmbeddings struct {
	Model     string `json:"model"`
	Dimension int    `json:"dimension"`
	Embedded  int    `json:"embedded"`
	Pending   int    `json:"pending"`
}

// MemoryIndexPauseParams pauses or resumes the indexing of a repository. RepoKey has the meaning of
// MemorySearchParams.
type MemoryIndexPauseParams struct {
	RepoKey *string `json:"repoKey,omitempty"`
	Paused  bool    `json:"paused"`
}

// MemoryIndexPauseResponse reports whether the repository is indexed at all.
type MemoryIndexPauseResponse struct {
	Found bool `json:"found"`
}

// MemoryCodeIndex is the progress of the index of a repository. Phase is walking, reading, idle,
// paused, failed, or elsewhere if another server indexes it. Error is the reason if the last scan
// failed. Skipped counts skipped files by reason.
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

// MemoryIndexProgressNotification reports changes of the progress of a repository's index, at most a
// few times a second.
type MemoryIndexProgressNotification struct {
	MemoryCodeIndex
}

// NotificationMethod is memory/index/progress.
func (MemoryIndexProgressNotification) NotificationMethod() string { return "memory/index/progress" }
