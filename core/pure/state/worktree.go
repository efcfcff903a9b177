package state

import (
	"encoding/json"
	"slices"

	"appserver/core/pure/filechanges"
	"appserver/protocol"
)

// Checkpoint is a state of the worktree that one can revert to. At is in Unix seconds. Behind is the
// number of file changes before it.
type Checkpoint struct {
	protocol.StoredCheckpoint
	At     int64
	Behind int
}

func (s *State) applyCheckpoint(line *protocol.RolloutLine) {
	p := Checkpoint{At: protocol.ParseTimestamp(line.Timestamp).Unix(), Behind: len(s.FileChanges)}
	if protocol.Unmarshal(line.Payload, &p.StoredCheckpoint) != nil || p.ID == "" {
		return
	}
	gone := append([]string{p.ID}, p.Forgets...)
	s.Checkpoints = slices.DeleteFunc(s.Checkpoints, func(old Checkpoint) bool { return slices.Contains(gone, old.ID) })
	s.Checkpoints = append(s.Checkpoints, p)
}

func (s *State) applyChanges(payload json.RawMessage) {
	var c protocol.WorktreeChanges
	if protocol.Unmarshal(payload, &c) == nil && c.ID != "" && c.Root != "" {
		s.FileChanges = append(s.FileChanges, c)
	}
}

// CheckpointIndex returns the index of a checkpoint, or -1 if there is none with that id.
func (s *State) CheckpointIndex(id string) int {
	return slices.IndexFunc(s.Checkpoints, func(p Checkpoint) bool { return p.ID == id })
}

// ChangesOf returns the file changes of a turn or of a revert.
func (s *State) ChangesOf(id string) (changes []protocol.WorktreeChanges) {
	for _, c := range s.FileChanges {
		if c.ID == id {
			changes = append(changes, c)
		}
	}
	return changes
}

// CheckpointsForFork returns the checkpoints in the form of lines, and the net changes of each turn and
// revert since the first checkpoint.
func (s *State) CheckpointsForFork() (points []protocol.StoredCheckpoint, changes []protocol.WorktreeChanges) {
	for _, p := range s.Checkpoints {
		points = append(points, p.StoredCheckpoint)
	}
	done := map[string]bool{}
	for _, c := range s.FileChanges[s.Checkpoints[0].Behind:] {
		if done[c.ID] {
			continue
		}
		done[c.ID] = true
		for _, net := range filechanges.Net(s.ChangesOf(c.ID)) {
			net.ID = c.ID
			changes = append(changes, net)
		}
	}
	return points, changes
}
