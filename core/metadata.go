package core

import (
	"appserver/protocol"
)

// SetMetadata changes the metadata of the thread.
type SetMetadata struct {
	To  protocol.Caller
	Git protocol.ThreadMetadataGitInfoUpdateParams
}

// InjectItems adds context items, in a turn or between turns.
type InjectItems struct {
	To    protocol.Caller
	Items []protocol.ResponseItem
	// Env is described before the items if the context has no description yet. It is nil if it is
	// not known.
	Env *TurnEnv
}

func (in SetMetadata) apply(s *step) { s.setMetadata(in) }
func (in InjectItems) apply(s *step) { s.injectItems(in) }

func (s *step) setMetadata(in SetMetadata) {
	if s.rejectEphemeral(in.To) {
		return
	}
	s.closeDanglingTurn()
	s.record(protocol.LineThreadMetadata, protocol.ThreadMetadata{Git: changedGit(s.state.Meta.Git, in.Git)})
	s.out.Sync = true
	s.reply(in.To, protocol.ThreadMetadataUpdateResponse{Thread: s.View(false)})
}

// rejectEphemeral rejects changes of metadata of an ephemeral thread, and reports whether it did.
func (s *step) rejectEphemeral(to protocol.Caller) bool {
	if s.options.Ephemeral {
		s.reject(to,
			protocol.Refuse(protocol.KindInvalidRequest, "ephemeral thread does not support metadata updates: %s", s.state.ID))
	}
	return s.options.Ephemeral
}

// changedGit returns the new git metadata, or nil if it is empty.
func changedGit(was *protocol.StoredGitInfo, p protocol.ThreadMetadataGitInfoUpdateParams) *protocol.StoredGitInfo {
	var git protocol.StoredGitInfo
	if was != nil {
		git = *was
	}
	for _, c := range []struct{ to, from **string }{
		{&git.CommitHash, &p.Sha}, {&git.Branch, &p.Branch}, {&git.RepositoryURL, &p.OriginURL},
	} {
		if *c.from != nil {
			*c.to = protocol.OrNil(**c.from)
		}
	}
	if git == (protocol.StoredGitInfo{}) {
		return nil
	}
	return git.Public()
}

// injectItems adds items. Those before the first turn follow the environment, as in prompts of the
// reference implementation.
func (s *step) injectItems(in InjectItems) {
	s.closeDanglingTurn()
	if in.Env != nil && s.context.Environment() == "" {
		s.appendNotices(*in.Env)
	}
	s.addItems(in.Items)
	s.out.Sync = true
	s.reply(in.To, protocol.Empty{})
	s.contextChanged(nil)
}

// addItems adds ids to messages, so that they are not taken for the server's own notices.
func (s *step) addItems(items []protocol.ResponseItem) {
	for _, item := range items {
		if m, ok := item.ResponseItemVariant.(*protocol.Message); ok && m.ID == "" {
			m.ID = "msg_" + s.NewID()
		}
		s.record(protocol.LineResponseItem, item)
	}
}
