package state_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/state"
	"appserver/protocol"
)

// apply applies lines, each given by its type and its payload.
func apply(s *state.State, lines ...string) {
	for i := 0; i < len(lines); i += 2 {
		s.Apply(&protocol.RolloutLine{
			Timestamp: "2026-01-02T03:04:05.000Z", Type: lines[i], Payload: json.RawMessage(lines[i+1]),
		})
	}
}

// twoTurns returns the lines of a thread with two turns of one message each.
func twoTurns() []string {
	lines := []string{protocol.LineSessionMeta, `{"id":"thread","cwd":"/repo","model_provider":"one"}`}
	for _, turn := range []string{"t1", "t2"} {
		lines = append(lines,
			protocol.LineEventMsg, `{"type":"task_started","turn_id":"`+turn+`"}`,
			protocol.LineResponseItem, `{"type":"message","role":"user","content":[{"type":"input_text","text":"`+turn+`"}]}`,
			protocol.LineEventMsg, `{"type":"task_complete","turn_id":"`+turn+`"}`)
	}
	return lines
}

// TestUnreadableLinesOnlyCount expects that a damaged line costs an ordinal and nothing else.
func TestUnreadableLinesOnlyCount(t *testing.T) {
	s := state.New("thread", state.Settings{Model: "m"}, nil)
	apply(s, protocol.LineTurnContext, `{"model":`, "unknown", `{}`, protocol.LineResponseItem, `[1]`,
		protocol.LineTurnContext, `{"model":17}`)
	require.EqualValues(t, 4, s.Next)
	require.Equal(t, 4, s.Lines())
	require.Equal(t, "m", s.Settings.Model)
	require.Zero(t, s.Context.Len())
}

// TestOrdinalsOfLinesTakePrecedenceOverTheirCount expects gaps where lines are missing.
func TestOrdinalsOfLinesTakePrecedenceOverTheirCount(t *testing.T) {
	s := state.New("thread", state.Settings{}, nil)
	s.Apply(&protocol.RolloutLine{Ordinal: new(int64(0)), Type: "unknown"})
	require.False(t, s.Disordered)
	s.Apply(&protocol.RolloutLine{Ordinal: new(int64(7)), Type: "unknown"})
	require.EqualValues(t, 8, s.Next)
	s.Apply(&protocol.RolloutLine{Ordinal: new(int64(3)), Type: "unknown"})
	require.EqualValues(t, 9, s.Next, "an ordinal never decreases")
	require.True(t, s.Disordered, "ordinals do not identify lines any more")
}

// TestTheFirstMetaCounts expects that a fork keeps its own meta, not the one of its parent.
func TestTheFirstMetaCounts(t *testing.T) {
	s := state.New("", state.Settings{}, nil)
	apply(s, protocol.LineSessionMeta, `{"id":"fork","cwd":"/a"}`, protocol.LineSessionMeta, `{"id":"parent","cwd":"/b"}`)
	require.Equal(t, "fork", s.ID)
	require.Equal(t, "/a", s.Settings.Cwd)
}

// TestMissingSettingsKeepTheirValue expects it of both forms in which settings are stored.
func TestMissingSettingsKeepTheirValue(t *testing.T) {
	s := state.New("thread", state.Settings{Model: "m", Provider: "p"}, nil)
	apply(s, protocol.LineTurnContext, `{"cwd":"/a"}`,
		protocol.LineEventMsg, `{"type":"thread_settings_applied","thread_settings":{"model":"n"}}`)
	require.Equal(t, "/a", s.Settings.Cwd)
	require.Equal(t, "n", s.Settings.Model)
	require.Equal(t, "p", s.Settings.Provider)
	require.True(t, s.ModelRecorded)
	require.False(t, s.ProviderRecorded)
}

// TestRollbackRevertsTurnsAndContext expects both parts to lose the turn.
func TestRollbackRevertsTurnsAndContext(t *testing.T) {
	s := state.New("thread", state.Settings{}, nil)
	apply(s, twoTurns()...)
	require.Equal(t, "t2", s.CurrentTurn())
	require.Len(t, s.Context.Prompt(), 2)

	apply(s, protocol.LineEventMsg, `{"type":"thread_rolled_back","num_turns":1}`)
	require.Equal(t, "t1", s.CurrentTurn())
	require.Len(t, s.Context.Prompt(), 1)
}

// TestTrimPlanNamesTheTurnsThatItRemoves plans a trim before the message of the second turn.
func TestTrimPlanNamesTheTurnsThatItRemoves(t *testing.T) {
	s := state.New("thread", state.Settings{}, nil)
	apply(s, twoTurns()...)
	p := s.PlanTrim(state.Trim{ID: "point", Reason: protocol.TrimAsked, Place: s.Context.LastTurns(1)})
	require.Equal(t, []string{"t1"}, p.PrunedTurnIDs)
	require.Equal(t, s.StartOf(1), p.Boundary)
}

// TestACheckpointForgetsOthers expects the checkpoints that a later one names to be gone.
func TestACheckpointForgetsOthers(t *testing.T) {
	s := state.New("thread", state.Settings{}, nil)
	apply(s, protocol.LineCheckpoint, `{"id":"a","kind":"turn"}`,
		protocol.LineWorktreeChanges, `{"id":"t1","root":"/r","changes":[]}`,
		protocol.LineCheckpoint, `{"id":"b","kind":"turn","forgets":["a"]}`)
	require.Equal(t, -1, s.CheckpointIndex("a"))
	require.Equal(t, 0, s.CheckpointIndex("b"))
	require.Equal(t, 1, s.Checkpoints[0].Behind)
	require.Len(t, s.ChangesOf("t1"), 1)
}

// TestTheNewerNameCounts compares the name in the rollout with the name that other programs stored.
func TestTheNewerNameCounts(t *testing.T) {
	for name, want := range map[string]string{"2026-01-02T00:00:00Z": "ours", "2026-01-03T00:00:00Z": "theirs"} {
		s := state.New("thread", state.Settings{}, nil)
		apply(s, protocol.LineEventMsg, `{"type":"thread_name_updated","thread_name":"ours"}`)
		s.FinishLoad(0, "theirs", protocol.ParseTimestamp(name))
		require.Equal(t, want, s.Name)
	}
}

// waitingTurn returns the lines of a turn with two calls that waits for an answer about the first one.
func waitingTurn() []string {
	return append(twoTurns(), protocol.LineEventMsg, `{"type":"task_started","turn_id":"t3"}`,
		protocol.LineResponseItem, `{"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"}`,
		protocol.LineResponseItem, `{"type":"function_call","name":"shell","arguments":"{}","call_id":"c2"}`,
		protocol.LineTurnWaiting, `{"turn_id":"t3","call_id":"c1","asked_at":7}`)
}

// TestATurnWaitsUntilALineEndsTheWait expects that a turn is resumable exactly if its last lines leave nothing
// but the answer to wait for.
func TestATurnWaitsUntilALineEndsTheWait(t *testing.T) {
	for name, tt := range map[string]struct {
		more      []string
		resumable bool
	}{
		"asked":              {nil, true},
		"named":              {[]string{protocol.LineEventMsg, `{"type":"thread_name_updated","thread_name":"n"}`}, true},
		"output of another":  {[]string{protocol.LineResponseItem, `{"type":"function_call_output","call_id":"c2","output":""}`}, true},
		"output":             {[]string{protocol.LineResponseItem, `{"type":"function_call_output","call_id":"c1","output":""}`}, false},
		"answered":           {[]string{protocol.LineTurnWaiting, `{"turn_id":"t3"}`}, false},
		"aborted":            {[]string{protocol.LineEventMsg, `{"type":"turn_aborted","turn_id":"t3"}`}, false},
		"completed":          {[]string{protocol.LineEventMsg, `{"type":"task_complete","turn_id":"t3"}`}, false},
		"another turn":       {[]string{protocol.LineEventMsg, `{"type":"task_started","turn_id":"t4"}`}, false},
		"reverted":           {[]string{protocol.LineEventMsg, `{"type":"thread_rolled_back","num_turns":1}`}, false},
		"wait of a call":     {[]string{protocol.LineTurnWaiting, `{"turn_id":"t3","call_id":"c2"}`}, false},
		"wait of an old one": {[]string{protocol.LineTurnWaiting, `{"turn_id":"t2","call_id":"c1"}`}, false},
		"damaged":            {[]string{protocol.LineTurnWaiting, `{"turn_id":3}`}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := state.New("thread", state.Settings{}, nil)
			apply(s, append(waitingTurn(), tt.more...)...)
			require.Equal(t, tt.resumable, s.Resumable() != nil)
		})
	}
}

// request returns a token_count line of a request with a usage.
func request(model, kind string, revision int, usage string) string {
	if usage != "" {
		usage = `,"usage":` + usage
	}
	return `{"type":"token_count","request":{"kind":"` + kind + `","model_provider":"p","model":"` + model +
		`","revision":` + strconv.Itoa(revision) + usage + `}}`
}

func TestSpendingIsKeptByModelWithWhatEditsSaved(t *testing.T) {
	s := state.New("thread", state.Settings{}, nil)
	apply(s, twoTurns()...)
	used := `{"input_tokens":100,"cached_input_tokens":80,"output_tokens":5,"total_tokens":105}`
	id := s.Context.Item(0).ID()
	apply(s, protocol.LineEventMsg, request("a", protocol.RequestTurn, 0, used),
		protocol.LineContextEdit, `{"op":"exclude","revision":1,"ids":["`+id+`"],"saved_tokens":30}`,
		protocol.LineEventMsg, request("a", protocol.RequestTurn, 1, used),
		protocol.LineEventMsg, request("b", protocol.RequestTurn, 1, used),
		protocol.LineEventMsg, request("b", protocol.RequestTurn, 0, used), // sent before the edit
		protocol.LineEventMsg, request("b", protocol.RequestReview, 1, used),
		protocol.LineEventMsg, request("b", protocol.RequestTurn, 1, "")) // failed
	byModel, all, saved := s.Spending()
	inputs := map[string]int64{}
	for m, tokens := range byModel {
		inputs[m.Provider+"/"+m.Name] = tokens.InputTokens
	}
	require.Equal(t, map[string]int64{"p/a": 200, "p/b": 300}, inputs)
	require.EqualValues(t, 500, all.InputTokens)
	require.EqualValues(t, 60, saved, "two requests of turns were sent with the edit")
	require.EqualValues(t, 30, s.SavedIn(s.Request(1)))
	require.Zero(t, s.SavedIn(s.Request(4)), "a review does not send the context")
}
