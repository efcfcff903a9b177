package view

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// wholeMembers are members that textLimit does not cut, with the reason.
var wholeMembers = map[string]string{
	"id": "clients find the item by it", "clientId": "clients find their message by it",
	"phase": "an enum", "status": "an enum", "source": "an enum", "type": "an enum", "detail": "an enum",
	"processId": "an id", "pluginId": "an id", "server": "a name", "tool": "a name", "namespace": "a name",
	"cwd": "a path", "path": "a path", "scriptPath": "a path", "move_path": "a path", "name": "a name of a file",
	"kind": "a type and a path", "url": "a part of an address leads elsewhere",
	"imageUrl": "a part of an address leads elsewhere", "image_url": "a part of an address leads elsewhere",
	"moderation": "always null", "memoryCitation": "always null", "delivery": "always null", "questions": "always null",
	"appContext": "always null", "mcpAppUi": "always null",
}

// TestTextLimitCutsEachMember fills all members of all items with long texts. A new member or item fails
// until it is cut, or has a reason to stay whole.
func TestTextLimitCutsEachMember(t *testing.T) {
	const limit = 10
	for _, variant := range []protocol.ThreadItemVariant{
		&protocol.UserMessageItem{}, &protocol.AgentMessageItem{}, &protocol.PlanItem{}, &protocol.ReasoningItem{},
		&protocol.CommandExecutionItem{}, &protocol.FileChangeItem{}, &protocol.McpToolCallItem{},
		&protocol.ImageViewItem{}, &protocol.WebSearchItem{}, &protocol.DynamicToolCallItem{},
		&protocol.ContextCompactionItem{}, &protocol.EnteredReviewModeItem{}, &protocol.ExitedReviewModeItem{},
	} {
		fillLong(t, reflect.ValueOf(variant).Elem())
		item := protocol.ThreadItem{ThreadItemVariant: variant}
		before := encoded(t, item)
		short, truncated := shortItem(item, limit)
		after := encoded(t, short)
		require.Equal(t, before != after, truncated, "%T", variant)
		require.Equal(t, before, encoded(t, item), "%T: the item of the thread stays", variant)
		requireShort(t, limit, reflect.TypeOf(variant).Elem().Name(), "", gjson.Parse(after))

		same, truncated := shortItem(item, 1000)
		require.False(t, truncated, "%T", variant)
		require.Equal(t, before, encoded(t, same), "%T", variant)
	}
}

func encoded(t *testing.T, item protocol.ThreadItem) string {
	raw, err := protocol.Marshal(item)
	require.NoError(t, err)
	return string(raw)
}

// fillLong gives each field a long text. Fields of other kinds stay zero.
func fillLong(t *testing.T, v reflect.Value) {
	long := strings.Repeat("ä", 60)
	switch v.Interface().(type) {
	case json.RawMessage:
		v.SetBytes([]byte(`{"type":"other","data":"` + long + `"}`))
		return
	case protocol.UserInput:
		v.Set(reflect.ValueOf(protocol.UserInput{UserInputVariant: &protocol.TextInput{Text: long}}))
		return
	case protocol.DynamicToolContent:
		v.Set(reflect.ValueOf(protocol.DynamicToolContent{
			DynamicToolContentVariant: &protocol.DynamicToolText{Text: long},
		}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(long)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillLong(t, v.Index(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillLong(t, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			fillLong(t, v.Field(i))
		}
	case reflect.Bool, reflect.Int, reflect.Int64:
	default:
		require.Fail(t, "a field of another kind", "%s", v.Type())
	}
}

// requireShort requires that all texts below a member are short.
func requireShort(t *testing.T, limit int, item, member string, v gjson.Result) {
	if wholeMembers[member] != "" {
		return
	}
	if v.IsObject() || v.IsArray() {
		v.ForEach(func(key, value gjson.Result) bool {
			name := member
			if key.Type == gjson.String {
				name = key.Str
			}
			requireShort(t, limit, item, name, value)
			return true
		})
		return
	}
	require.LessOrEqual(t, utf8.RuneCountInString(v.String()), limit+1, "%s: member %s", item, member)
}

// TestTextLimitLeavesOutDataOnly keeps addresses of images, and leaves out images and sounds that are
// data.
func TestTextLimitLeavesOutDataOnly(t *testing.T) {
	image := func(url string) protocol.UserInput {
		return protocol.UserInput{UserInputVariant: &protocol.ImageInput{URL: url}}
	}
	data := "data:audio/wav;base64,AAAA"
	item := protocol.ThreadItem{ThreadItemVariant: &protocol.UserMessageItem{Content: []protocol.UserInput{
		image("https://example.com/a.png"), image("data:image/png;base64,AAAA"),
		{UserInputVariant: &protocol.AudioInput{URL: data}},
	}}}
	short, truncated := shortItem(item, 10)
	require.True(t, truncated)
	var urls []string
	for _, in := range gjson.Get(encoded(t, short), "content.#.url").Array() {
		urls = append(urls, in.Str)
	}
	require.Equal(t, []string{"https://example.com/a.png", "data:,", "data:,"}, urls)
}
