package forward_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// TestEachRequestGetsOneResponseWhileOwnersChange sends requests while the owner changes and links fail.
func TestEachRequestGetsOneResponseWhileOwnersChange(t *testing.T) {
	owners := []*node{newNode(t, "a"), newNode(t, "b"), newNode(t, "c")}
	e := newEdge(t, owners...)
	served := make(chan string, 1000)
	serve := func(n *node) func(to protocol.Caller, p *protocol.TurnStartParams) error {
		return func(to protocol.Caller, p *protocol.TurnStartParams) error {
			if *e.owner.Load() != n.id {
				return protocol.Refuse(protocol.KindStaleOwner, "not here")
			}
			text := p.Input[0].UserInputVariant.(*protocol.TextInput).Text
			served <- text
			n.Reply(to, map[string]any{"text": text})
			return nil
		}
	}
	e.handler.turn = func(protocol.Caller, *protocol.TurnStartParams) error {
		return protocol.Refuse(protocol.KindStaleOwner, "not here")
	}
	for _, n := range owners {
		n.turn = serve(n)
	}
	e.own("a")
	e.follow()
	random := rand.New(rand.NewPCG(1, 2))
	sent := map[string]string{} // texts by id
	lost, answered := 0, map[string]bool{}
	read := func() {
		m := e.read(e.client)
		id := m.Get("id").Raw
		require.Contains(t, sent, id)
		require.NotContains(t, answered, id)
		answered[id] = true
		if m.Get("error").Exists() {
			require.Equal(t, "ownerLost", m.Get("error.data.kind").Str)
			lost++
			return
		}
		require.Equal(t, sent[id], m.Get("result.text").Str)
	}
	for i := range 600 {
		text := fmt.Sprint("text ", i)
		sent[fmt.Sprint(e.start(text))] = text
		switch owner := owners[random.IntN(len(owners))]; random.IntN(40) {
		case 0, 1:
			e.own(owner.id)
		case 2:
			cut(owner)
		}
		for len(sent)-len(answered) > 30 {
			read()
		}
	}
	for len(answered) < len(sent) {
		read()
	}
	require.Less(t, lost, len(sent)/2)
	close(served)
	times := map[string]int{}
	for text := range served {
		times[text]++
		require.Equal(t, 1, times[text], text)
	}
}

// cut ends all links of a node.
func cut(n *node) {
	for len(n.links) > 0 {
		(<-n.links).Close()
	}
}
