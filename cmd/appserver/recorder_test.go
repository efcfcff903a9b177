package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// recorder writes a session with the binary for people: requests (>>), answers and
// changes of the context (<<), and what the provider was sent (==), each cut to a line.
// What differs from session to session has names.
type recorder struct {
	t     *testing.T
	home  string
	out   strings.Builder
	names []string // of ids, in the order in which they were seen
}

// recordedWidth is where a line is cut, in characters.
const recordedWidth = 200

// command is a server whose surroundings are the same on every machine.
func (r *recorder) command(home string) *exec.Cmd {
	cmd := serverCommand(r.t, home, "-c", "model=gpt-5")
	cmd.Env = append(cmd.Env, "TZ=UTC")
	return cmd
}

func (r *recorder) say(text string) { r.out.WriteString("\n# " + text + "\n") }

func (r *recorder) write(mark, text string) {
	text = r.stable(text)
	if runes := []rune(text); len(runes) > recordedWidth {
		text = string(runes[:recordedWidth]) + "…"
	}
	r.out.WriteString(mark + " " + text + "\n")
}

// line takes what a client sends and is sent. Of what the server tells unasked only the
// changes of the context are shown.
func (r *recorder) line(direction, line string) {
	var m struct {
		Method        string
		Params        json.RawMessage
		Result, Error json.RawMessage
	}
	require.NoError(r.t, json.Unmarshal([]byte(line), &m))
	switch {
	case direction == "->":
		r.write(">>", m.Method+" "+string(m.Params))
	case m.Method == "ContextItems":
		r.write("<<", m.Method+" "+string(m.Params))
	case m.Method != "":
	case m.Error != nil:
		r.write("<<", "error "+string(m.Error))
	default:
		r.write("<<", string(m.Result))
	}
}

// list shows what is in the context as a table.
func (r *recorder) list(l protocol.ContextGetItemsResponse) {
	for _, item := range l.Items {
		fmt.Fprintf(&r.out, "   %2d  %-4s %-18s %5d tokens  %s\n", item.Index, item.ID, item.Category, item.Tokens, r.stable(item.Preview))
	}
}

// request shows the messages of a request to the provider, as they were recorded there.
func (r *recorder) request(text string, messages []string) {
	r.say(text + ":")
	for _, m := range messages {
		r.write("==", m)
	}
}

var (
	recordedIDs   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{24}\b`)
	recordedTimes = regexp.MustCompile(`("(?:at|createdAt|updatedAt|recencyAt|startedAt|completedAt|durationMs|startedAtMs|completedAtMs)"):[0-9]+`)
	recordedDates = regexp.MustCompile(`\d{4}-\d\d-\d\d(T[0-9:-]+Z?)?|\d{4}/\d\d/\d\d`)
	recordedWalls = regexp.MustCompile(`Wall time: [0-9.]+ sec`)
)

func (r *recorder) stable(text string) string {
	text = strings.ReplaceAll(text, r.home, "HOME")
	text = userAgents.ReplaceAllString(text, `/0.169.0 (SYSTEM) TERMINAL (`)
	text = recordedTimes.ReplaceAllString(text, "$1:0")
	text = recordedWalls.ReplaceAllString(text, "Wall time: 0.0 sec")
	text = recordedIDs.ReplaceAllStringFunc(text, r.name)
	return recordedDates.ReplaceAllString(text, "DATE")
}

func (r *recorder) name(id string) string {
	for i, known := range r.names {
		if known == id {
			return fmt.Sprintf("ID%d", i+1)
		}
	}
	r.names = append(r.names, id)
	return fmt.Sprintf("ID%d", len(r.names))
}

// compare holds the recording against a file, which -update writes.
func (r *recorder) compare(path string) {
	r.t.Helper()
	got := strings.TrimPrefix(r.out.String(), "\n")
	if *update {
		require.NoError(r.t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(r.t, err)
	require.Equal(r.t, string(want), got)
}
