package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// TestDeepNestingIsRejected sends 100,000 brackets in every input. Each is rejected with a message
// or ignored, with memory of a few times its size, and the server continues.
func TestDeepNestingIsRejected(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesLines)
	t.Parallel()
	const depth = 100_000
	lists, members := strings.Repeat("[", depth), strings.Repeat(`{"a":`, depth)
	whole := lists + strings.Repeat("]", depth)
	p := apptest.NewProvider(t, apptest.TextAnswer("one"), apptest.ToolAnswer("x", "shell", `{"command":`+whole+`}`),
		apptest.TextAnswer("two"), apptest.ToolAnswer("y", "shell", members), apptest.TextAnswer("three"))
	home := p.Home(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	id := c.StartTrusted()
	require.Equal(t, "completed", c.Turn(id, "first").Status)
	base := restingKiB(c, id)

	for _, line := range []string{lists, members, whole, `{"id":1,"method":"model/list","params":` + lists,
		`{"id":1,"method":"model/list","params":{"x":` + whole + `}}`} {
		c.Write(line)
		m := c.Until(func(m apptest.Message) bool { return m.Method == "" && string(m.ID) == "null" })
		require.Contains(t, []int{-32700, -32600}, m.Error.Code)
		require.Less(t, len(m.Line), 1000)
	}
	const taken = 9_000 // below the maximum depth of JSON
	inside := strings.Repeat("[", taken) + strings.Repeat("]", taken)
	for _, method := range []string{"thread/start", "turn/start", "context/replace", "config/value/write", "thread/list"} {
		c.Write(fmt.Sprintf(`{"id":"deep","method":%q,"params":{"threadId":%q,"input":%s,"config":%s,"value":%s,"cursor":%s}}`, method, id, inside, inside, inside, inside))
		m := c.UntilResponse(`"deep"`)
		require.NotNil(t, m.Error, method)
		require.NotEmpty(t, m.Error.Message)
		require.Less(t, len(m.Line), 1000, method)
	}
	for range 2 {
		require.Equal(t, "completed", c.Turn(id, "arguments of a call").Status)
	}
	require.Less(t, memoryKiB(c, "VmHWM")-base, apptest.RaceFactor*128<<10, "KiB")
	path := c.ReadThread(id).Path
	c.Close()

	for _, line := range []string{whole, lists,
		`{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_item","payload":` + members} {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = f.WriteString(line + "\n")
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	require.NoError(t, os.WriteFile(filepath.Join(home, "AGENTS.md"), []byte(whole), 0o600))
	c = apptest.StartServer(t, home)
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": id})
	require.Len(t, c.ReadThread(id).Turns, 3)
	c.Close()

	apptest.WriteConfig(t, home, "x = "+whole+"\n")
	status, _, errs := apptest.Execute(t, home)
	require.Equal(t, 1, status)
	require.Contains(t, errs, "config.toml:1: ")
	require.Less(t, len(errs), 1000)
}
