package protocol_test

import (
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// turnStart returns params of turn/start with more members.
func turnStart(members string) string { return `{"threadId":"t","input":[],` + members + `}` }

func TestDecodeParamsNamesTheWrongMember(t *testing.T) {
	for name, c := range map[string]struct {
		into           any
		params         string
		message, field string
	}{
		"missing": {&protocol.TurnStartParams{}, `{"threadId":"t"}`,
			"missing field `input`", "input"},
		"missing in a nested object": {&protocol.InitializeParams{}, `{"clientInfo":{"name":"probe"}}`,
			"missing field `version`", "clientInfo.version"},
		"missing in a variant": {&protocol.TurnStartParams{},
			`{"threadId":"t","input":[{"type":"text","text":"a"},{"type":"text"}]}`,
			"missing field `text`", "input.1.text"},
		"missing tag": {&protocol.TurnStartParams{}, `{"threadId":"t","input":[{"text":"a"}]}`,
			"missing field `type`", "input.0.type"},
		"missing in a policy": {&protocol.ThreadStartParams{},
			`{"approvalPolicy":{"granular":{"rules":true,"mcp_elicitations":true}}}`,
			"missing field `sandbox_approval`", "approvalPolicy.granular.sandbox_approval"},
		"null is missing": {&protocol.InitializeParams{}, `{"clientInfo":null}`,
			"missing field `clientInfo`", "clientInfo"},
		"null in a nested object is missing": {&protocol.InitializeParams{}, `{"clientInfo":{"name":"probe","version":null}}`,
			"missing field `version`", "clientInfo.version"},
		"null in a variant is missing": {&protocol.TurnSteerParams{},
			`{"threadId":"t","expectedTurnId":"u","input":[{"type":"text","text":null}]}`,
			"missing field `text`", "input.0.text"},
		"names are case sensitive": {&protocol.ThreadReadParams{}, `{"ThreadID":"t"}`,
			"missing field `threadId`", "threadId"},
		"no params": {&protocol.ThreadReadParams{}, ``,
			"missing field `threadId`", "threadId"},
		"number for a string": {&protocol.ThreadReadParams{}, `{"threadId":5}`,
			"`threadId`: invalid type: number, expected a string", "threadId"},
		"string for a boolean": {&protocol.ThreadReadParams{}, `{"threadId":"t","includeTurns":"yes"}`,
			"`includeTurns`: invalid type: string, expected a boolean", "includeTurns"},
		"string for an object": {&protocol.InitializeParams{}, `{"clientInfo":"probe"}`,
			"`clientInfo`: invalid type: string, expected an object", "clientInfo"},
		"object for a list": {&protocol.TurnStartParams{}, `{"threadId":"t","input":{}}`,
			"`input`: invalid type: object, expected a list", "input"},
		"list for an object": {&protocol.ThreadStartParams{}, `{"config":[]}`,
			"`config`: invalid type: array, expected an object", "config"},
		"boolean for a word": {&protocol.ThreadStartParams{}, `{"sandbox":true}`,
			"`sandbox`: invalid type: bool, expected a string, one of `read-only`, `workspace-write`, `danger-full-access`",
			"sandbox"},
		"number for a policy": {&protocol.ThreadStartParams{}, `{"approvalPolicy":5}`,
			"`approvalPolicy`: invalid type: number, expected a string or an object", "approvalPolicy"},
		"wrong type in a nested object": {&protocol.InitializeParams{}, `{"clientInfo":{"name":5,"version":"1"}}`,
			"`clientInfo.name`: invalid type: number, expected a string", "clientInfo.name"},
		"wrong type in a list": {&protocol.ThreadListParams{}, `{"modelProviders":["a",null]}`,
			"`modelProviders.1`: invalid type: null, expected a string", "modelProviders.1"},
		"wrong type in a variant": {&protocol.TurnStartParams{}, `{"threadId":"t","input":[{"type":"text","text":5}]}`,
			"`input.0.text`: invalid type: number, expected a string", "input.0.text"},
		"wrong type of a tag": {&protocol.TurnStartParams{}, `{"threadId":"t","input":[{"type":5}]}`,
			"`input.0.type`: invalid type: number, expected a string", "input.0.type"},
		"no variant": {&protocol.TurnStartParams{}, `{"threadId":"t","input":[5]}`,
			"`input.0`: invalid type: number, expected an object", "input.0"},
		"null for a variant": {&protocol.TurnStartParams{}, `{"threadId":"t","input":[null]}`,
			"`input.0`: invalid type: null, expected an object", "input.0"},
		"wrong type in a policy": {&protocol.TurnStartParams{},
			turnStart(`"sandboxPolicy":{"type":"workspaceWrite","writableRoots":"/"}`),
			"`sandboxPolicy.writableRoots`: invalid type: string, expected a list", "sandboxPolicy.writableRoots"},
		"details of a word without": {&protocol.ThreadStartParams{}, `{"approvalPolicy":{"never":{}}}`,
			"`approvalPolicy.never`: invalid type: object, expected the word alone", "approvalPolicy.never"},
		"two words": {&protocol.ThreadStartParams{}, `{"approvalPolicy":{"granular":{},"never":{}}}`,
			"`approvalPolicy`: expected an object with one member, got 2", "approvalPolicy"},
	} {
		t.Run(name, func(t *testing.T) {
			requireRefusal(t, protocol.DecodeParams(json.RawMessage(c.params), c.into), c.message, c.field)
		})
	}
}

func requireRefusal(t *testing.T, err error, message, field string) {
	t.Helper()
	var refusal *protocol.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, protocol.CodeInvalidParams, refusal.Code)
	require.Equal(t, "Invalid request: "+message, refusal.Message)
	require.Equal(t, &protocol.ErrorData{Kind: protocol.KindInvalidParams, Field: field}, refusal.Data)
}

// Clients match these words, and read the list.
func TestDecodeParamsListsTheVariants(t *testing.T) {
	for name, c := range map[string]struct {
		into                 any
		params, field, given string
		expected             []string
	}{
		"input": {&protocol.TurnStartParams{}, `{"threadId":"t","input":[{"type":"film"}]}`, "input.0", "film",
			[]string{"text", "image", "localImage", "audio", "localAudio", "skill", "mention"}},
		"detail": {&protocol.TurnStartParams{}, `{"threadId":"t","input":[{"type":"image","url":"u","detail":"huge"}]}`,
			"input.0.detail", "huge",
			[]string{"auto", "low", "high", "original"}},
		"sandbox policy": {&protocol.TurnStartParams{}, turnStart(`"sandboxPolicy":{"type":"open"}`), "sandboxPolicy", "open",
			[]string{"dangerFullAccess", "readOnly", "externalSandbox", "workspaceWrite"}},
		"network": {&protocol.TurnStartParams{},
			turnStart(`"sandboxPolicy":{"type":"externalSandbox","networkAccess":"maybe"}`), "sandboxPolicy.networkAccess",
			"maybe",
			[]string{"restricted", "enabled"}},
		"approval policy": {&protocol.TurnStartParams{}, turnStart(`"approvalPolicy":"later"`), "approvalPolicy", "later",
			[]string{"untrusted", "on-request", "granular", "never"}},
		"approval policy with details": {&protocol.TurnStartParams{}, turnStart(`"approvalPolicy":{"later":{}}`),
			"approvalPolicy", "later",
			[]string{"untrusted", "on-request", "granular", "never"}},
		"approval policy without its details": {&protocol.TurnStartParams{}, turnStart(`"approvalPolicy":"granular"`),
			"approvalPolicy", "granular",
			[]string{"untrusted", "on-request", "never"}},
		"reviewer": {&protocol.ThreadStartParams{}, `{"approvalsReviewer":"nobody"}`, "approvalsReviewer", "nobody",
			[]string{"user", "auto_review", "guardian_subagent"}},
		"summary": {&protocol.TurnStartParams{}, turnStart(`"summary":"long"`), "summary", "long",
			[]string{"auto", "concise", "detailed", "none"}},
		"sandbox mode": {&protocol.ThreadStartParams{}, `{"sandbox":"open"}`, "sandbox", "open",
			[]string{"read-only", "workspace-write", "danger-full-access"}},
		"sort key": {&protocol.ThreadListParams{}, `{"sortKey":"bogus"}`, "sortKey", "bogus",
			[]string{"created_at", "updated_at", "recency_at", "section_position"}},
		"sort direction": {&protocol.ThreadListParams{}, `{"sortDirection":""}`, "sortDirection", "",
			[]string{"asc", "desc"}},
		"source kinds": {&protocol.ThreadListParams{}, `{"sourceKinds":["cli","radio"]}`, "sourceKinds.1", "radio",
			[]string{"cli", "vscode", "exec", "appServer", "subAgent", "subAgentReview", "subAgentCompact",
				"subAgentThreadSpawn", "subAgentOther", "unknown"}},
	} {
		t.Run(name, func(t *testing.T) {
			message := "unknown variant `" + c.given + "`, expected one of `" + strings.Join(c.expected, "`, `") + "`"
			requireRefusal(t, protocol.DecodeParams(json.RawMessage(c.params), c.into), message, c.field)
		})
	}
}

// TestParamsTakeEveryWord expects free text to be accepted.
func TestParamsTakeEveryWord(t *testing.T) {
	for _, key := range []string{"created_at", "updated_at", "recency_at", "section_position"} {
		var p protocol.ThreadListParams
		require.NoError(t, protocol.DecodeParams(json.RawMessage(`{"sortKey":"`+key+`"}`), &p))
		require.Equal(t, key, *p.SortKey)
	}
	for _, effort := range []string{"none", "xhigh", "of next year"} {
		var p protocol.TurnStartParams
		require.NoError(t, protocol.DecodeParams(json.RawMessage(turnStart(`"effort":"`+effort+`"`)), &p))
		require.Equal(t, effort, *p.Effort)
	}
}

func TestUserInputRequiresWhatItIsAbout(t *testing.T) {
	for input, field := range map[string]string{
		`{"type":"text"}`: "text", `{"type":"text","text":null}`: "text",
		`{"type":"image"}`: "url", `{"type":"image","fileId":"f"}`: "url", `{"type":"audio"}`: "url",
		`{"type":"localImage"}`: "path", `{"type":"localAudio"}`: "path",
		`{"type":"mention","name":"n"}`: "path", `{"type":"mention","path":"p"}`: "name",
		`{"type":"skill","name":"n"}`: "path", `{"type":"skill","path":"p"}`: "name",
	} {
		t.Run(input, func(t *testing.T) {
			message, field := "missing field `"+field+"`", "input.0."+field
			requireRefusal(t, protocol.DecodeParams(json.RawMessage(`{"threadId":"t","input":[`+input+`]}`),
				&protocol.TurnStartParams{}), message, field)
			requireRefusal(t, protocol.DecodeParams(json.RawMessage(`{"threadId":"t","expectedTurnId":"u","input":[`+input+`]}`),
				&protocol.TurnSteerParams{}), message, field)
		})
	}
}

func TestNumbersOutOfRange(t *testing.T) {
	for limit, got := range map[string]string{
		`-1`: "number -1", `4294967296`: "number 4294967296", `1.5`: "number 1.5", `"ten"`: "string",
	} {
		requireRefusal(t, protocol.DecodeParams(json.RawMessage(`{"limit":`+limit+`}`), &protocol.ThreadListParams{}),
			"`limit`: invalid type: "+got+", expected an integer from 0 to 4294967295", "limit")
	}
}

func TestParamsMustBeAnObject(t *testing.T) {
	for params, kind := range map[string]string{`[]`: "array", `"x"`: "string", `5`: "number", `true`: "bool"} {
		err := protocol.DecodeParams(json.RawMessage(params), &protocol.ThreadListParams{})
		requireRefusal(t, err, "invalid type: "+kind+", expected an object", "")
	}
}

func TestParamsMustBeJSON(t *testing.T) {
	deep := `{"threadId":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`
	for _, params := range []string{`{`, `{"threadId":"t",}`, `{"threadId":"t"}}`, `xyz`, "{\"threadId\":\"\x01\"}",
		deep} {
		requireRefusal(t, protocol.DecodeParams(json.RawMessage(params), &protocol.ThreadReadParams{}),
			"not JSON, or nested too deeply", "")
	}
}

// TestParamsCanBeWritten: what is taken fits the messages and the lines that are made of it.
func TestParamsCanBeWritten(t *testing.T) {
	taken := 0
	for _, depth := range []int{9_899, 9_900, 9_901, 9_999} {
		params := json.RawMessage(`{"a\"[":` + strings.Repeat("[", depth-1) + `"[[{"` + strings.Repeat("]", depth-1) + `}`)
		if protocol.DecodeParams(params, &protocol.ThreadListParams{}) != nil {
			continue
		}
		taken = depth
		wrapped, err := protocol.Marshal(params)
		for range 50 {
			if err == nil {
				wrapped, err = protocol.Marshal([]json.RawMessage{wrapped})
			}
		}
		require.NoError(t, err, depth)
	}
	require.Equal(t, 9_900, taken)
}

func TestAbsentParamsAreEmpty(t *testing.T) {
	for _, params := range []string{``, ` `, `null`, ` null `, `{}`} {
		var p protocol.ThreadListParams
		require.NoError(t, protocol.DecodeParams(json.RawMessage(params), &p))
		require.Zero(t, p)
	}
}

func TestNullMembersAreAbsent(t *testing.T) {
	for _, m := range protocol.Methods() {
		params := map[string]json.RawMessage{}
		require.NoError(t, json.Unmarshal(encode(t, builder{bare{}}.value(m.Params).Interface()), &params))
		for i := range m.Params.NumField() {
			if name, options, _ := strings.Cut(m.Params.Field(i).Tag.Get("json"), ","); options == "omitempty" {
				delete(params, name)
			}
		}
		without, with := reflect.New(m.Params).Interface(), reflect.New(m.Params).Interface()
		require.NoError(t, protocol.DecodeParams(encode(t, params), without))
		for i := range m.Params.NumField() {
			if name, options, _ := strings.Cut(m.Params.Field(i).Tag.Get("json"), ","); options == "omitempty" {
				params[name] = json.RawMessage("null")
			}
		}
		require.NoError(t, protocol.DecodeParams(encode(t, params), with), m.Name)
		require.Equal(t, without, with, m.Name)
	}
}

// TestNullOutputSchemaIsAbsent expects a null schema to count as no schema.
func TestNullOutputSchemaIsAbsent(t *testing.T) {
	var p protocol.TurnStartParams
	require.NoError(t, protocol.DecodeParams(json.RawMessage(turnStart(`"outputSchema":null`)), &p))
	require.Nil(t, p.OutputSchema)
}

func TestUnknownMembersArePassedOver(t *testing.T) {
	var p protocol.ThreadReadParams
	require.NoError(t, protocol.DecodeParams(json.RawMessage(`{"threadId":"t","tomorrow":{"a":[1]}}`), &p))
	require.Equal(t, "t", p.ThreadID)
}

func TestTheLastOfSeveralMembersCounts(t *testing.T) {
	var p protocol.ThreadReadParams
	require.NoError(t, protocol.DecodeParams(json.RawMessage(`{"threadId":"a","thread\u0049d":"b"}`), &p))
	require.Equal(t, "b", p.ThreadID)
}

func TestTextsAreUnescapedAndMadeUTF8(t *testing.T) {
	for text, want := range map[string]string{
		`plain`: "plain", `a\"b\\c\/d\n\t`: "a\"b\\c/d\n\t", `\u00e9\ud83d\ude00é😀`: "é😀é😀", ``: "",
		`\ud800x`: "\uFFFDx", "a\xffb": "a\uFFFDb",
	} {
		var p protocol.ThreadReadParams
		require.NoError(t, protocol.DecodeParams(json.RawMessage(`{"threadId":"`+text+`"}`), &p), text)
		require.Equal(t, want, p.ThreadID)
	}
}

// parent is embedded, and holds an object and a list of its own.
type parent struct {
	Name string `json:"name"`
}

type nested struct {
	parent
	Inner  parent    `json:"inner"`
	List   []parent  `json:"list" default:"[]"`
	Choice *string   `json:"choice,omitempty" oneof:"a b"`
	Word   string    `json:"word" oneof:"x y" default:"x"`
	Flag   bool      `json:"flag" default:"true"`
	Maybe  *parent   `json:"maybe,omitempty"`
	Both   *[]string `json:"both,omitempty" oneof:"a b"`
}

func TestDecodeParamsReadsTheTags(t *testing.T) {
	var p nested
	require.NoError(t, protocol.DecodeParams(json.RawMessage(`{"name":"n","inner":{"name":"i"},"word":null}`), &p))
	require.Equal(t, nested{parent: parent{"n"}, Inner: parent{"i"}, List: []parent{}, Word: "x", Flag: true}, p)

	require.NoError(t, protocol.DecodeParams(json.RawMessage(
		`{"name":"n","inner":{"name":"i"},"list":[{"name":"l"}],"choice":"a","word":"y","flag":false,"maybe":{"name":"m"},"both":["b","a"]}`), &p))
	require.Equal(t, []parent{{"l"}}, p.List)
	require.Equal(t, "a", *p.Choice)
	require.Equal(t, "y", p.Word)
	require.False(t, p.Flag)
	require.Equal(t, "m", p.Maybe.Name)
	require.Equal(t, []string{"b", "a"}, *p.Both)
}

func TestDecodeParamsChecksNestedMembers(t *testing.T) {
	for members, c := range map[string]struct{ message, field string }{
		`"inner":{"name":"i"}`:                                  {"missing field `name`", "name"},
		`"name":"n"`:                                            {"missing field `inner`", "inner"},
		`"name":"n","inner":{}`:                                 {"missing field `name`", "inner.name"},
		`"name":"n","inner":{"name":"i"},"list":[{}]`:           {"missing field `name`", "list.0.name"},
		`"name":"n","inner":{"name":"i"},"maybe":{"name":null}`: {"missing field `name`", "maybe.name"},
		`"name":"n","inner":{"name":"i"},"list":[null]`: {"`list.0`: invalid type: null, expected an object",
			"list.0"},
		`"name":"n","inner":{"name":"i"},"choice":"c"`:     {"unknown variant `c`, expected one of `a`, `b`", "choice"},
		`"name":"n","inner":{"name":"i"},"both":["a","c"]`: {"unknown variant `c`, expected one of `a`, `b`", "both.1"},
		`"name":"n","inner":{"name":"i"},"word":""`:        {"unknown variant ``, expected one of `x`, `y`", "word"},
	} {
		requireRefusal(t, protocol.DecodeParams(json.RawMessage("{"+members+"}"), &nested{}), c.message, c.field)
	}
}

func TestOneOrMany(t *testing.T) {
	for params, want := range map[string]protocol.OneOrMany{
		`{"cwd":"/a"}`: {"/a"}, `{"cwd":["/a","/b"]}`: {"/a", "/b"}, `{"cwd":[]}`: {}, `{"cwd":null}`: nil,
	} {
		var p protocol.ThreadListParams
		require.NoError(t, protocol.DecodeParams(json.RawMessage(params), &p))
		require.Equal(t, want, p.Cwd, params)
	}
	requireRefusal(t, protocol.DecodeParams(json.RawMessage(`{"cwd":["/a",5]}`), &protocol.ThreadListParams{}),
		"`cwd.1`: invalid type: number, expected a string", "cwd.1")
	requireRefusal(t, protocol.DecodeParams(json.RawMessage(`{"cwd":5}`), &protocol.ThreadListParams{}),
		"`cwd`: invalid type: number, expected a list", "cwd")
	var alone protocol.OneOrMany
	require.NoError(t, json.Unmarshal([]byte(`null`), &alone))
	require.Nil(t, alone)
}

func TestProvidersNullAndEmptyDiffer(t *testing.T) {
	var p protocol.ThreadListParams
	require.NoError(t, protocol.DecodeParams(json.RawMessage(`{"modelProviders":[]}`), &p))
	require.NotNil(t, p.ModelProviders)
	require.Empty(t, *p.ModelProviders)
}

// largeText returns a turn/start with a text of n bytes.
func largeText(n int, with string) json.RawMessage {
	text := strings.Repeat(with, n/len(with))
	return json.RawMessage(`{"threadId":"t","model":"m","input":[{"type":"text","text":"` + text + `"}]}`)
}

func TestLargeTextsAreCopiedAsOftenAsNeeded(t *testing.T) {
	const size = 8 << 20
	for with, copies := range map[string]uint64{
		"text ": 2, // the params, and the text
		`te\nt`: 3, // the same, and the text while it is unescaped
	} {
		params := largeText(size, with)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var p protocol.TurnStartParams
		require.NoError(t, protocol.DecodeParams(params, &p))
		runtime.ReadMemStats(&after)
		require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, copies*size+size/8, with)
	}
}

// A thread keeps its model for days; the text that came with it is gone.
func TestSmallMembersDoNotKeepLargeParams(t *testing.T) {
	const size = 32 << 20
	var p protocol.TurnStartParams
	require.NoError(t, protocol.DecodeParams(largeText(size, "text "), &p))
	p.Input = nil
	var after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, after.HeapAlloc, uint64(size))
	require.Equal(t, "m", *p.Model)
	require.Equal(t, "t", p.ThreadID)
}

func BenchmarkDecodeParams(b *testing.B) {
	for name, params := range map[string]json.RawMessage{
		"turn":      json.RawMessage(`{"threadId":"t","input":[{"type":"text","text":"hi","text_elements":[]}],"cwd":"/w","approvalPolicy":"on-request","sandboxPolicy":{"type":"workspaceWrite"}}`),
		"8 MiB":     largeText(8<<20, "text "),
		"8 MiB \\n": largeText(8<<20, `te\nt`),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(params)))
			for b.Loop() {
				if err := protocol.DecodeParams(params, &protocol.TurnStartParams{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
