package economy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/economy"
	"appserver/core/pure/history"
	"appserver/protocol"
)

// session builds a history from turns.
type session struct {
	t       *testing.T
	h       history.History
	ordinal int64
	turn    int
	calls   int
}

func (s *session) add(item protocol.ResponseItemVariant) string {
	s.t.Helper()
	raw, err := protocol.Marshal(protocol.ResponseItem{ResponseItemVariant: item})
	require.NoError(s.t, err)
	s.ordinal++
	s.h.Add(&history.Line{RolloutLine: protocol.RolloutLine{Type: protocol.LineResponseItem, Payload: raw},
		Ordinal: s.ordinal, TurnID: fmt.Sprintf("turn-%d", s.turn)})
	return fmt.Sprintf("r%d", s.ordinal)
}

// user begins a turn.
func (s *session) user(text string) {
	s.turn++
	s.add(&protocol.Message{Role: protocol.RoleUser, Content: []protocol.ContentItem{{Type: "input_text", Text: text}}})
}

func (s *session) answer(text string) string {
	return s.add(&protocol.Message{Role: protocol.RoleAssistant,
		Content: []protocol.ContentItem{{Type: "output_text", Text: text}}})
}

// run adds a shell call and its output, and returns the id of the output.
func (s *session) run(script, output string) string {
	s.calls++
	id := fmt.Sprintf("call_%d", s.calls)
	arguments, _ := json.Marshal(map[string]string{"command": script})
	s.add(&protocol.FunctionCall{Name: "shell", CallID: id, Arguments: string(arguments)})
	return s.add(&protocol.FunctionCallOutput{CallID: id, Output: protocol.ToolOutput{Text: output}})
}

// fill adds turns until nothing before them is protected.
func (s *session) fill() {
	for i := range 5 {
		s.user(fmt.Sprintf("task %d", i))
		s.run(fmt.Sprintf("echo %d", i), fmt.Sprintf("Exit code: 0\nOutput:\n%d", i))
		s.answer("Done.")
	}
}

// few adds as many outputs as are always kept.
func (s *session) few() {
	for i := range 3 {
		s.run(fmt.Sprintf("echo few %d", i), "few")
	}
}

func (s *session) find() map[string]protocol.SuggestionReason {
	found := map[string]protocol.SuggestionReason{}
	for _, f := range economy.Find(&s.h, economy.Options{Cwd: "/repo", KeepOutputs: 3}) {
		for _, place := range f.Places {
			found[s.h.Item(place).ID()] = f.Reason
		}
	}
	return found
}

// long returns a text that costs more than any threshold.
func long(about string) string {
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("%s: line %d has its own text", about, i))
	}
	return strings.Join(lines, "\n")
}

func TestFindNamesOutputsThatLaterItemsReplace(t *testing.T) {
	s := &session{t: t}
	s.user("look at the code")
	superseded := s.run("sed -n '1,60p' a.go", long("a.go"))
	stale := s.run("cat /repo/b.go", long("b.go"))
	failed := s.run("go test ./...", "Exit code: 1\n"+long("FAIL"))
	repeated := s.run("git status", "Exit code: 0\n"+long("modified"))
	duplicate := s.run("ls one", long("same"))
	s.user("change it")
	s.run("cat a.go", long("a.go, newer"))
	s.run("sed -i s/x/y/ b.go", "Exit code: 0")
	s.run("go test ./...", "Exit code: 0\nok")
	s.run("git status", "Exit code: 0\n"+long("clean"))
	s.run("ls two", long("same"))
	s.answer("Done.")
	s.fill()

	found := s.find()
	require.Equal(t, protocol.SuggestSupersededRead, found[superseded])
	require.Equal(t, protocol.SuggestStaleRead, found[stale])
	require.Equal(t, protocol.SuggestFailedAttempt, found[failed])
	require.Equal(t, protocol.SuggestRepeatedCommand, found[repeated])
	require.Equal(t, protocol.SuggestDuplicateOutput, found[duplicate])
}

func TestFindNamesOutputsThatNothingUses(t *testing.T) {
	s := &session{t: t}
	s.user("look")
	unused := s.run("rg handler", long("handler"))
	patched := s.run("cat c.go", long("c.go"))
	short := s.run("pwd", "/repo")
	s.fill()
	s.user("patch")
	s.run("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: c.txt\n-c.go: line 7 has its own text\n*** End Patch\nEOF", "ok")
	s.few()

	found := s.find()
	require.Equal(t, protocol.SuggestUncitedOutput, found[unused])
	require.NotContains(t, found, patched, "a later patch has a line of it")
	require.NotContains(t, found, short)
}

func TestThePlaceholderOfAFailureHasItsCause(t *testing.T) {
	s := &session{t: t}
	s.user("test it")
	s.run("go test ./...", "Exit code: 1\nOutput:\na_test.go:7: want 3, got 4\n"+long("FAIL"))
	s.fill()
	findings := economy.Find(&s.h, economy.Options{Cwd: "/repo", KeepOutputs: 3})
	candidates := economy.Candidates(&s.h, findings, 0, true)
	require.Equal(t, "exit 1: a_test.go:7: want 3, got 4; $ recall r3", candidates[0].Note)
	require.Empty(t, economy.Candidates(&s.h, findings, 0, false)[0].Note)
}

func TestFindNamesOutputsThatNothingUsedOfLate(t *testing.T) {
	s := &session{t: t}
	s.user("look")
	quoted := s.run("cat a.go", long("a.go"))
	patched := s.run("cat b.txt", long("b.txt"))
	s.answer("It says: a.go: line 12 has its own text.")
	s.fill()
	s.run("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: c.go\n-b.txt: line 7 has its own text\n*** End Patch\nEOF", "ok")
	s.few()
	require.NotContains(t, s.find(), patched, "a patch used it within six outputs")
	s.fill()
	found := s.find()
	require.Equal(t, protocol.SuggestOldOutput, found[patched])
	require.NotContains(t, found, quoted, "an answer quotes it")

	expired := map[int]protocol.SuggestionReason{}
	for _, f := range economy.Find(&s.h, economy.Options{Cwd: "/repo", KeepOutputs: 3, QuotesExpire: true}) {
		for _, place := range f.Places {
			expired[place] = f.Reason
		}
	}
	place, _ := s.h.Find(quoted)
	require.Equal(t, protocol.SuggestOldOutput, expired[place])
}

func TestFindLeavesWhatMustStay(t *testing.T) {
	s := &session{t: t}
	s.user(long("what the user wrote"))
	quoted := s.run("cat a.go", long("a.go"))
	spanned := s.run("go vet ./...", "Exit code: 1\n"+long("vet")+"\nb.go:7: unreachable code here\n")
	pinned := s.run("cat p.go", long("p.go"))
	s.answer("It says: a.go: line 12 has its own text. And `b.go:7: unreachable code here`.")
	s.few()
	s.user("again")
	last := s.run("cat z.go", long("z.go"))
	s.run("cat z.go", long("z.go"))
	place, _ := s.h.Find(pinned)
	s.edit(&protocol.Pin{ContextTargets: protocol.ContextTargets{IDs: []string{pinned}}, Pinned: true})
	require.True(t, s.h.Item(place).Pinned())

	found := s.find()
	for name, id := range map[string]string{"quoted": quoted, "code span": spanned, "pinned": pinned, "last": last} {
		require.NotContains(t, found, id, name)
	}
}

// edit applies an operation.
func (s *session) edit(o protocol.ContextOperationVariant) {
	s.t.Helper()
	p, err := s.h.Plan(o, nil)
	require.Nil(s.t, err)
	raw, marshalErr := protocol.Marshal(s.h.Encode(p))
	require.NoError(s.t, marshalErr)
	s.ordinal++
	s.h.ApplyEdit(&history.Line{RolloutLine: protocol.RolloutLine{Type: protocol.LineContextEdit, Payload: raw},
		Ordinal: s.ordinal})
}

func TestFindLeavesWhatTheUserBroughtBack(t *testing.T) {
	s := &session{t: t}
	s.user("look")
	unused := s.run("rg handler", long("handler"))
	s.fill()
	s.edit(&protocol.SetInclusion{ContextTargets: protocol.ContextTargets{IDs: []string{unused}}})
	s.edit(&protocol.SetInclusion{ContextTargets: protocol.ContextTargets{IDs: []string{unused}}, Included: true})
	require.Empty(t, economy.Find(&s.h, economy.Options{KeepOutputs: 3, Skip: s.h.BroughtBack()}))
}

func TestShortThreadsHaveNoFindings(t *testing.T) {
	s := &session{t: t}
	s.user("look")
	s.run("cat a.go", long("a.go"))
	s.run("cat a.go", long("a.go"))
	require.Empty(t, s.find())
	require.Empty(t, economy.Find(&history.History{}, economy.Options{}))
}

func TestChooseWeighsTheCacheAgainstTheSavings(t *testing.T) {
	candidates := []economy.Candidate{{Place: 1, Before: 1000, Saves: 100}, {Place: 5, Before: 9000, Saves: 900}}
	cold := economy.Prices{Ratio: 0.1, Expected: 1}
	chosen, leaving, saves := cold.Choose(candidates, 0)
	require.Equal(t, []any{2, int64(0), int64(1000)}, []any{len(chosen), leaving, saves})

	warm := economy.Prices{Cached: 10_000, Ratio: 0.1, Expected: 10}
	chosen, leaving, saves = warm.Choose(candidates, 1000)
	require.Equal(t, []any{1, int64(100), int64(900)}, []any{len(chosen), leaving, saves},
		"the first item costs more than it saves")

	exact := economy.Prices{Cached: 20_000, Ratio: 0.1, Expected: 200}
	chosen, _, _ = exact.Choose(candidates[1:], 9000)
	require.Len(t, chosen, 1, "10,100 tokens cost 9,090 more, and 900 fewer cost 90 less")
	chosen, _, saves = exact.Choose(candidates[1:], 8999)
	require.Equal(t, []any{0, int64(0)}, []any{len(chosen), saves}, "it costs more than is allowed")

	charged := economy.Prices{Cached: 10_000, Ratio: 0.1, Write: 1.25, Expected: 10}
	require.InDelta(t, 115, charged.Cost(100), 1e-9, "the tokens are written to the cache again")
	chosen, _, _ = charged.Choose(candidates, 20)
	require.Empty(t, chosen)

	few := economy.Prices{Cached: 90_000, Ratio: 0.1, Expected: 10}
	chosen, _, _ = few.Choose(candidates, 1e9)
	require.Empty(t, chosen)
}
