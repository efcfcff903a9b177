package protocol

// DiffSummary counts what a diff changes. A file that was renamed counts as modified; lines
// of binary files count as none.
type DiffSummary struct {
	FilesModified  int        `json:"filesModified"`
	FilesCreated   int        `json:"filesCreated"`
	FilesDeleted   int        `json:"filesDeleted"`
	TotalAdditions int        `json:"totalAdditions"`
	TotalDeletions int        `json:"totalDeletions"`
	Files          []DiffFile `json:"files"`
}

// DiffFile is a file of a diff, by its path below the worktree. OldPath is where a renamed
// file was, null for others.
type DiffFile struct {
	Path      string  `json:"path"`
	OldPath   *string `json:"oldPath"`
	Kind      string  `json:"kind" oneof:"modified created deleted renamed"`
	Additions int     `json:"additions"`
	Deletions int     `json:"deletions"`
	Binary    bool    `json:"binary"`
}

// The kinds of a DiffFile.
const (
	DiffModified = "modified"
	DiffCreated  = "created"
	DiffDeleted  = "deleted"
	DiffRenamed  = "renamed"
)

// TurnMetadata has results of a turn beside its items. Diff is the diff of the files that the turn
// changed.
type TurnMetadata struct {
	Diff DiffSummary `json:"diff"`
}

// TurnDiffUpdatedNotification has the changes of a turn so far, as one diff in git's format. It is
// empty if the turn reverted its own changes.
type TurnDiffUpdatedNotification struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	Diff     string `json:"diff"`
}

// NotificationMethod is turn/diff/updated.
func (TurnDiffUpdatedNotification) NotificationMethod() string { return "turn/diff/updated" }

// ThreadDiffReadParams asks what a turn has changed; without one, what all turns of the
// thread have, and its reverts.
type ThreadDiffReadParams struct {
	ThreadID string  `json:"threadId"`
	TurnID   *string `json:"turnId,omitempty"`
}

// ThreadDiffReadResponse is the diff of the agent's changes. Changes by others in the meantime are not
// in it. Paths are relative to the directories in Roots; the diffs of several roots follow each other.
// Cut is set if the diff is longer than 16 MiB: it then lacks binary files, or the last files. Summary
// counts all files. Turns are the turns that changed files.
type ThreadDiffReadResponse struct {
	Roots   []string      `json:"roots"`
	Diff    string        `json:"diff"`
	Cut     bool          `json:"cut"`
	Summary DiffSummary   `json:"summary"`
	Turns   []ChangedTurn `json:"turns"`
}

// ChangedTurn is a turn with the paths that it has changed.
type ChangedTurn struct {
	TurnID string   `json:"turnId"`
	Paths  []string `json:"paths"`
}

// Checkpoint is a state of the worktree to which a client can revert. ID is the id of the turn before
// which it was created or, for the kind revert, the id of the revert. TurnID is null for a revert.
// CreatedAt is in Unix seconds. ChangedFiles counts the files that changed between this checkpoint and
// the next one. InThread is false if the turn was removed from the thread: files can be reverted to
// such a checkpoint, the conversation cannot.
type Checkpoint struct {
	ID           string   `json:"id"`
	Kind         string   `json:"kind" oneof:"turn revert"`
	TurnID       *string  `json:"turnId"`
	CreatedAt    int64    `json:"createdAt"`
	Roots        []string `json:"roots"`
	ChangedFiles int      `json:"changedFiles"`
	InThread     bool     `json:"inThread"`
}

// The kinds of a Checkpoint.
const (
	CheckpointTurn   = "turn"
	CheckpointRevert = "revert"
)

// ThreadCheckpointListParams asks for a page of a thread's checkpoints, by default of 25, at
// least of 1 and at most of 100. Cursor is the nextCursor of the page before.
type ThreadCheckpointListParams struct {
	ThreadID string  `json:"threadId"`
	Cursor   *string `json:"cursor,omitempty"`
	Limit    *uint32 `json:"limit,omitempty"`
}

// ThreadCheckpointListResponse is a page of checkpoints, the newest first. NextCursor is null
// on the last page.
type ThreadCheckpointListResponse struct {
	Data       []Checkpoint `json:"data"`
	NextCursor *string      `json:"nextCursor"`
}

// ThreadCheckpointDiffParams asks for what is other now than at a checkpoint, or at a later
// one. Both are named by the ids of Checkpoint.
type ThreadCheckpointDiffParams struct {
	ThreadID string  `json:"threadId"`
	TurnID   string  `json:"turnId"`
	ToTurnID *string `json:"toTurnId,omitempty"`
}

// ThreadCheckpointDiffResponse is the diff between two states of the worktree. It includes changes by
// others. The members have the meaning of ThreadDiffReadResponse.
type ThreadCheckpointDiffResponse struct {
	Roots   []string    `json:"roots"`
	Diff    string      `json:"diff"`
	Cut     bool        `json:"cut"`
	Summary DiffSummary `json:"summary"`
}

// ThreadCheckpointRevertParams takes back what a thread did since a checkpoint: in the
// files, in the conversation, or in both. With DryRun nothing is changed. ExpectedLastTurnID has the
// meaning of ThreadRevertParams.
type ThreadCheckpointRevertParams struct {
	ThreadID           string  `json:"threadId"`
	TurnID             string  `json:"turnId"`
	Mode               string  `json:"mode" oneof:"files conversation both"`
	DryRun             bool    `json:"dryRun,omitempty"`
	ExpectedLastTurnID *string `json:"expectedLastTurnId,omitempty"`
}

// The modes of a ThreadCheckpointRevertParams.
const (
	RevertFiles        = "files"
	RevertConversation = "conversation"
	RevertBoth         = "both"
)

// ThreadCheckpointRevertResponse is the result of a revert, or of its preview. Diff and Summary
// describe the effect on the files below Roots. UndoCheckpointID is the checkpoint of the files before
// the revert, or null if no file changed. RemovedTurnIDs are the turns that were removed from the
// conversation. LastTurnID is the last turn of the thread before the revert, or null; the ExpectedLastTurnID of the
// request that follows a preview. Cut has the meaning of ThreadDiffReadResponse.
type ThreadCheckpointRevertResponse struct {
	DryRun           bool        `json:"dryRun"`
	Mode             string      `json:"mode" oneof:"files conversation both"`
	UndoCheckpointID *string     `json:"undoCheckpointId"`
	Roots            []string    `json:"roots"`
	Diff             string      `json:"diff"`
	Cut              bool        `json:"cut"`
	Summary          DiffSummary `json:"summary"`
	RemovedTurnIDs   []string    `json:"removedTurnIds"`
	LastTurnID       *string     `json:"lastTurnId"`
	Thread           Thread      `json:"thread"`
}
