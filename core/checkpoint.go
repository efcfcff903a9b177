package core

import (
	"slices"

	"appserver/core/pure/filechanges"
	"appserver/protocol"
)

// ListCheckpoints requests a page of the checkpoints.
type ListCheckpoints struct {
	To     protocol.Caller
	Cursor *string
	Limit  *uint32
	// Off is set if checkpoints are switched off. The page is empty then.
	Off bool
}

func (in ListCheckpoints) apply(s *step) { s.listCheckpoints(in) }

func (s *step) listCheckpoints(in ListCheckpoints) {
	page := protocol.ThreadCheckpointListResponse{Data: []protocol.Checkpoint{}}
	if in.Off {
		s.reply(in.To, page)
		return
	}
	id := func(index int) string { return s.state.Checkpoints[index].ID }
	indices, next, err := s.lists().CheckpointsPage(len(s.state.Checkpoints), s.state.CheckpointIndex, id, in.Cursor,
		in.Limit)
	for _, at := range indices {
		page.Data = append(page.Data, s.checkpointView(at))
	}
	page.NextCursor = next
	s.replyPage(in.To, page, err)
}

func (t *Thread) checkpointView(at int) protocol.Checkpoint {
	p := &t.state.Checkpoints[at]
	v := protocol.Checkpoint{ID: p.ID, Kind: p.Kind, CreatedAt: p.At, Roots: []string{}}
	for _, tree := range p.Trees {
		v.Roots = append(v.Roots, tree.Root)
	}
	until := len(t.state.FileChanges)
	if at+1 < len(t.state.Checkpoints) {
		until = t.state.Checkpoints[at+1].Behind
	}
	for _, c := range filechanges.Net(t.state.FileChanges[p.Behind:until]) {
		v.ChangedFiles += len(c.Changes)
	}
	if p.Kind == protocol.CheckpointTurn {
		v.TurnID = &p.ID
		_, v.InThread = t.transcript.IndexOf(p.ID)
	}
	return v
}

// Changed has the net changes of turns.
type Changed struct {
	Changes []protocol.WorktreeChanges
	Turns   []protocol.ChangedTurn
}

// Roots returns the roots of the changes.
func (c *Changed) Roots() []string { return filechanges.Roots(c.Changes) }

// Changed returns the changes of a turn. A nil turn selects all turns and reverts.
func (t *Thread) Changed(turn *string) (Changed, *protocol.Error) {
	changes := t.state.FileChanges
	if turn != nil {
		changes = t.state.ChangesOf(*turn)
		if _, err := t.findTurn(*turn); err != nil && len(changes) == 0 {
			return Changed{}, err
		}
	}
	c := Changed{Changes: filechanges.Net(changes), Turns: []protocol.ChangedTurn{}}
	var seen []string
	for _, one := range changes {
		if slices.Contains(seen, one.ID) {
			continue
		}
		seen = append(seen, one.ID)
		paths := filechanges.Paths(filechanges.Net(t.state.ChangesOf(one.ID)))
		if at := t.state.CheckpointIndex(one.ID); len(paths) > 0 &&
			(at < 0 || t.state.Checkpoints[at].Kind == protocol.CheckpointTurn) {
			c.Turns = append(c.Turns, protocol.ChangedTurn{TurnID: one.ID, Paths: paths})
		}
	}
	return c, nil
}

// CheckpointTrees returns the trees of a checkpoint.
func (t *Thread) CheckpointTrees(id string) ([]protocol.StoredTree, *protocol.Error) {
	at := t.state.CheckpointIndex(id)
	if at < 0 {
		return nil, errNoCheckpoint(id)
	}
	return t.state.Checkpoints[at].Trees, nil
}

func errNoCheckpoint(id string) *protocol.Error {
	return protocol.Refuse(protocol.KindCheckpointNotFound,
		"checkpoint not found: %s: thread/checkpoint/list returns the checkpoints", id)
}

// RevertPlan describes a revert to a checkpoint.
type RevertPlan struct {
	// Point is the id of the checkpoint. Mode is one of the Revert constants of package protocol.
	Point, Mode string
	// Changes are the changes of files to reverse, and Roots their roots. Turns is the number of
	// turns to remove from the conversation.
	Changes []protocol.WorktreeChanges
	Roots   []string
	Turns   int
}

// Conversation reports whether the revert removes turns.
func (p *RevertPlan) Conversation() bool { return p.Mode != protocol.RevertFiles }

// PlanRevert returns the plan, or an error if the revert is not possible. It does not read files. The last turn of the
// thread must be expected, unless that is nil.
func (t *Thread) PlanRevert(id, mode string, expected *string) (RevertPlan, *protocol.Error) {
	p := RevertPlan{Point: id, Mode: mode}
	if err := t.TurnUnderWay(); err != nil {
		return p, err
	}
	if err := t.errStaleTurn(expected); err != nil {
		return p, err
	}
	if p.Conversation() {
		turn, err := t.findTurn(id)
		if err != nil {
			return p, err
		}
		p.Turns = t.transcript.TurnCount() - turn
	}
	if mode == protocol.RevertConversation {
		return p, nil
	}
	at := t.state.CheckpointIndex(id)
	if at < 0 {
		return p, errNoCheckpoint(id)
	}
	since := t.state.FileChanges[t.state.Checkpoints[at].Behind:]
	p.Changes = filechanges.Net(since)
	p.Roots = filechanges.Roots(p.Changes)
	if broken := filechanges.Conflicts(since); len(broken) > 0 {
		return p, ErrConflict(broken)
	}
	return p, nil
}

// ErrConflict rejects a revert of files that something else changed.
func ErrConflict(paths []string) *protocol.Error {
	err := protocol.Refuse(protocol.KindCheckpointConflict, "nothing was reverted: "+
		"something else changed %d of the files that the thread changed, %s first; "+
		"data.paths lists all: revert to a later checkpoint, or restore these files by hand", len(paths), paths[0])
	err.Data.Paths = paths
	return err
}
