//go:build reference

package interchange

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// TestReferenceInterchangeCorpus continues a thread of each released version here, and then with
// the reference.
func TestReferenceInterchangeCorpus(t *testing.T) {
	x := newInterchange(t)
	config, err := os.ReadFile(filepath.Join(x.home, "config.toml"))
	require.NoError(t, err)
	apptest.WriteConfig(t, x.home, string(config)+
		fmt.Sprintf("[model_providers.mock]\nname = \"mock\"\nbase_url = %q\n", x.model.server.URL+theirRequests+"/v1"))
	x.providers = append(x.providers, "mock")
	ids := apptest.PutCorpus(t, x.home)
	prompts := map[string][]string{}
	c := x.ours()
	for version, id := range ids {
		c.Call("thread/resume", apptest.Object{"threadId": id, "cwd": x.project})
		require.Equal(t, "completed", c.Turn(id, "third").Status, version)
		prompts[version] = x.model.conversation(ourRequests)
	}
	c.Close()
	c = x.reference()
	for version, id := range ids {
		c.Call("thread/resume", apptest.Object{"threadId": id, "cwd": x.project})
		require.Equal(t, "completed", c.Turn(id, "fourth").Status, version)
		require.Equal(t, append(prompts[version], "assistant: answer to third", "user: fourth"),
			x.model.conversation(theirRequests),
			version)
	}
	c.Close()
}
