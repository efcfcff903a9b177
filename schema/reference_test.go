//go:build reference

package schema_test

import (
	"os"
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
