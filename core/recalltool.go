package core

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"appserver/core/pure/digest"
	"appserver/core/pure/history"
	"appserver/core/pure/toolspec"
	"appserver/platform/excerpt"
	"appserver/protocol"
)

const (
	// recallHits bounds the items and the memories of a result; recallExcerpt the characters of
	// each.
	recallHits, recallExcerpt = 5, 600
	// recallTried bounds the items from which those of a result are taken.
	recallTried = 4 * recallHits
	// recallDepth bounds the text of items that a call searches, in bytes.
	recallDepth = 32 << 20
)

func recallTool() builtInTool {
	return builtInTool{
		name:    toolspec.Recall,
		spec:    func(*Thread) ToolSpec { return toolspec.RecallSpec },
		offered: (*Thread).recalls,
		decode: func(_ *step, c *toolCall) (callKind, error) {
			call, err := toolspec.ParseRecall(c.call.Arguments)
			return &recallCall{RecallCall: call}, err
		},
	}
}

// recallCall is a call of recall.
type recallCall struct {
	toolspec.RecallCall
	// included is the text about included items, or ""; found are the hits in the thread.
	included string
	found    []string
}

func (k *recallCall) readsOnly(*step) bool { return false }

// recallInShell returns the call of recall that a command is. It returns false in a review, and in threads without
// automatic edits: there, recall can be a program of the user.
func (s *step) recallInShell(c *shellCommand) (toolspec.RecallCall, bool) {
	call, ok := c.Recall()
	return call, ok && s.reviewing() == nil && (s.economizes || s.wasEconomized())
}

// start includes items again, and searches.
func (k *recallCall) start(s *step, c *toolCall) {
	if len(k.IDs) > 0 {
		k.included = s.includeAgain(k.IDs)
	}
	if k.Query == "" {
		s.completeCall(c, k.included)
		return
	}
	k.found = s.searchRemoved(k.Query)
	if !s.searchesMemory() {
		s.completeCall(c, k.output(k.found))
		return
	}
	s.effect(Recall{ID: s.runCall(c), Cwd: s.state.Settings.Cwd, Query: k.Query, Limit: recallHits})
}

// recallDone completes a call with its hits.
func (s *step) recallDone(in Recalled) {
	c, k := endedCall[*recallCall](s, in.Effect)
	if c == nil {
		return
	}
	output := abortedOutputText
	if !s.isEnding() {
		output = k.output(slices.Concat(k.found, k.remembered(in)))
	}
	s.completeCall(c, output)
	s.effectOfCallEnded()
}

// remembered returns the hits in the memory, or the reason why it cannot be searched.
func (k *recallCall) remembered(in Recalled) (found []string) {
	for _, m := range in.Found {
		about := strings.Join(digest.About(m.Text, k.Query, recallExcerpt), " ")
		found = append(found, fmt.Sprintf("%s (%s, %s): %s",
			cmp.Or(m.Title, "untitled"), m.Kind, m.At.UTC().Format("2006-01-02"), about))
	}
	if in.Err != nil {
		found = append(found, fmt.Sprintf("The memories of this repository cannot be searched: %v", in.Err))
	}
	return found
}

// output returns the output of a call.
func (k *recallCall) output(found []string) string {
	if len(found) == 0 {
		found = []string{"Nothing found. Try other words."}
	}
	if k.included != "" {
		found = slices.Insert(slices.Clone(found), 0, k.included)
	}
	return strings.Join(found, "\n\n")
}

// includeAgain includes excluded and removed items with an edit. Undo can reverse it.
func (s *step) includeAgain(ids []string) string {
	var places []int
	var said []string
	left := s.outputTokens()
	for _, id := range ids {
		place, found := s.context.Find(id)
		refused := "There is no such item."
		if found {
			refused = s.notIncludable(place, left)
		}
		switch {
		case refused != "":
			said = append(said, fmt.Sprintf("%s cannot be included. %s", id, refused))
		case s.context.Item(place).Kept():
			said = append(said, id+" is in the conversation already.")
		default:
			places, left = append(places, place), left-s.context.Cost(place)
			said = append(said, id+" is in the conversation again, at its old position.")
		}
	}
	if places = slices.Compact(slices.Sorted(slices.Values(places))); len(places) > 0 {
		s.contextChanged(s.commitEdit(s.context.Encode(history.Plan{Op: protocol.EditInclude, Places: places})))
	}
	return strings.Join(said, "\n")
}

// notIncludable returns the reason why the model cannot include an item, or "". The model cannot include an item that
// the user deleted. A call and its output return together, so both must not be deleted. In a known context window, the
// items of one call of recall have the room of an output.
func (s *step) notIncludable(place int, left int64) string {
	c, half := s.context.Item(place), s.context.ReturningHalf(place)
	switch {
	case c.Deleted(), half != none && s.context.Item(half).Deleted():
		return "The user deleted it, or the other half of its call."
	case !c.Kept() && s.outputTokens() > 0 && s.context.Cost(place) > left:
		return fmt.Sprintf("It has %d tokens, and this call can include %d more: search it by words.",
			s.context.Cost(place), max(left, 0))
	case c.Listed():
		return ""
	}
	return s.context.NotReturnable(place)
}

// searchRemoved finds items that are not in the prompt, best first, then newest first. Of items with the same sentences
// about the query, such as reads of one file, it returns the best one.
func (s *step) searchRemoved(query string) (found []string) {
	ranking := digest.NewRanking(query)
	places := s.rankRemoved(ranking)
	seen := map[string]bool{}
	for _, text := range ranking.Best(recallTried) {
		c, how := s.context.Item(places[text]), "removed with an earlier part of the conversation"
		switch {
		case c.Kept():
			how = "cut"
		case c.Listed():
			how = "excluded"
		}
		about := aboutItem(s.wholeText(places[text]), query)
		if seen[about] {
			continue
		}
		seen[about] = true
		if found = append(found, fmt.Sprintf("%s (%s): %s", c.ID(), how, about)); len(found) == recallHits {
			break
		}
	}
	return found
}

// rankRemoved adds the items that are not in the prompt to a ranking, and outputs of which it has a part, the newest
// first, and returns their places. The subject of an output is its call, which has the names of files.
func (s *step) rankRemoved(ranking *digest.Ranking) (places []int) {
	outputs := map[string]int{} // the text of the last output of a call, by the id of the call
	size := 0
	for i := s.context.Len() - 1; i >= 0 && size < recallDepth; i-- {
		c := s.context.Item(i)
		if c.IsCall() {
			if text, ranked := outputs[c.CallID()]; ranked {
				size += int(c.Size())
				ranking.Subject(text, history.ContentText(c.Decode()))
				delete(outputs, c.CallID())
			}
			continue
		}
		reverted := c.TurnID() != "" && s.state.TurnIndex(c.TurnID()) < 0
		if c.Deleted() || c.Kept() && !s.isCut(i) || c.IsNotice() || c.IsSummary() || reverted {
			continue
		}
		size += int(c.Size())
		text := ranking.Add()
		places = append(places, i)
		ranking.Append(text, s.wholeText(i))
		if c.IsOutput() {
			outputs[c.CallID()] = text
		}
	}
	return places
}

// aboutItem returns the sentences of a text about a query, or the start of an output that only its call is about.
func aboutItem(text, query string) string {
	if digest.Shared(text, query) == 0 {
		return excerpt.Line(excerpt.FirstRunes(text, recallExcerpt))
	}
	return strings.Join(digest.About(text, query, recallExcerpt), " ")
}

// Recall searches the memory. It ends with Recalled.
type Recall struct {
	ID    EffectID
	Cwd   string
	Query string
	Limit int
	// Unasked is set for a reminder. Poor matches are left out then.
	Unasked bool
}

func (Recall) effect() {}
