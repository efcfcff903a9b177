package state

import (
	"fmt"
	"io"

	"appserver/core/pure/lineref"
	"appserver/core/pure/snapshot"
	"appserver/protocol"
)

// snapshotForm changes with the format of snapshots, and with the effect of lines.
const snapshotForm = 23

// snapshotHead begins a snapshot. The model requests, the context and the transcript follow. Defaults and Values are
// JSON, because gob does not distinguish a pointer to 0 from nil.
type snapshotHead struct {
	Form             int
	Defaults, Values []byte
	Line             int32
}

// requestColumns is a block of model requests.
type requestColumns struct {
	Ordinal []int64
	Line    []int32
}

// WriteSnapshot writes the state after the lines that were applied so far, for ReadSnapshot. defaults are
// those of New. It fails if payloads cannot be read again. It also fails while a revert can be undone: a snapshot
// does not have the removed turns, so the next load applies the lines.
func (s *State) WriteSnapshot(to io.Writer, defaults Settings) error {
	if s.from == nil {
		return fmt.Errorf("thread %s is held in memory", s.ID)
	}
	if len(s.reverts) > 0 {
		return fmt.Errorf("a revert of thread %s can still be undone", s.ID)
	}
	head := snapshotHead{Form: snapshotForm, Line: s.line}
	var err error
	if head.Defaults, err = protocol.Marshal(defaults); err != nil {
		return err
	}
	if head.Values, err = protocol.Marshal(s.Values); err != nil {
		return err
	}
	out := snapshot.NewWriter(to)
	out.Value(&head)
	s.requests.Write(out, encodeRequests)
	s.Context.WriteSnapshot(out)
	s.Transcript.WriteSnapshot(out)
	return out.Err()
}

// ReadSnapshot returns the state of a snapshot. The next line is the first one after it. It returns
// false if the snapshot is damaged, or belongs to other defaults or to another version.
func ReadSnapshot(from []byte, defaults Settings, lines lineref.Lines) (*State, bool) {
	in := snapshot.NewReader(from)
	var head snapshotHead
	if in.Value(&head); in.Err() != nil || head.Form != snapshotForm {
		return nil, false
	}
	same, err := protocol.Marshal(defaults)
	if err != nil || string(same) != string(head.Defaults) {
		return nil, false
	}
	s := &State{from: lineref.NewSource(lines), line: head.Line}
	source := s.from // blocks are decoded after the load, which clears s.from
	s.requests.Read(in, func(_ int, content []byte) ([]request, error) { return decodeRequests(content, source) })
	s.Context.ReadSnapshot(in, source)
	s.Transcript.ReadSnapshot(in, source)
	return s, in.Err() == nil && protocol.Unmarshal(head.Values, &s.Values) == nil
}

func encodeRequests(requests []request) (any, error) {
	c := &requestColumns{}
	for i := range requests {
		c.Ordinal, c.Line = append(c.Ordinal, requests[i].Ordinal), append(c.Line, requests[i].ref.Line)
	}
	return c, nil
}

func decodeRequests(content []byte, from *lineref.Source) ([]request, error) {
	var c requestColumns
	if err := snapshot.Decode(content, &c); err != nil {
		return nil, err
	}
	requests := make([]request, len(c.Ordinal))
	for i := range requests {
		requests[i] = request{c.Ordinal[i], lineref.Ref{Source: from, Line: c.Line[i], Part: lineref.Whole}}
	}
	return requests, nil
}
