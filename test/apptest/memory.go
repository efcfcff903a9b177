package apptest

import (
	"encoding/json"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// RandomWords returns n words from a vocabulary of some thousand words.
func RandomWords(random *rand.Rand, n int) string {
	text := make([]byte, 0, 8*n)
	for range n {
		for range 2 + random.IntN(2) {
			text = append(text, "bcdfglmnprst"[random.IntN(12)], "aeiou"[random.IntN(5)])
		}
		text = append(text, ' ')
	}
	return string(text)
}

// MemoryFlags enable the memory.
var MemoryFlags = []string{"-c", "memory.summarize_on_prune=true", "-c", "memory.inject=true"}

// UntilIndexed reads until the code index is idle and done reports true for it.
func (c *Client) UntilIndexed(done func(protocol.MemoryCodeIndex) bool) (p protocol.MemoryCodeIndex) {
	c.T.Helper()
	c.Until(func(m Message) bool {
		if m.Method != "memory/index/progress" {
			return false
		}
		require.NoError(c.T, json.Unmarshal(m.Params, &p))
		return p.Phase == "idle" && done(p)
	})
	return p
}

// MemorySearch calls memory/search.
func (c *Client) MemorySearch(p Object) (r protocol.MemorySearchResponse) {
	c.T.Helper()
	require.NoError(c.T, json.Unmarshal(c.Call("memory/search", p), &r))
	return r
}
