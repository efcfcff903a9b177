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

// TurnMetadata tells what a turn did beside its items. Diff is of the files that it changed.
type TurnMetadata struct {
	Diff DiffSummary `json:"diff"`
}

// TurnDiffUpdatedNotification tells what a turn has changed so far, as one diff in git's
// form. It is empty where the turn took back what it had changed.
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

// ThreadDiffReadResponse is the diff of what was changed by the agent; what others changed
// meanwhile is not in it. Paths are below the folder in Roots; where there are several, the
// diffs of each follow each other. Cut is set where the diff would be longer than 16 MiB, and
// lacks what is binary, or its last files; Summary counts all. Turns are those that changed
// files.
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

// Checkpoint is a state of the worktree that one can go back to. ID is that of the turn
// before which it was made, or, for the kind revert, of the revert. TurnID is null for a
// revert. CreatedAt is in Unix seconds. ChangedFiles counts the files that were changed from
// it to the next one. InThread is false where the turn was taken out of the thread: then
// files can be reverted to it, and the conversation cannot.
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

// ThreadCheckpointDiffResponse is the diff between two states of the worktree, whoever
// changed it. Its members are as those of ThreadDiffReadResponse.
type ThreadCheckpointDiffResponse struct {
	Roots   []string    `json:"roots"`
	Diff    string      `json:"diff"`
	Cut     bool        `json:"cut"`
	Summary DiffSummary `json:"summary"`
}

// ThreadCheckpointRevertParams takes back what a thread did since a checkpoint: in the
// files, in the conversation, or in both. With DryRun nothing is changed.
type ThreadCheckpointRevertParams struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	Mode     string `json:"mode" oneof:"files conversation both"`
	DryRun   bool   `json:"dryRun,omitempty"`
}

// The modes of a ThreadCheckpointRevertParams.
const (
	RevertFiles        = "files"
	RevertConversation = "conversation"
	RevertBoth         = "both"
)

// ThreadCheckpointRevertResponse tells what was reverted, or would be. Diff and Summary are
// of what the revert does to the files below Roots. UndoCheckpointID is the checkpoint of
// the files before it, null where none was changed. RemovedTurnIDs are the turns that the
// conversation has lost. Cut is as in ThreadDiffReadResponse.
type ThreadCheckpointRevertResponse struct {
	DryRun           bool        `json:"dryRun"`
	Mode             string      `json:"mode" oneof:"files conversation both"`
	UndoCheckpointID *string     `json:"undoCheckpointId"`
	Roots            []string    `json:"roots"`
	Diff             string      `json:"diff"`
	Cut              bool        `json:"cut"`
	Summary          DiffSummary `json:"summary"`
	RemovedTurnIDs   []string    `json:"removedTurnIds"`
	Thread           Thread      `json:"thread"`
}
