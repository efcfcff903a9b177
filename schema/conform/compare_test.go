package conform_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"appserver/schema/conform"
)

func schemas(t *testing.T, files map[string]string) *conform.Schemas {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, content := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(content)}
	}
	s, err := conform.Load(fsys)
	require.NoError(t, err)
	return s
}

// compare holds two schemas of a message M against each other.
func compare(t *testing.T, ours, reference string, direction conform.Direction) []conform.Deviation {
	t.Helper()
	found, err := conform.Compare(
		schemas(t, map[string]string{"M.json": ours}),
		schemas(t, map[string]string{"v2/M.json": reference}), "M", direction)
	require.NoError(t, err)
	return found
}

// places returns the places and kinds of deviations.
func places(found []conform.Deviation) []string {
	var all []string
	for _, d := range found {
		all = append(all, d.Place+" "+string(d.Kind))
	}
	return all
}

func TestEqualSchemasDoNotDeviate(t *testing.T) {
	const schema = `{"type":"object","properties":{
		"a":{"type":["string","null"]},"b":{"$ref":"#/definitions/B"},"c":{"type":"array","items":{"$ref":"#/definitions/B"}}},
		"required":["a","b","c"],
		"definitions":{"B":{"anyOf":[{"enum":["x","y"],"type":"string"},{"type":"object","properties":{"b":{"$ref":"#/definitions/B"}}}]}}}`
	require.Empty(t, compare(t, schema, schema, conform.Read))
	require.Empty(t, compare(t, schema, schema, conform.Written))
}

func TestWaysToWriteTheSameDoNotDeviate(t *testing.T) {
	ours := `{"type":"object","properties":{
		"mode":{"anyOf":[{"type":"string","enum":["a","b"]},{"type":"null"}]},
		"part":{"$ref":"#/definitions/Part"}},
		"definitions":{"Part":{"type":"object","properties":{"n":{"type":"integer"}}}}}`
	reference := `{"type":"object","properties":{
		"mode":{"anyOf":[{"$ref":"#/definitions/Mode"},{"type":"null"}]},
		"part":{"allOf":[{"$ref":"#/definitions/Thing"}],"default":{}}},
		"definitions":{
			"Mode":{"oneOf":[{"type":"string","enum":["a"]},{"type":"string","enum":["b"],"description":"second"}]},
			"Thing":{"type":"object","properties":{"n":{"type":"integer","format":"int64"}}}}}`
	require.Empty(t, compare(t, ours, reference, conform.Written))
	require.Empty(t, compare(t, ours, reference, conform.Read))
}

func TestMembersOfOneSide(t *testing.T) {
	ours := `{"type":"object","properties":{"mine":{"type":"string"}}}`
	reference := `{"type":"object","properties":{"theirs":{"type":"string"}}}`
	require.Equal(t, []string{"M.mine extra", "M.theirs missing"}, places(compare(t, ours, reference, conform.Written)))
}

func TestPlacesAreNamedAfterOurTypes(t *testing.T) {
	ours := `{"type":"object","properties":{"turn":{"$ref":"#/definitions/Turn"}},
		"definitions":{"Turn":{"type":"object","properties":{"id":{"type":"string"}}}}}`
	reference := `{"type":"object","properties":{"turn":{"$ref":"#/definitions/TheTurn"}},
		"definitions":{"TheTurn":{"type":"object","properties":{"id":{"type":"integer"}}}}}`
	require.Equal(t, []string{"Turn.id mismatch"}, places(compare(t, ours, reference, conform.Written)))
}

func TestRequiredMembers(t *testing.T) {
	required := `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`
	optional := `{"type":"object","properties":{"a":{"type":"string"}}}`
	require.Equal(t, []string{"M.a requirement"}, places(compare(t, required, optional, conform.Read)),
		"clients may leave it out")
	require.Empty(t, compare(t, optional, required, conform.Read))
	require.Equal(t, []string{"M.a requirement"}, places(compare(t, optional, required, conform.Written)),
		"clients rely on it")
	require.Empty(t, compare(t, required, optional, conform.Written))
}

func TestNull(t *testing.T) {
	nullable := `{"type":"object","properties":{"a":{"type":["string","null"]}}}`
	plain := `{"type":"object","properties":{"a":{"type":"string"}}}`
	require.Equal(t, []string{"M.a mismatch"}, places(compare(t, nullable, plain, conform.Written)))
	require.Empty(t, compare(t, nullable, plain, conform.Read))
	require.Equal(t, []string{"M.a mismatch"}, places(compare(t, plain, nullable, conform.Read)))
	require.Empty(t, compare(t, plain, nullable, conform.Written))
}

func TestWords(t *testing.T) {
	ours := `{"type":"string","enum":["a","mine"]}`
	reference := `{"type":"string","enum":["a","theirs"]}`
	want := []string{"M=mine extra", "M=theirs missing"}
	require.Equal(t, want, places(compare(t, ours, reference, conform.Read)))
	require.Equal(t, want, places(compare(t, ours, reference, conform.Written)))
	require.Empty(t, compare(t, ours, `{"type":"string"}`, conform.Written), "any string takes every word")
	require.Equal(t, []string{"M mismatch", "M=a missing", "M=theirs missing"},
		places(compare(t, `{"type":"integer"}`, reference, conform.Written)))
}

func TestVariants(t *testing.T) {
	variant := func(tag, more string) string {
		return `{"type":"object","properties":{"type":{"type":"string","enum":["` + tag + `"]}` + more + `}}`
	}
	ours := `{"anyOf":[` + variant("a", "") + `,` + variant("mine", "") + `,
		{"type":"object","properties":{"type":{"type":"string","not":{"enum":["a","mine"]}}}}]}`
	reference := `{"oneOf":[` + variant("a", `,"x":{"type":"integer"}`) + `,` + variant("theirs", "") + `]}`
	require.Equal(t, []string{"M.x missing", "M{mine} extra", "M{theirs} missing"},
		places(compare(t, ours, reference, conform.Written)))
}

func TestVariantsThatAreOneMember(t *testing.T) {
	ours := `{"anyOf":[{"type":"string","enum":["never"]},{"type":"object","properties":{"granular":{"type":"object","properties":{"a":{"type":"boolean"}}}}}]}`
	reference := `{"anyOf":[{"type":"string","enum":["never"]},{"type":"object","properties":{"granular":{"type":"object","properties":{"b":{"type":"boolean"}}}}}]}`
	require.Equal(t, []string{"M.granular.a extra", "M.granular.b missing"},
		places(compare(t, ours, reference, conform.Read)))
}

func TestMembersBesideAlternatives(t *testing.T) {
	ours := `{"type":"object","properties":{"type":{"type":"string","enum":["image"]},"url":{"type":"string"}},"required":["type","url"]}`
	reference := `{"type":"object","properties":{"type":{"type":"string","enum":["image"]}},"required":["type"],
		"anyOf":[{"type":"object","properties":{"url":{"type":"string"}},"required":["url"]},
		         {"type":"object","properties":{"fileId":{"type":"string"}},"required":["fileId"]}]}`
	require.Equal(t, []string{"M.fileId missing", "M.url requirement"}, places(compare(t, ours, reference, conform.Read)))
}

func TestListsAndMaps(t *testing.T) {
	ours := `{"type":"object","properties":{"l":{"type":"array","items":{"type":"string"}},"m":{"type":"object","additionalProperties":{"type":"string"}}}}`
	reference := `{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer"}},"m":{"type":"object","additionalProperties":{"type":"integer"}}}}`
	require.Equal(t, []string{"M.l mismatch", "M.m mismatch"}, places(compare(t, ours, reference, conform.Written)))
}

func TestValuesWithoutType(t *testing.T) {
	typed := `{"type":"object","properties":{"a":{"type":"string"}}}`
	for _, untyped := range []string{`{"type":"object","properties":{"a":{}}}`,
		`{"type":"object","properties":{"a":true}}`} {
		require.Equal(t, []string{"M.a untyped"}, places(compare(t, untyped, typed, conform.Written)))
		require.Empty(t, compare(t, typed, untyped, conform.Written))
	}
}

func TestDeviationsAreForPeople(t *testing.T) {
	found := compare(t, `{"type":"object","properties":{}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`,
		conform.Read)
	require.Len(t, found, 1)
	require.Equal(t, "M.a: missing: a member of the reference", found[0].String())
}

func TestComparingMissingSchemas(t *testing.T) {
	s := schemas(t, map[string]string{"M.json": "{}"})
	empty := schemas(t, map[string]string{"N.json": "{}"})
	_, err := conform.Compare(s, empty, "M", conform.Read)
	require.ErrorContains(t, err, "the reference has no file M.json")
	_, err = conform.Compare(empty, s, "M", conform.Read)
	require.ErrorContains(t, err, "ours has no file M.json")
}

func TestReferencesThatLeadNowhere(t *testing.T) {
	typed := `{"type":"object","properties":{"a":{"type":"string"}}}`
	for _, lost := range []string{
		`{"type":"object","properties":{"a":{"$ref":"#/definitions/Gone"}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/definitions/A"}},"definitions":{"A":{"anyOf":[{"$ref":"#/definitions/A"}]}}}`,
	} {
		require.Equal(t, []string{"M.a untyped"}, places(compare(t, lost, typed, conform.Written)))
	}
}

func TestTypesThatHoldThemselves(t *testing.T) {
	tree := func(member string) string {
		return `{"type":"object","properties":{"root":{"anyOf":[{"$ref":"#/definitions/Tree"},{"type":"null"}]}},"definitions":{
			"Tree":{"type":"object","properties":{"` + member + `":{"type":"string"},
				"left":{"anyOf":[{"$ref":"#/definitions/Tree"},{"type":"null"}]}}}}}`
	}
	require.Equal(t, []string{"Tree.a extra", "Tree.b missing"}, places(compare(t, tree("a"), tree("b"), conform.Written)))
}

func FuzzCompare(f *testing.F) {
	for _, s := range []string{
		`true`, `{}`, `{"type":["string","null"],"anyOf":[null]}`,
		`{"$ref":"#/definitions/A","definitions":{"A":{"$ref":"#/definitions/A"}}}`,
		`{"type":"object","properties":{"a":null,"type":{"enum":["x",5]}},"required":["a"]}`,
		`{"type":"array","items":{"type":"object","additionalProperties":{"enum":[]}}}`,
	} {
		f.Add([]byte(s), []byte(`{"type":"object","properties":{"a":{"allOf":[{"$ref":"#/definitions/A"}]}},"definitions":{"A":{"type":"object","properties":{"a":{"$ref":"#/definitions/A"}}}}}`))
	}
	f.Fuzz(func(t *testing.T, ours, reference []byte) {
		a, err := conform.Load(fstest.MapFS{"M.json": {Data: ours}})
		if err != nil {
			return
		}
		b, err := conform.Load(fstest.MapFS{"M.json": {Data: reference}})
		if err != nil {
			return
		}
		for _, direction := range []conform.Direction{conform.Read, conform.Written} {
			once, err := conform.Compare(a, b, "M", direction)
			require.NoError(t, err)
			again, err := conform.Compare(a, b, "M", direction)
			require.NoError(t, err)
			require.Equal(t, once, again)
		}
	})
}

func TestLoadRejectsOtherJSON(t *testing.T) {
	_, err := conform.Load(fstest.MapFS{})
	require.ErrorContains(t, err, "no schema files")
	_, err = conform.Load(fstest.MapFS{"a/M.json": {Data: []byte(`{"type":5}`)}})
	require.ErrorContains(t, err, "a/M.json")
}

func TestValidate(t *testing.T) {
	s := schemas(t, map[string]string{
		"M.json":      `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
		"Broken.json": `{"type":"object","properties":{"a":{"$ref":"#/definitions/Gone"}}}`,
	})
	require.NoError(t, s.Validate("M", []byte(`{"a":"x"}`)))
	require.ErrorContains(t, s.Validate("M", []byte(`{}`)), "'a'")
	require.Error(t, s.Validate("M", []byte(`{`)))
	require.ErrorContains(t, s.Validate("N", []byte(`{}`)), "no schema file N.json")
	require.Error(t, s.Validate("Broken", []byte(`{}`)))
}
