package schema_test

import (
	"bufio"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// compatPath is the list of the differences from the reference implementation.
const compatPath = "../docs/compat.md"

var (
	compatHead  = "| where | reference implementation | appserver | why |"
	compatTable = regexp.MustCompile(`^<!-- schema: (\w+) -->$`)
	compatName  = regexp.MustCompile("`([^`]+)`")
)

// documented returns the places of docs/compat.md that deviate from the reference implementation's
// schema. The mark above a table states whether its first column has members and variants, in the form
// of conform.Deviation, or messages.
func documented(t *testing.T) map[string]bool {
	t.Helper()
	file, err := os.Open(compatPath)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	places := map[string]bool{}
	kind := ""
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := lines.Text()
		if mark := compatTable.FindStringSubmatch(line); mark != nil {
			kind = mark[1]
			continue
		}
		if !strings.HasPrefix(line, "|") {
			kind = ""
			continue
		}
		cells := strings.Split(line, " | ")
		require.Len(t, cells, 4, "a row of %s has four cells: %s", compatPath, line)
		if kind == "" || line == compatHead || strings.HasPrefix(line, "| ---") {
			continue
		}
		names := compatName.FindAllStringSubmatch(cells[0], -1)
		require.NotEmpty(t, names, "a row without a place: %s", line)
		for _, name := range names {
			place := name[1]
			if kind != "members" {
				place = kind + "{" + place + "}"
			}
			require.False(t, places[place], "%s lists %s twice", compatPath, place)
			places[place] = true
		}
	}
	require.NoError(t, lines.Err())
	return places
}

// TestCompatListsMembersWithoutEffect requires a row for each member whose type alone is checked.
func TestCompatListsMembersWithoutEffect(t *testing.T) {
	places := documented(t)
	names, _ := protocol.UnservedMembers()
	require.NotEmpty(t, names)
	for _, name := range names {
		require.True(t, places[name], "%s has no row in %s", name, compatPath)
	}
}

func TestCompatListsNoMessageThatIsServed(t *testing.T) {
	places := documented(t)
	for _, group := range []string{"ClientRequest{", "ServerNotification{", "ServerRequest{"} {
		listed := 0
		for place := range places {
			if strings.HasPrefix(place, group) {
				listed++
			}
		}
		require.NotZero(t, listed, "%s has no table of %s", compatPath, group)
	}
	refuse := func(place string) {
		require.False(t, places[place], "%s is served: take its name out of %s", place, compatPath)
	}
	for _, m := range protocol.Methods() {
		refuse("ClientRequest{" + m.Name + "}")
	}
	for _, n := range protocol.Notifications() {
		refuse("ServerNotification{" + n.Method + "}")
	}
	for _, r := range protocol.ServerRequests() {
		refuse("ServerRequest{" + r.Name + "}")
	}
}
