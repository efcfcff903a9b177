package state

import (
	"bufio"
	"encoding/gob"
	"fmt"
	"io"

	"appserver/core/lineref"
	"appserver/protocol"
)

// snapshotForm changes with the format of snapshots, and with the effect of lines.
const snapshotForm = 16

// snapshotHead begins a snapshot. The context and the transcript follow. Defaults and Values are JSON,
// because gob does not distinguish a pointer to 0 from nil.
type snapshotHead struct {
	Form             int
	Defaults, Values []byte
	Line             int32
	// Requests and RequestLines are the ordinals and the numbers of the lines of model requests.
	Requests     []int64
	RequestLines []int32
}

// WriteSnapshot writes the state after the lines that were applied so far, for ReadSnapshot. defaults are
// those of New. It fails if payloads cannot be read again.
func (s *State) WriteSnapshot(to io.Writer, defaults Settings) error {
	if s.from == nil {
		return fmt.Errorf("thread %s is held in memory", s.ID)
	}
	head := snapshotHead{Form: snapshotForm, Line: s.line}
	for i := range s.requests {
		head.Requests = append(head.Requests, s.requests[i].Ordinal)
		head.RequestLines = append(head.RequestLines, s.requests[i].ref.Line)
	}
	var err error
	if head.Defaults, err = protocol.Marshal(defaults); err != nil {
		return err
	}
	if head.Values, err = protocol.Marshal(s.Values); err != nil {
		return err
	}
	out := gob.NewEncoder(to)
	if err := out.Encode(&head); err != nil {
		return err
	}
	if err := s.Context.WriteSnapshot(out); err != nil {
		return err
	}
	return s.Transcript.WriteSnapshot(out)
}

// ReadSnapshot returns the state of a snapshot. The next line is the first one after it. It returns
// false if the snapshot is damaged, or belongs to other defaults or to another version.
func ReadSnapshot(from io.Reader, defaults Settings, lines lineref.Lines) (*State, bool) {
	in := gob.NewDecoder(bufio.NewReader(from))
	var head snapshotHead
	if in.Decode(&head) != nil || head.Form != snapshotForm {
		return nil, false
	}
	same, err := protocol.Marshal(defaults)
	if err != nil || string(same) != string(head.Defaults) {
		return nil, false
	}
	s := &State{from: lineref.NewSource(lines), line: head.Line}
	if !s.readRequests(&head) {
		return nil, false
	}
	if protocol.Unmarshal(head.Values, &s.Values) != nil ||
		s.Context.ReadSnapshot(in, s.from) != nil || s.Transcript.ReadSnapshot(in, s.from) != nil {
		return nil, false
	}
	return s, true
}
