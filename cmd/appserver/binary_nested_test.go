package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBinaryTakesDeepNesting of 100,000 brackets wherever bytes come from: each is refused with
// words, or passed over, at the price of a few times its size, and the server goes on.
func TestBinaryTakesDeepNesting(t *testing.T) {
	t.Parallel()
	const depth = 100_000
	lists, members := strings.Repeat("[", depth), strings.Repeat(`{"a":`, depth)
	whole := lists + strings.Repeat("]", depth)
	p := newProvider(t, says("one"), callsTool("x", "shell", `{"command":`+whole+`}`), says("two"), callsTool("y", "shell", members), says("three"))
	home := p.home(t)
	c := startServer(t, home)
	c.initialize()
	id := c.startTrusted()
	require.Equal(t, "completed", c.turn(id, "first").Status)
	base := c.restingKiB(id)

	for _, line := range []string{lists, members, whole, `{"id":1,"method":"model/list","params":` + lists, `{"id":1,"method":"model/list","params":{"x":` + whole + `}}`} {
		c.write(line)
		m := c.until(func(m message) bool { return m.Method == "" && string(m.ID) == "null" })
		require.Contains(t, []int{-32700, -32600}, m.Error.Code)
		require.Less(t, len(m.line), 1000)
	}
	const taken = 9_000 // is as deep as JSON is read
	inside := strings.Repeat("[", taken) + strings.Repeat("]", taken)
	for _, method := range []string{"thread/start", "turn/start", "context/replace", "config/value/write", "thread/list"} {
		c.write(fmt.Sprintf(`{"id":"deep","method":%q,"params":{"threadId":%q,"input":%s,"config":%s,"value":%s,"cursor":%s}}`, method, id, inside, inside, inside, inside))
		m := c.untilAnswer(`"deep"`)
		require.NotNil(t, m.Error, method)
		require.NotEmpty(t, m.Error.Message)
		require.Less(t, len(m.line), 1000, method)
	}
	for range 2 {
		require.Equal(t, "completed", c.turn(id, "arguments of a call").Status)
	}
	require.Less(t, c.memoryKiB("VmHWM")-base, weight*128<<10, "KiB")
	path := c.readThread(id).Path
	c.close()

	for _, line := range []string{whole, lists, `{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_item","payload":` + members} {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = f.WriteString(line + "\n")
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	require.NoError(t, os.WriteFile(filepath.Join(home, "AGENTS.md"), []byte(whole), 0o600))
	c = startServer(t, home)
	c.initialize()
	c.call("thread/resume", object{"threadId": id})
	require.Len(t, c.readThread(id).Turns, 3)
	c.close()

	writeConfig(t, home, "x = "+whole+"\n")
	d := startServer(t, home)
	d.ask("initialize", object{"clientInfo": object{"name": "test", "version": "1"}})
	d.ask("config/read", object{})
	require.NoError(t, d.in.Close())
	d.drain()
	for _, m := range d.seen {
		require.Less(t, len(m.line), 100_000)
	}
}
