package state

import "appserver/protocol"

// ApplyMeta applies the first line of a fork, which is not counted: the numbers of lines are those of the origin.
func (s *State) ApplyMeta(line *protocol.RolloutLine) {
	s.Written = line.Timestamp
	s.applyMeta(line.Payload)
}

// IsNumbered reports whether the ordinal of each line is its number.
func (s *State) IsNumbered() bool { return !s.Disordered && s.Next == int64(s.line) }

// Fork turns the state of an origin into that of its fork. Only the first line of the fork differs: it has meta.
// The settings of the origin stay.
func (s *State) Fork(meta protocol.SessionMeta) {
	if !s.ProviderRecorded && meta.ModelProvider != "" {
		s.Settings.Provider, s.ProviderRecorded = meta.ModelProvider, true
	}
	meta.Git = meta.Git.Public()
	s.ID, s.Meta, s.Waiting = meta.ID, meta, nil
}
