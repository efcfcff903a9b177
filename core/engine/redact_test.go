package engine_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// hiding is a redactor of one word; "" hides nothing.
type hiding string

func (h hiding) Line(line protocol.RolloutLine) protocol.RolloutLine {
	line.Payload = bytes.ReplaceAll(line.Payload, []byte(h), []byte("[gone]"))
	return line
}

func (h hiding) Text(text string) string { return strings.ReplaceAll(text, string(h), "[gone]") }

// TestTheDiskGetsLessThanTheModel checks that secrets reach the model and the client of a live thread,
// but no file, and neither of them after a reload.
func TestTheDiskGetsLessThanTheModel(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.hide = "pssst"
		id := r.begin(1)
		r.turn(1, id, "say pssst")
		r.turn(1, id, "say more")
		next, err := json.Marshal(r.agent.asked()[1])
		require.NoError(t, err)
		require.Contains(t, string(next), "pssst", "the next request has it")
		require.Contains(t, r.ask(1, read(id)).Raw, "say pssst")
		requireHidden(t, r)

		full := r.disk.fail(errFull, writes...)
		require.Equal(t, protocol.KindStorage, r.rejected(1, setName(id, "n")))
		full.heal()
		require.NotContains(t, r.ask(1, read(id)).Raw, "pssst", "the thread was loaded anew")
		r.leaveAndResume(id)
		got := r.ask(1, read(id))
		require.Contains(t, got.Raw, "say [gone]")
		require.Len(t, got.Get("thread.turns").Array(), 2)
		requireHidden(t, r)
	})
}

// TestAForkHidesWhatItsOriginHeld: the origin was written before anything was hidden.
func TestAForkHidesWhatItsOriginHeld(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "say pssst")
		r.setup.hide = "pssst"
		forked := r.ask(1, fork(id)).Get("thread.id").Str
		for _, path := range rolloutsOf(r.mem, forked) {
			require.NotContains(t, get(t, r, path), "pssst", path)
		}
	})
}

func requireHidden(t *testing.T, r *rig) {
	t.Helper()
	for _, path := range r.mem.Files(home) {
		require.NotContains(t, get(t, r, path), "pssst", path)
	}
}
