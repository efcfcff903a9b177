package protocol

// MemoryEnabled and MemoryDisabled are the modes of a thread's memory: as it is configured,
// or off.
const (
	MemoryEnabled  = "enabled"
	MemoryDisabled = "disabled"
)

// The kinds of memories: summaries of items that left the contexts of threads, and pieces of the files
// of a repository.
const (
	MemorySummary = "summary"
	MemoryCode    = "code"
)

// ReminderHead begins the message with memories for the model.
const ReminderHead = "[memory:summary v1 |"

// ModeTag and ModeEnd enclose the instructions for a mode in a message of the developer, SkillsTag and SkillsEnd a list
// of skills, as in the reference implementation.
const (
	ModeTag, ModeEnd     = "<collaboration_mode>", "</collaboration_mode>"
	SkillsTag, SkillsEnd = "<skills_instructions>", "</skills_instructions>"
	// TeamTag and TeamEnd enclose the facts about the other agents, AgentModeTag and AgentModeEnd when to start some.
	TeamTag, TeamEnd           = "<agent_team>", "</agent_team>"
	AgentModeTag, AgentModeEnd = "<multi_agent_mode>", "</multi_agent_mode>"
	// ToolDefinitionTag begins a message with the definition of a tool.
	ToolDefinitionTag = "<tool_definition"
)

// LineMemoryMode is the type of a line with a StoredMemoryMode.
const LineMemoryMode = "memory_mode"

// StoredMemoryMode is the payload of the line that stores the mode of a thread's memory.
type StoredMemoryMode struct {
	Mode string `json:"mode"`
}

// ThreadMemoryModeSetParams sets the mode of a thread's memory, loaded or not. If it is disabled,
// the thread is not summarized, and its model gets no reminders.
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
	// Stored is the number of summaries.
	Stored int `json:"stored"`
}

// NotificationMethod returns "memory/updated".
func (MemoryUpdatedNotification) NotificationMethod() string { return "memory/updated" }

// MemoryView is a memory: a summary of context items, or a piece of a repository's file.
type MemoryView struct {
	ID string `json:"id"`
	// RepoKey is the root of the repository, or the directory outside of a repository.
	RepoKey string `json:"repoKey"`
	Kind    string `json:"kind"`
	// SessionID is the thread of a summary.
	SessionID string `json:"sessionId"`
	// CreatedAt is in Unix milliseconds.
	CreatedAt int64  `json:"createdAt"`
	Title     string `json:"title"`
	Text      string `json:"text"`
	// ItemIDs are the context items of a summary.
	ItemIDs []string `json:"itemIds"`
}

// MemorySearchParams searches the memory of a repository.
type MemorySearchParams struct {
	Query string `json:"query"`
	// RepoKey is a directory in the repository. The default is the working directory of the server.
	RepoKey *string `json:"repoKey,omitempty"`
	// Kinds are summary and code. The default is both.
	Kinds []string `json:"kinds,omitempty"`
	// Limit is 10 by default, and at most 100.
	Limit *uint32 `json:"limit,omitempty"`
}

// MemoryHit is a memory that matches.
type MemoryHit struct {
	MemoryView
	// Score is greater for a better match. It is comparable within one response only.
	Score float64 `json:"score"`
}

// MemorySearchResponse has the matches, the best first.
type MemorySearchResponse struct {
	Data []MemoryHit `json:"data"`
	// Semantic is set if the search also compared vectors.
	Semantic bool `json:"semantic"`
}

// MemoryListParams lists summaries, the newest first.
type MemoryListParams struct {
	// RepoKey selects a repository. The default is all.
	RepoKey   *string `json:"repoKey,omitempty"`
	SessionID *string `json:"sessionId,omitempty"`
	Cursor    *string `json:"cursor,omitempty"`
	Limit     *uint32 `json:"limit,omitempty"`
}

// MemoryListResponse is a page of summaries.
type MemoryListResponse struct {
	Data []MemoryView `json:"data"`
	// NextCursor is null on the last page.
	NextCursor *string `json:"nextCursor"`
}

// MemoryForgetParams deletes memories: the memories of Ids or, with All, all memories or all of one
// repository.
type MemoryForgetParams struct {
	Ids []string `json:"ids,omitempty"`
	All bool     `json:"all,omitempty"`
	// RepoKey limits All to a repository.
	RepoKey *string `json:"repoKey,omitempty"`
}

// MemoryForgetResponse is the result of memory/forget. The memories are deleted from the disk.
type MemoryForgetResponse struct {
	// Forgotten is the number of deleted memories.
	Forgotten int `json:"forgotten"`
}

// MemoryResetParams deletes all memories, including the indexed files.
type MemoryResetParams struct{}

// MemoryStatusParams requests the state of the memory.
type MemoryStatusParams struct{}

// MemoryStatusResponse is the state of the memory, by the configuration for all threads. The
// members that begin with v2 have the meaning of the reference implementation.
type MemoryStatusResponse struct {
	// Summarizes is set if summaries are stored.
	Summarizes bool `json:"summarizes"`
	// Reminds is set if the model gets reminders.
	Reminds bool `json:"reminds"`
	// Summaries is the number of summaries.
	Summaries int `json:"summaries"`
	// Code is the number of pieces of code.
	Code int `json:"code"`
	// Repositories is the number of repositories.
	Repositories int `json:"repositories"`
	// Bytes is the size on the disk.
	Bytes      int64             `json:"bytes"`
	Embeddings *MemoryEmbeddings `json:"embeddings"`
	// Indexes are the repositories whose files are indexed.
	Indexes []MemoryCodeIndex `json:"indexes"`
	// Error is the last error, or null.
	Error *string `json:"error"`

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

// MemoryIndexPauseParams pauses or resumes the indexing of a repository.
type MemoryIndexPauseParams struct {
	// RepoKey has the same meaning as in MemorySearchParams.
	RepoKey *string `json:"repoKey,omitempty"`
	Paused  bool    `json:"paused"`
}

// MemoryIndexPauseResponse is the result of memory/index/pause.
type MemoryIndexPauseResponse struct {
	// Found is false if the repository is not indexed.
	Found bool `json:"found"`
}

// MemoryCodeIndex is the progress of the index of a repository.
type MemoryCodeIndex struct {
	RepoKey string `json:"repoKey"`
	// Phase is walking, reading, idle, paused, failed, or elsewhere if another server indexes it.
	Phase  string `json:"phase"`
	Files  int    `json:"files"`
	Done   int    `json:"done"`
	Chunks int    `json:"chunks"`
	Bytes  int64  `json:"bytes"`
	// Error is the reason if the last scan failed.
	Error *string `json:"error"`
	// Skipped has the numbers of skipped files by reason.
	Skipped map[string]int `json:"skipped"`
}

// MemoryIndexProgressNotification reports the progress of a repository's index, at most a few times
// a second.
type MemoryIndexProgressNotification struct {
	MemoryCodeIndex
}

// NotificationMethod returns "memory/index/progress".
func (MemoryIndexProgressNotification) NotificationMethod() string { return "memory/index/progress" }
