package protocol_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

func TestEveryVariantSurvivesTheWire(t *testing.T) {
	for _, u := range allUnions() {
		for i, variant := range u.Variants {
			for _, c := range []chooser{bare{}, full{0}, full{1}} {
				want := reflect.New(u.Type).Elem()
				want.Field(0).Set(reflect.New(variant.Type))
				want.Field(0).Elem().Elem().Set(builder{c}.value(variant.Type))
				encoded := encode(t, want.Interface())

				require.True(t, bytes.HasPrefix(encoded, []byte(`{"`+u.Member+`":"`+variant.Tag+`"`)), "%s: the tag comes first",
					encoded)
				got := reflect.New(u.Type)
				require.NoError(t, json.Unmarshal(encoded, got.Interface()), "%v %d: %s", u.Type, i, encoded)
				require.IsType(t, want.Field(0).Interface(), got.Elem().Field(0).Interface())
				require.Equal(t, string(encoded), string(encode(t, got.Elem().Interface())))
			}
		}
	}
}

func TestTagsAreUnique(t *testing.T) {
	for _, u := range allUnions() {
		tags, types := map[string]bool{}, map[reflect.Type]bool{}
		for _, v := range u.Variants {
			require.False(t, tags[v.Tag], v.Tag)
			require.False(t, types[v.Type], v.Type)
			tags[v.Tag], types[v.Type] = true, true
		}
		require.NotEmpty(t, tags)
	}
}

// unknownItems are entries of later versions.
var unknownItems = []string{
	`{"type":"hologram","id":"h1","depth":1e400,"nested":{"b":1,"a":[2,null]}}`,
	`{"id":"h2","type":"hologram"}`,
	`{"type":"hologram","id":5}`,
	`{"type":"hologram","type":"poem","id":"last tag counts"}`,
	`{"type":"","text":"<b>&</b>"}`,
	`{"type":null}`,
}

func TestUnknownThreadItemsAreKeptByteForByte(t *testing.T) {
	for _, raw := range unknownItems {
		var item protocol.ThreadItem
		require.NoError(t, json.Unmarshal([]byte(raw), &item), raw)
		require.IsType(t, &protocol.Unknown{}, item.ThreadItemVariant)
		require.Equal(t, raw, string(encode(t, item)))
	}
}

func TestUnknownResponseItemsAreKeptByteForByte(t *testing.T) {
	for _, raw := range unknownItems {
		var item protocol.ResponseItem
		require.NoError(t, json.Unmarshal([]byte(raw), &item), raw)
		require.IsType(t, &protocol.Unknown{}, item.ResponseItemVariant)
		require.Equal(t, raw, string(encode(t, item)))
	}
}

func TestUnknownItemsDoNotShareTheBufferTheyAreReadFrom(t *testing.T) {
	buffer := []byte(`{"type":"hologram","id":"h1"}`)
	var item protocol.ThreadItem
	require.NoError(t, item.UnmarshalJSON(buffer))
	copy(buffer, bytes.Repeat([]byte("x"), len(buffer)))
	require.Equal(t, "h1", item.ItemID())
}

func TestItemID(t *testing.T) {
	items, ok := unionOf(reflect.TypeFor[protocol.ThreadItem]())
	require.True(t, ok)
	for _, variant := range items.Variants {
		v := reflect.New(variant.Type)
		v.Elem().FieldByName("ID").SetString("item-1")
		item, ok := v.Interface().(protocol.ThreadItemVariant)
		require.True(t, ok, variant.Tag)
		require.Equal(t, "item-1", item.ItemID())
	}
	require.Equal(t, "h1", (&protocol.Unknown{Raw: json.RawMessage(unknownItems[0])}).ItemID())
	require.Empty(t, (&protocol.Unknown{Raw: json.RawMessage(unknownItems[2])}).ItemID(),
		"an id that is no string is none")
	require.Empty(t, (&protocol.Unknown{}).ItemID())
}

func TestClosedUnionsNameWhatTheyExpect(t *testing.T) {
	for name, into := range map[string]any{
		"SandboxPolicy": new(protocol.SandboxPolicy), "ThreadStatus": new(protocol.ThreadStatus),
	} {
		err := json.Unmarshal([]byte(`{"type":"hologram"}`), into)
		var unknown *protocol.UnknownVariantError
		require.ErrorAs(t, err, &unknown, name)
		require.Equal(t, "hologram", unknown.Value)
		require.NotEmpty(t, unknown.Expected)
		require.ErrorContains(t, err, "unknown variant `hologram`, expected one of `"+unknown.Expected[0]+"`")
	}
}

func TestUnionsRefuseWhatHasNoTag(t *testing.T) {
	for _, u := range allUnions() {
		for _, raw := range []string{`{}`, `null`, `5`, `"text"`, `[]`, `{"type":5}`, `{"type":{}}`} {
			err := json.Unmarshal([]byte(raw), reflect.New(u.Type).Interface())
			require.Error(t, err, "%v %s", u.Type, raw)
		}
	}
}

func TestUnionsRefuseVariantsOfOthers(t *testing.T) {
	_, err := protocol.Marshal(protocol.ThreadItem{})
	require.Error(t, err, "no variant at all")
	var none *protocol.ReadOnly
	_, err = protocol.Marshal(protocol.SandboxPolicy{SandboxPolicyVariant: none})
	require.Error(t, err, "a nil variant")
}

// unknownInputs are parts of user input of later versions. Params reject them; items show them
// unchanged.
var unknownInputs = []string{
	`{"type":"film","url":"x","frames":[1,2]}`,
	`{"type":"image","fileId":"f"}`,
	`{"type":"image","url":"u","detail":"of another version"}`,
	`{"type":"text","text":null}`,
	`{"type":"text","text":["a"]}`,
	`{"type":"skill","path":"p"}`,
	`{"type":""}`,
}

func TestUserMessagesKeepPartsThatAreNotKnown(t *testing.T) {
	for _, part := range unknownInputs {
		raw := `{"type":"userMessage","id":"i","clientId":null,"content":[` + part +
			`,{"type":"text","text":"hi","text_elements":[]}],"startedAtMs":null,"completedAtMs":null}`
		var item protocol.ThreadItem
		require.NoError(t, json.Unmarshal([]byte(raw), &item), part)
		content := item.ThreadItemVariant.(*protocol.UserMessageItem).Content
		require.IsType(t, &protocol.Unknown{}, content[0].UserInputVariant, part)
		require.IsType(t, &protocol.TextInput{}, content[1].UserInputVariant)
		require.Equal(t, raw, string(encode(t, item)))
	}
}

// The schema lets items have parts of other versions, and requests not.
func TestSchemaOfPartsThatAreNotKnown(t *testing.T) {
	var part protocol.UserInput
	require.NoError(t, json.Unmarshal([]byte(unknownInputs[0]), &part))
	s, content := schemas(t), []protocol.UserInput{part}
	item := protocol.ThreadItem{ThreadItemVariant: &protocol.UserMessageItem{Content: content}}
	require.NoError(t, s.Validate("ItemCompletedNotification", encode(t, protocol.ItemCompletedNotification{Item: item})))
	require.Error(t, s.Validate("TurnStartParams", encode(t, protocol.TurnStartParams{Input: content})))
}

func TestUserInputIsAnObjectWithAType(t *testing.T) {
	for _, raw := range []string{`{}`, `null`, `5`, `"text"`, `[]`, `{"type":5}`, `{"type":null}`, `{"text":"hi"}`} {
		require.Error(t, json.Unmarshal([]byte(raw), new(protocol.UserInput)), raw)
	}
}

// Lists that are null, or not there, come out as lists.
func TestNullListsAreEmptyLists(t *testing.T) {
	for raw, c := range map[string]struct {
		into any
		want string
	}{
		`{"type":"workspaceWrite","writableRoots":null}`:    {&protocol.SandboxPolicy{}, `"writableRoots":[]`},
		`{"type":"userMessage","id":"i","content":null}`:    {&protocol.ThreadItem{}, `"content":[]`},
		`{"type":"userMessage","id":"i"}`:                   {&protocol.ThreadItem{}, `"content":[]`},
		`{"type":"reasoning","id":"i","summary":null}`:      {&protocol.ThreadItem{}, `"summary":[],"content":[]`},
		`{"type":"fileChange","id":"i","changes":null}`:     {&protocol.ThreadItem{}, `"changes":[]`},
		`{"type":"commandExecution","commandActions":null}`: {&protocol.ThreadItem{}, `"commandActions":[]`},
		`{"type":"message","role":"user","content":null}`:   {&protocol.ResponseItem{}, `"content":[]`},
		`{"type":"reasoning","summary":null}`: {&protocol.ResponseItem{},
			`"summary":[],"encrypted_content":null`},
		`{"type":"local_shell_call","action":{"command":null}}`:       {&protocol.ResponseItem{}, `"command":[]`},
		`{"type":"agentMessage","id":"i","text":"t"}`:                 {&protocol.ThreadItem{}, `"moderation":null`},
		`{"type":"function_call_output","call_id":"c","output":null}`: {&protocol.ResponseItem{}, `"output":""`},
	} {
		t.Run(raw, func(t *testing.T) {
			require.NoError(t, json.Unmarshal([]byte(raw), c.into))
			require.Contains(t, string(encode(t, c.into)), c.want)
		})
	}
}

// TestUnknownVariantsWithoutJSON expects a value that was not decoded from JSON to encode.
func TestUnknownVariantsWithoutJSON(t *testing.T) {
	require.Equal(t, `{"type":"hologram"}`,
		string(encode(t, protocol.ThreadItem{ThreadItemVariant: &protocol.Unknown{Tag: "hologram"}})))
	require.Equal(t, `{"type":""}`, string(encode(t, protocol.ResponseItem{ResponseItemVariant: &protocol.Unknown{}})))
	var none *protocol.Unknown
	_, err := protocol.Marshal(protocol.UserInput{UserInputVariant: none})
	require.Error(t, err)
}

func TestReadingAnItemForgetsTheOneBefore(t *testing.T) {
	at := int64(5)
	item := protocol.ThreadItem{ThreadItemVariant: &protocol.PlanItem{}, StartedAtMs: &at}
	require.NoError(t, json.Unmarshal([]byte(unknownItems[0]), &item))
	require.Nil(t, item.StartedAtMs)
}

func TestItemTimes(t *testing.T) {
	var item protocol.ThreadItem
	require.NoError(t, json.Unmarshal([]byte(`{"type":"plan","id":"p","text":"t","startedAtMs":5}`), &item))
	require.EqualValues(t, 5, *item.StartedAtMs)
	require.Nil(t, item.CompletedAtMs)
	require.Equal(t, `{"type":"plan","id":"p","text":"t","startedAtMs":5,"completedAtMs":null}`, string(encode(t, item)))
	require.Error(t, json.Unmarshal([]byte(`{"type":"plan","id":"p","text":"t","startedAtMs":"soon"}`), &item))
}

func TestMembersOfVariantsThatAreLeftOut(t *testing.T) {
	for raw, want := range map[string]string{
		`{"type":"text","text":"hi"}`:                                                     `{"type":"text","text":"hi","text_elements":[]}`,
		`{"type":"text","text":"hi","text_elements":null}`:                                `{"type":"text","text":"hi","text_elements":[]}`,
		`{"type":"text","text":"@a","text_elements":[{"byteRange":{"start":0,"end":2}}]}`: `{"type":"text","text":"@a","text_elements":[{"byteRange":{"start":0,"end":2},"placeholder":null}]}`,
		`{"type":"image","url":"data:,x"}`:                                                `{"type":"image","detail":null,"url":"data:,x"}`,
		`{"type":"localImage","path":"/i.png","detail":"low"}`:                            `{"type":"localImage","detail":"low","path":"/i.png"}`,
	} {
		var input protocol.UserInput
		require.NoError(t, json.Unmarshal([]byte(raw), &input))
		require.Equal(t, want, string(encode(t, input)))
	}
	for raw, want := range map[string]string{
		`{"type":"readOnly"}`:                                 `{"type":"readOnly","networkAccess":false}`,
		`{"type":"externalSandbox"}`:                          `{"type":"externalSandbox","networkAccess":"restricted"}`,
		`{"type":"workspaceWrite","writableRoots":["/data"]}`: `{"type":"workspaceWrite","writableRoots":["/data"],"networkAccess":false,"excludeTmpdirEnvVar":false,"excludeSlashTmp":false}`,
		`{"type":"workspaceWrite"}`:                           `{"type":"workspaceWrite","writableRoots":[],"networkAccess":false,"excludeTmpdirEnvVar":false,"excludeSlashTmp":false}`,
	} {
		var policy protocol.SandboxPolicy
		require.NoError(t, json.Unmarshal([]byte(raw), &policy))
		require.Equal(t, want, string(encode(t, policy)))
	}
}

func TestMarshalKeepsBytesThatHTMLEscapes(t *testing.T) {
	require.Equal(t, `{"a":"<b> & \"c\""}`, string(encode(t, map[string]string{"a": `<b> & "c"`})))
	_, err := protocol.Marshal(func() {})
	require.Error(t, err)
}
