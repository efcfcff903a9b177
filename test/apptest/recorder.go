package apptest

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/platform/excerpt"
	"appserver/protocol"
)

// Recorder writes a readable transcript: requests (>>), responses and context notifications (<<),
// and messages of model requests (==), each truncated to one line. Ids and times are replaced by
// stable names.
type Recorder struct {
	T     *testing.T
	Home  string
	out   strings.Builder
	names []string // ids, in order of appearance
}

// recordedWidth is the maximum length of a line in characters.
const recordedWidth = 200

// Command returns a command that runs the server with an environment that is the same on every
// machine.
func (r *Recorder) Command(home string) *exec.Cmd {
	cmd := ServerCommand(r.T, home, "-c", "model=gpt-5")
	cmd.Env = append(cmd.Env, "TZ=UTC")
	return cmd
}

// Heading starts a block of the transcript.
func (r *Recorder) Heading(text string) { r.out.WriteString("\n# " + text + "\n") }

func (r *Recorder) write(mark, text string) {
	text = r.stable(text)
	r.out.WriteString(mark + " " + excerpt.FirstRunes(text, recordedWidth) + "\n")
}

// Line records a line of the client or the server. Notifications are skipped, except those of the
// context.
func (r *Recorder) Line(direction, line string) {
	var m struct {
		Method        string
		Params        json.RawMessage
		Result, Error json.RawMessage
	}
	require.NoError(r.T, json.Unmarshal([]byte(line), &m))
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

// List records the context items as a table.
func (r *Recorder) List(l protocol.ContextGetItemsResponse) {
	for _, item := range l.Items {
		fmt.Fprintf(&r.out, "   %2d  %-4s %-18s %5d tokens  %s\n", item.Index, item.ID, item.Category, item.Tokens,
			r.stable(item.Preview))
	}
}

// Request records the messages of a model request.
func (r *Recorder) Request(text string, messages []string) {
	r.Heading(text + ":")
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

func (r *Recorder) stable(text string) string {
	text = strings.ReplaceAll(text, r.Home, "HOME")
	text = UserAgents.ReplaceAllString(text, `/0.169.0 (SYSTEM) TERMINAL (`)
	text = recordedTimes.ReplaceAllString(text, "$1:0")
	text = recordedWalls.ReplaceAllString(text, "Wall time: 0.0 sec")
	text = recordedIDs.ReplaceAllStringFunc(text, r.name)
	return recordedDates.ReplaceAllString(text, "DATE")
}

func (r *Recorder) name(id string) string {
	for i, known := range r.names {
		if known == id {
			return fmt.Sprintf("ID%d", i+1)
		}
	}
	r.names = append(r.names, id)
	return fmt.Sprintf("ID%d", len(r.names))
}

// Compare requires that the transcript equals a file. With -update it writes the file.
func (r *Recorder) Compare(path string) {
	r.T.Helper()
	got := strings.TrimPrefix(r.out.String(), "\n")
	if *Update {
		require.NoError(r.T, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(r.T, err)
	require.Equal(r.T, string(want), got)
}

// Diagnostics calls server/diagnostics.
func (c *Client) Diagnostics() protocol.ServerDiagnosticsResponse {
	c.T.Helper()
	var d protocol.ServerDiagnosticsResponse
	require.NoError(c.T, json.Unmarshal(c.Call("server/diagnostics", Object{}), &d))
	return d
}

// SortedKeys returns the keys of a map in order.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Update is the flag that rewrites goldens.
var Update = flag.Bool("update", false, "rewrite the goldens")

// UserAgents match the parts of a user agent that depend on the machine.
var UserAgents = regexp.MustCompile(`/0\.169\.0 \([^)]*\) \S+ \(`)
