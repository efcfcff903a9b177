package core

import (
	"strings"

	"appserver/protocol"
)

// TrimContext takes all turns but the last KeepLast out of the context.
type TrimContext struct {
	To protocol.Caller
	// Client is the name of the client.
	Client   string
	KeepLast uint32
	Summary  *string
	// ExpectedLast is the last turn that the thread must have, or nil for any.
	ExpectedLast *string
}

// SummarizeContext gives a trim point a summary. A nil Point is the latest trim point.
type SummarizeContext struct {
	To protocol.Caller
	// Client is the name of the client.
	Client  string
	Point   *string
	Summary string
	// TookMs is the time that making the summary took, in milliseconds, or nil if it is not known.
	TookMs *int64
}

func (in TrimContext) apply(s *step)      { s.trimContext(in) }
func (in SummarizeContext) apply(s *step) { s.summarizeContext(in) }

func (s *step) trimContext(in TrimContext) {
	if s.rejectInTurn(in.To) {
		return
	}
	if err := s.errStaleTurn(in.ExpectedLast); err != nil {
		s.reject(in.To, err)
		return
	}
	s.closeDanglingTurn()
	c := s.beginTrim()
	s.trimTo(int(in.KeepLast), protocol.TrimAsked, in.Client, withSummary(in.Summary))
	s.endTrim(c, nil)
	s.answerEdit(in.To, protocol.ThreadContextTrimResponse{TrimPoint: s.context.LastTrimPoint().TrimPoint,
		SessionID: s.sessionID()}, c, s.lastChanges())
}

// withSummary returns the summary of a client, or nil if it is blank.
func withSummary(text *string) *string {
	if text == nil || strings.TrimSpace(*text) == "" {
		return nil
	}
	return text
}

func (s *step) summarizeContext(in SummarizeContext) {
	if s.rejectInTurn(in.To) {
		return
	}
	points := s.context.TrimPoints()
	at := len(points) - 1
	for i := range points {
		if in.Point != nil && points[i].ID == *in.Point {
			at = i
		}
	}
	switch {
	case at < 0 || in.Point != nil && points[at].ID != *in.Point:
		s.reject(in.To, protocol.Refuse(protocol.KindTrimPointNotFound,
			"there is no such trim point in this thread: trim it first with thread/context/trim, or name one of contextTrimPoints"))
		return
	case strings.TrimSpace(in.Summary) == "":
		s.reject(in.To, protocol.InvalidParams("summary", "`summary` must not be empty"))
		return
	}
	s.closeDanglingTurn()
	c := s.beginTrim()
	line := s.summaryEdit(points[at].ID, in.Summary)
	line.ClientName = in.Client
	s.record(protocol.LineContextEdit, line)
	s.out.Sync = true
	s.endTrim(c, in.TookMs)
	s.answerEdit(in.To, protocol.ThreadContextSummarizeResponse{TrimPoint: s.context.TrimPoints()[at].TrimPoint}, c,
		s.lastChanges())
}

// summaryEdit returns the edit that gives a trim point a summary.
func (s *step) summaryEdit(id, text string) protocol.StoredContextEdit {
	e := protocol.StoredContextEdit{Op: protocol.EditSummarize, Revision: s.context.Revision() + 1, Of: id, Text: &text}
	if saved, inPrompt := s.context.SavedBySummarizing(id); inPrompt {
		e.SavedTokens = saved - s.priceOf(text)
	}
	return e
}
