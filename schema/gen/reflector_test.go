package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

type sampleMode string

type sampleShared struct {
	Cwd string `json:"cwd"`
}

type sample struct {
	Name  string          `json:"name"`
	Title *string         `json:"title,omitempty"`
	Mode  *sampleMode     `json:"mode"`
	Count uint32          `json:"count,omitempty"`
	Tags  []string        `json:"tags"`
	Any   json.RawMessage `json:"any"`
	Env   map[string]any  `json:"env"`
	Self  *sample         `json:"self"`
	sampleShared
	hidden int
}

var sampleSource = &source{
	docs: map[string]string{
		"sample":       "sample is a sample.",
		"sample.Count": "Count is 0 or more.",
		"sample.Self":  "Self is another.",
	},
	words: map[string][]string{"sampleMode": {"fast", "slow"}},
}

func reflectSample(sent bool) (*reflector, *Node) {
	_ = sample{}.hidden
	r := newReflector(sampleSource, nil)
	r.sent = sent
	r.of(reflect.TypeFor[sample]())
	return r, r.definitions["sample"]
}

func text(t *testing.T, n *Node) string {
	t.Helper()
	b, err := encode(n)
	require.NoError(t, err)
	return string(b)
}

func TestMembersKeepTheOrderOfTheStruct(t *testing.T) {
	_, n := reflectSample(true)
	var names []string
	for _, p := range n.Properties {
		names = append(names, p.Name)
	}
	require.Equal(t, []string{"name", "title", "mode", "count", "tags", "any", "env", "self", "cwd"}, names)
	require.Equal(t, "sample is a sample.", n.Description)
}

func TestWhatClientsSendMayBeLeftOutOrNull(t *testing.T) {
	_, n := reflectSample(true)
	require.Equal(t, []string{"name", "mode", "tags", "any", "env", "self", "cwd"}, n.Required)
	require.JSONEq(t, `{"type":["string","null"]}`, text(t, n.property("title")))
	require.JSONEq(t, `{"type":["integer","null"],"format":"uint32","minimum":0,"description":"Count is 0 or more."}`,
		text(t, n.property("count")))
}

func TestServerMessagesAreNullableOnlyForPointers(t *testing.T) {
	_, n := reflectSample(false)
	require.JSONEq(t, `{"type":"string"}`, text(t, n.property("title")), "left out where nil, so never null")
	require.JSONEq(t, `{"anyOf":[{"$ref":"#/definitions/sampleMode"},{"type":"null"}]}`, text(t, n.property("mode")))
	require.JSONEq(t, `{"type":"array","items":{"type":"string"}}`, text(t, n.property("tags")))
}

func TestValuesWithoutType(t *testing.T) {
	_, n := reflectSample(false)
	require.Equal(t, `{}`, text(t, n.property("any")))
	require.Equal(t, `{"type":"object","additionalProperties":{}}`, text(t, n.property("env")))
}

func TestTypesThatHoldThemselves(t *testing.T) {
	_, n := reflectSample(false)
	require.JSONEq(t, `{"description":"Self is another.","anyOf":[{"$ref":"#/definitions/sample"},{"type":"null"}]}`,
		text(t, n.property("self")))
}

func TestTypedConstantsAreTheWordsOfTheirType(t *testing.T) {
	r, _ := reflectSample(false)
	require.Equal(t, `{"type":"string","enum":["fast","slow"]}`, text(t, r.definitions["sampleMode"]))
}

func TestDescriptionBesideReferenceIsSeen(t *testing.T) {
	require.Equal(t, `{"description":"why","allOf":[{"$ref":"#/definitions/X"}]}`, text(t, described(ref("X"), "why")))
	require.Equal(t, `{"$ref":"#/definitions/X"}`, text(t, described(ref("X"), "")))
}

func TestNullableIsNullOnce(t *testing.T) {
	once := nullable(ref("X"))
	require.Same(t, once, nullable(once))
	plain := kind("string")
	require.Equal(t, Kinds{"string", "null"}, nullable(plain).Type)
	require.Equal(t, Kinds{"string"}, plain.Type, "the node itself does not change")
}

func TestTypesWithOwnJSONMustBeDescribed(t *testing.T) {
	r := newReflector(sampleSource, nil)
	r.of(reflect.TypeFor[protocol.ThreadItem]())
	require.Len(t, r.problems, 1)
	require.ErrorContains(t, r.problems[0], "protocol.ThreadItem")
}

func TestNumbers(t *testing.T) {
	r := newReflector(sampleSource, nil)
	for goType, want := range map[reflect.Type]string{
		reflect.TypeFor[int64]():   `{"type":"integer","format":"int64"}`,
		reflect.TypeFor[int32]():   `{"type":"integer","format":"int32"}`,
		reflect.TypeFor[uint64]():  `{"type":"integer","format":"uint64","minimum":0}`,
		reflect.TypeFor[float64](): `{"type":"number"}`,
	} {
		require.JSONEq(t, want, text(t, r.of(goType)))
	}
	require.Empty(t, r.problems)
	r.of(reflect.TypeFor[chan int]())
	require.Len(t, r.problems, 1, "what JSON does not have is no number either")
}

func TestDefaultsDoNotSpread(t *testing.T) {
	plain := kind("boolean")
	require.Equal(t, `{"type":"boolean","default":false}`, text(t, withDefault(plain, false)))
	require.Equal(t, `{"type":"boolean"}`, text(t, plain))
}

func collected(t *testing.T) *messages {
	t.Helper()
	src, err := readSource(protocolDir)
	require.NoError(t, err)
	m, err := collect(src)
	require.NoError(t, err)
	return m
}

func TestTablesNameMembersThatExist(t *testing.T) {
	definitions := collected(t).definitions
	keys := append([]string{}, nullableLists...)
	for key := range members() {
		keys = append(keys, key)
	}
	for _, key := range keys {
		typeName, member, _ := strings.Cut(key, ".")
		require.Contains(t, definitions, typeName, key)
		require.NotNil(t, definitions[typeName].property(member), key)
	}
	for goType := range shapes() {
		require.Contains(t, definitions, goType.Name())
	}
}

func TestUnionsListTheirVariants(t *testing.T) {
	definitions := collected(t).definitions
	for _, u := range protocol.Unions() {
		union := definitions[u.Type.Name()]
		for i, v := range u.Variants {
			require.Equal(t, ref(v.Type.Name()), union.AnyOf[i])
			variant := definitions[v.Type.Name()]
			require.Equal(t, words(v.Tag), variant.property(u.Member))
			require.Contains(t, variant.Required, u.Member)
		}
	}
}

func TestOpenUnionsTakeOtherVariants(t *testing.T) {
	definitions := collected(t).definitions
	item := definitions["ThreadItem"]
	other := item.AnyOf[len(item.AnyOf)-1]
	require.Contains(t, other.property("type").Not.Enum, "agentMessage")
	require.Len(t, definitions["SandboxPolicy"].AnyOf, 4, "closed unions refuse what they do not know")
	require.Len(t, definitions["UserInput"].AnyOf, 7, "clients send known variants only")
	content := definitions["UserMessageItem"].property("content").Items
	require.Equal(t, ref("UserInput"), content.AnyOf[0])
	require.Contains(t, content.AnyOf[1].property("type").Not.Enum, "text")
}

type sampleWords struct {
	Color  string   `json:"color" oneof:"red blue" default:"red"`
	Size   *string  `json:"size,omitempty" oneof:"s m"`
	Sizes  []string `json:"sizes" oneof:"s m" default:"[]"`
	Strict bool     `json:"strict" default:"false"`
}

func TestTagsGiveWordsAndDefaults(t *testing.T) {
	r := newReflector(sampleSource, nil)
	r.sent = true
	r.of(reflect.TypeFor[sampleWords]())
	n := r.definitions["sampleWords"]
	require.Empty(t, n.Required)
	require.JSONEq(t, `{"type":"string","enum":["red","blue"],"default":"red"}`, text(t, n.property("color")))
	require.JSONEq(t, `{"anyOf":[{"type":"string","enum":["s","m"]},{"type":"null"}]}`, text(t, n.property("size")))
	require.JSONEq(t, `{"type":"array","items":{"type":"string","enum":["s","m"]},"default":[]}`,
		text(t, n.property("sizes")))
	require.JSONEq(t, `{"type":"boolean","default":false}`, text(t, n.property("strict")))
}

func TestTheServerWritesMembersWithDefaults(t *testing.T) {
	r := newReflector(sampleSource, nil)
	r.of(reflect.TypeFor[sampleWords]())
	n := r.definitions["sampleWords"]
	require.Equal(t, []string{"color", "sizes", "strict"}, n.Required)
	require.JSONEq(t, `{"type":"boolean"}`, text(t, n.property("strict")))
}

func TestMembersOfTheUnionBelongToEachVariant(t *testing.T) {
	item := collected(t).definitions["PlanItem"]
	require.Equal(t, []string{"type", "id", "text", "startedAtMs", "completedAtMs"}, item.Required)
}

func TestParamsSayWhichMembersAreExperimental(t *testing.T) {
	path := collected(t).definitions["ThreadResumeParams"].property("path")
	require.Contains(t, path.Description, "experimentalApi")
}

func TestAnswersWithoutContentAreCalledAfterTheirMethod(t *testing.T) {
	m := collected(t)
	require.Contains(t, m.roots, "ThreadSetNameResponse")
	require.NotContains(t, m.roots, "Empty")
}

func TestParamsAreOptionalWithoutRequiredMembers(t *testing.T) {
	required := map[string]bool{}
	for _, request := range collected(t).definitions["ClientRequest"].OneOf {
		name := request.property("method").Enum[0]
		required[name] = request.Required[len(request.Required)-1] == "params"
	}
	require.True(t, required["turn/start"])
	require.False(t, required["thread/start"])
}
