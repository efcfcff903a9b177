package worktree

// stateOf fails, because file systems of Windows need not keep a time that no program can set. So git makes each
// capture.
func stateOf(string) (fileState, error) { return fileState{}, errNotComparable }
