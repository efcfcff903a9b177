//go:build reference

package schema_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/schema/conform"
)

// These tests compare with the schema files of the reference implementation. REFERENCE_EXPERIMENTAL is
// the directory to which it wrote them, with its experimental surface:
//
//	REFERENCE_EXPERIMENTAL=DIR go test -tags reference ./schema

func reference(t *testing.T) *conform.Schemas {
	t.Helper()
	dir := os.Getenv("REFERENCE_EXPERIMENTAL")
	require.NotEmpty(t, dir, "set REFERENCE_EXPERIMENTAL to the folder of the reference's schema files")
	s, err := conform.Load(os.DirFS(dir))
	require.NoError(t, err)
	return s
}

// TestCompatListsEveryDifference compares the schemas: every difference has a row in
// docs/compat.md, and every row there is a difference.
func TestCompatListsEveryDifference(t *testing.T) {
	listed, found, own := documented(t), map[string]bool{}, ownPlaces()
	for _, d := range deviations(t) {
		if own[d.Place] {
			continue
		}
		found[d.Place] = true
		if !listed[d.Place] {
			t.Errorf("%v: explain it in %s", d, compatPath)
		}
	}
	for place := range listed {
		if !found[place] {
			t.Errorf("%s is no difference: take it out of %s", place, compatPath)
		}
	}
}

// ownPlaces returns the places of messages that the reference implementation does not have.
func ownPlaces() map[string]bool {
	places := map[string]bool{}
	for _, m := range protocol.Methods() {
		places["ClientRequest{"+m.Name+"}"] = m.Own
	}
	for _, n := range protocol.Notifications() {
		places["ServerNotification{"+n.Method+"}"] = n.Own
	}
	return places
}

// deviations compares requests and notifications as a whole, by method, and
// answers one by one.
func deviations(t *testing.T) []conform.Deviation {
	ours, theirs := load(t), reference(t)
	var all []conform.Deviation
	compare := func(name string, direction conform.Direction) {
		found, err := conform.Compare(ours, theirs, name, direction)
		require.NoError(t, err)
		all = append(all, found...)
	}
	compare("ClientRequest", conform.Read)
	compare("ServerNotification", conform.Written)
	compare("ServerRequest", conform.Written)
	for _, m := range protocol.Methods() {
		// The reference may have one of ours by now, as an experimental method.
		if name := conform.ResultName(m); !m.Own || theirs.Has(name) {
			compare(name, conform.Written)
		}
	}
	for _, r := range protocol.ServerRequests() {
		compare(r.Result.Name(), conform.Read)
	}
	return all
}

// elsewhere are members of params that are only missing in our schema, or that other tests cover.
var elsewhere = []string{"permissions", "runtimeWorkspaceRoots", "jsonrpc", "_meta", "target"}

// TestEveryMemberOfTheReferenceIsServedOrChecked compares the params of all requests: a member that this server does
// not serve has its type checked.
func TestEveryMemberOfTheReferenceIsServedOrChecked(t *testing.T) {
	checked := map[string]bool{}
	ignored, rejected := protocol.UnservedMembers()
	for _, name := range append(ignored, rejected...) {
		checked[name] = true
	}
	found, err := conform.Compare(load(t), reference(t), "ClientRequest", conform.Read)
	require.NoError(t, err)
	for _, d := range found {
		kind, member, isMember := strings.Cut(d.Place, ".")
		if !isMember || d.Kind != conform.Missing || strings.ContainsAny(member, "={") ||
			slices.Contains(elsewhere, member) || !strings.HasSuffix(kind, "Params") && kind != "InitializeCapabilities" {
			continue
		}
		require.True(t, checked[d.Place], "%v: nothing checks it", d)
	}
}

// TestTableOfFeaturesIsComplete requires a row for each feature that the reference implementation lists.
func TestTableOfFeaturesIsComplete(t *testing.T) {
	binary := os.Getenv("REFERENCE_BINARY")
	require.NotEmpty(t, binary, "set REFERENCE_BINARY to the reference's program")
	cmd := exec.Command(binary, "features", "list")
	cmd.Env = append(os.Environ(), "CODEX_HOME="+t.TempDir())
	text, err := cmd.Output()
	require.NoError(t, err)
	table, err := os.ReadFile("../core/effects/config/testdata/reference_keys.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(line, " ")
		require.Contains(t, string(table), "\nfeatures."+name+" | ", "the table of keys has no row")
	}
}

// TestTableOfKeysHasThoseOfConfigRead requires a row for each member of the configuration in the reference's schema.
func TestTableOfKeysHasThoseOfConfigRead(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(os.Getenv("REFERENCE_EXPERIMENTAL"), "codex_app_server_protocol.v2.schemas.json"))
	require.NoError(t, err)
	var schemas struct {
		Definitions struct {
			Config struct{ Properties map[string]any }
		}
	}
	require.NoError(t, json.Unmarshal(text, &schemas))
	require.NotEmpty(t, schemas.Definitions.Config.Properties)
	table, err := os.ReadFile("../core/effects/config/testdata/reference_keys.txt")
	require.NoError(t, err)
	for key := range schemas.Definitions.Config.Properties {
		row := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(key) + `[. ]`)
		require.True(t, row.Match(table) || slices.Contains(elsewhere, key), "the table of keys has no row for %s", key)
	}
}
