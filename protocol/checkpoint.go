package protocol

// DiffSummary counts the files and lines of a diff. A renamed file counts as modified. Lines of
// binary files do not count.
type DiffSummary struct {
	FilesModified  int        `json:"filesModified"`
	FilesCreated   int        `json:"filesCreated"`
	FilesDeleted   int        `json:"filesDeleted"`
	TotalAdditions int        `json:"totalAdditions"`
	TotalDeletions int        `json:"totalDeletions"`
	Files          []DiffFile `json:"files"`
}

// DiffFile is a file of a diff.
type DiffFile struct {
	// Path is relative to the worktree.
	Path string `json:"path"`
	// OldPath is the former path of a renamed file, and null for other files.
	OldPath   *string `json:"oldPath"`
	Kind      string  `json:"kind" oneof:"modified created deleted renamed"`
	Additions int     `json:"additions"`
	Deletions int     `json:"deletions"`
	// Binary is set for a file whose lines are not counted.
	Binary bool `json:"binary"`
}

// The kinds of a DiffFile.
const (
	DiffModified = "modified"
	DiffCreated  = "created"
	DiffDeleted  = "deleted"
	DiffRenamed  = "renamed"
)

// TurnMetadata has results of a turn beside its items.
type TurnMetadata struct {
	// Diff is the diff of the files that the turn changed.
	Diff DiffSummary `json:"diff"`
}

// TurnDiffUpdatedNotification has all changes of a turn until now.
type TurnDiffUpdatedNotification struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	// Diff is in git's format. It is empty if the turn reverted its own changes.
	Diff string `json:"diff"`
}

// NotificationMethod returns "turn/diff/updated".
func (TurnDiffUpdatedNotification) NotificationMethod() string { return "turn/diff/updated" }

// ThreadDiffReadParams requests the changes of files by a thread.
type ThreadDiffReadParams struct {
	ThreadID string `json:"threadId"`
	// TurnID selects one turn. By default, the diff has the changes of all turns and reverts.
	TurnID *string `json:"turnId,omitempty"`
}

// ThreadDiffReadResponse is the diff of the agent's changes, without changes by others in the
// meantime.
type ThreadDiffReadResponse struct {
	// Roots are the directories of the changes. The paths in Diff are relative to them.
	Roots []string `json:"roots"`
	// Diff is in git's format. The diffs of several roots follow each other.
	Diff string `json:"diff"`
	// Cut is set if the diff is longer than 16 MiB. It then lacks binary files, or the last files.
	Cut bool `json:"cut"`
	// Summary counts all files.
	Summary DiffSummary `json:"summary"`
	// Turns are the turns that changed files.
	Turns []ChangedTurn `json:"turns"`
}

// ChangedTurn is a turn and the paths that it changed.
type ChangedTurn struct {
	TurnID string   `json:"turnId"`
	Paths  []string `json:"paths"`
}

// Checkpoint is a state of the worktree to which a client can revert.
type Checkpoint struct {
	// ID is the id of the turn before which the checkpoint was created or, for the kind revert, the
	// id of the revert.
	ID   string `json:"id"`
	Kind string `json:"kind" oneof:"turn revert"`
	// TurnID is null for a revert.
	TurnID *string `json:"turnId"`
	// CreatedAt is in Unix seconds.
	CreatedAt int64    `json:"createdAt"`
	Roots     []string `json:"roots"`
	// ChangedFiles is the number of files that changed between this checkpoint and the next one.
	ChangedFiles int `json:"changedFiles"`
	// InThread is false if the turn was removed from the thread. Then files can be reverted to the
	// checkpoint, but the conversation cannot.
	InThread bool `json:"inThread"`
}

// The kinds of a Checkpoint.
const (
	CheckpointTurn   = "turn"
	CheckpointRevert = "revert"
)

// ThreadCheckpointListParams requests a page of a thread's checkpoints.
type ThreadCheckpointListParams struct {
	ThreadID string `json:"threadId"`
	// Cursor is the nextCursor of the page before. By default, the first page is returned.
	Cursor *string `json:"cursor,omitempty"`
	// Limit is the number of checkpoints of a page: 25 by default, at least 1 and at most 100.
	Limit *uint32 `json:"limit,omitempty"`
}

// ThreadCheckpointListResponse is a page of checkpoints, the newest first.
type ThreadCheckpointListResponse struct {
	Data []Checkpoint `json:"data"`
	// NextCursor is null on the last page.
	NextCursor *string `json:"nextCursor"`
}

// ThreadCheckpointDiffParams requests the difference between a checkpoint and the files now, or a
// later checkpoint.
type ThreadCheckpointDiffParams struct {
	ThreadID string `json:"threadId"`
	// TurnID is the id of the checkpoint.
	TurnID string `json:"turnId"`
	// ToTurnID is the id of the later checkpoint. By default, the files are compared as they are
	// now.
	ToTurnID *string `json:"toTurnId,omitempty"`
}

// ThreadCheckpointDiffResponse is the diff between two states of the worktree. It includes changes
// by others. Its members have the same meaning as in ThreadDiffReadResponse.
type ThreadCheckpointDiffResponse struct {
	Roots   []string    `json:"roots"`
	Diff    string      `json:"diff"`
	Cut     bool        `json:"cut"`
	Summary DiffSummary `json:"summary"`
}

// ThreadCheckpointRevertParams undoes the changes of a thread since a checkpoint, in the files, in
// the conversation, or in both.
type ThreadCheckpointRevertParams struct {
	ThreadID string `json:"threadId"`
	// TurnID is the id of the checkpoint.
	TurnID string `json:"turnId"`
	Mode   string `json:"mode" oneof:"files conversation both"`
	// DryRun requests a preview, which changes nothing.
	DryRun bool `json:"dryRun,omitempty"`
	// ExpectedLastTurnID has the same meaning as in ThreadRevertParams.
	ExpectedLastTurnID *string `json:"expectedLastTurnId,omitempty"`
}

// The modes of a ThreadCheckpointRevertParams.
const (
	RevertFiles        = "files"
	RevertConversation = "conversation"
	RevertBoth         = "both"
)

// ThreadCheckpointRevertResponse is the result of a revert, or of its preview. Diff and Summary
// describe the effect on the files below Roots.
type ThreadCheckpointRevertResponse struct {
	DryRun bool   `json:"dryRun"`
	Mode   string `json:"mode" oneof:"files conversation both"`
	// UndoCheckpointID is the checkpoint of the files before the revert, or null if no file
	// changed.
	UndoCheckpointID *string  `json:"undoCheckpointId"`
	Roots            []string `json:"roots"`
	Diff             string   `json:"diff"`
	// Cut has the same meaning as in ThreadDiffReadResponse.
	Cut     bool        `json:"cut"`
	Summary DiffSummary `json:"summary"`
	// RemovedTurnIDs are the turns that were removed from the conversation.
	RemovedTurnIDs []string `json:"removedTurnIds"`
	// LastTurnID is the last turn of the thread before the revert, or null. The request after a
	// preview can send it as ExpectedLastTurnID.
	LastTurnID *string `json:"lastTurnId"`
	Thread     Thread  `json:"thread"`
}
