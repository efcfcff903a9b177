package core

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// wrongChange is an input that changes the state of a turn in a way that the table does not have.
type wrongChange struct{ change func(s *step) }

func (in wrongChange) apply(s *step) { in.change(s) }

// TestWrongStateIsAFault: a change without a row, and a turn that waits for nothing, have no output that can be used.
func TestWrongStateIsAFault(t *testing.T) {
	for want, change := range map[string]func(s *step){
		"cannot become": func(s *step) { s.becomeDelayed() },
		"is preparing":  func(s *step) { s.active.request = &modelRequest{effect: 1} },
		"is requesting": func(s *step) { s.becomeRequesting(&modelRequest{effect: 99}) },
		"is ending":     func(s *step) { s.becomeEnding(protocol.TurnFailed, nil); s.active.modelEffects = nil },
	} {
		thread := Load("t", Options{}, Settings{Cwd: "/repo"}, nil)
		stamp := Stamp{Now: time.Unix(1000, 0), NewID: func() string { return "id" }}
		begin := TurnStart{Params: &protocol.TurnStartParams{Input: plainInput("hello")}, Env: TurnEnv{ToolsPending: true}}
		require.NoError(t, thread.Step(stamp, Start{Settings: thread.Settings()}).Fault)
		require.NoError(t, thread.Step(stamp, begin).Fault)
		require.ErrorContains(t, thread.Step(stamp, wrongChange{change}).Fault, want)
	}
}
