package core_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core"
	"appserver/protocol"
	"appserver/test/sample"
)

func promptOf(p *core.Prompt) string {
	return p.Model + p.Instructions + canonical(encode(p.Items)) + encode(p.Tools) + encode(p.WebSearch)
}

// TestAnyRequestIsRebuiltFromTheLinesBeforeIt rebuilds all requests of a thread with any inputs, edits and
// crashes. Each is one that was sent, and none is rebuilt twice.
func TestAnyRequestIsRebuiltFromTheLinesBeforeIt(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		e := newExplorer(t)
		t.Repeat(e.actions())
		e.end()
		sent := slices.Clone(e.checker.sent)
		for _, r := range e.usage(t).Data {
			past, err := e.thread.PastRequest(r.RequestID)
			if err != nil || past.Missing != "" {
				t.Fatalf("request %s: %v %s", r.RequestID, err, past.Missing)
			}
			l := core.BeginLoad(threadID, e.settings, nil)
			for i := range e.lines {
				if *e.lines[i].Ordinal < past.From {
					l.Apply(&e.lines[i])
				}
			}
			prompt, _ := l.PastPrompt(e.options, past)
			got := promptOf(prompt)
			at := slices.Index(sent, got)
			if at < 0 {
				t.Fatalf("request %s of %s was not sent:\n%s\nbut\n%q", r.RequestID, past.Kind, got, sent)
			}
			sent = slices.Delete(sent, at, at+1)
		}
	})
}

// usage returns the list of all model requests.
func (e *explorer) usage(t *rapid.T) protocol.ThreadUsageListResponse {
	out := e.take(core.ListUsage{To: e.caller(), Limit: new(uint32(1000))})
	return out.Messages[0].(core.Reply).Result.(protocol.ThreadUsageListResponse)
}

func TestRequestsThatAreNotKnownAreRejected(t *testing.T) {
	m := newMachine(t.Errorf)
	m.take(core.Start{To: m.caller(), Meta: protocol.SessionMeta{ID: threadID}, Settings: m.settings, Options: m.options,
		Env: m.world})
	for _, id := range []string{"m7", "m0", "m07", "", "r1", "m-1", "m99999999999999999999"} {
		_, err := m.thread.PastRequest(id)
		require.Equal(t, protocol.KindRequestNotFound, err.Data.Kind, id)
	}
}
