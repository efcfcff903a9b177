package jsonrepair_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core/pure/jsonrepair"
	"appserver/test/sample"
)

func TestObjectFindsWhatTheModelMeant(t *testing.T) {
	const whole = `{"command":"echo 1"}`
	for name, tt := range map[string]struct{ text, want string }{
		"an object":                       {whole, whole},
		"with blanks around":              {" \n" + whole + "\t", whole},
		"empty":                           {`{}`, `{}`},
		"empty twice":                     {`{}{}`, `{}`},
		"whole twice":                     {whole + whole, whole},
		"whole three times, in lines":     {whole + "\n" + whole + "\n" + whole, whole},
		"another one after it":            {`{"command":"echo 0"}` + whole, whole},
		"empty, then whole":               {`{}` + whole, whole},
		"whole, then empty":               {whole + `{}`, whole},
		"empty, whole, empty":             {`{ }` + whole + `{ }`, whole},
		"whole, then a beginning":         {whole + `{"comm`, whole},
		"whole, then another beginning":   {whole + `{"comm{"x":{}`, whole},
		"a brace, then whole":             {`{` + whole, whole},
		"a quote, then whole":             {`{"` + whole, whole},
		"a name, then whole":              {`{"comm` + whole, whole},
		"a whole name, then whole":        {`{"command"` + whole, whole},
		"a colon, then whole":             {`{"command":` + whole, whole},
		"a value, then whole":             {`{"command":"ec` + whole, whole},
		"all but the brace, then whole":   {`{"command":"echo 1"` + whole, whole},
		"empty, a beginning, then whole":  {`{}{"command":"ec` + whole, whole},
		"snapshots":                       {`{"c{"command":{"command":"ec{"command":"echo 1"` + whole, whole},
		"a beginning with other blanks":   {`{ "command" : "ec` + whole, whole},
		"members in another order":        {`{"workdir":"/","comm` + `{"command":"a","workdir":"/"}`, `{"command":"a","workdir":"/"}`},
		"inner objects":                   {`{"plan":[{"step":"a"}{"plan":[{"step":"a"},{"step":"b"}]}`, `{"plan":[{"step":"a"},{"step":"b"}]}`},
		"in a string":                     {`"{\"command\":\"echo 1\"}"`, whole},
		"in a string in a string":         {`"\"{\\\"command\\\":\\\"echo 1\\\"}\""`, whole},
		"a fence after it":                {whole + "\n```", whole},
		"a fence around it":               {"```json\n" + whole + "\n```", whole},
		"a mark of the template after it": {whole + "</tool_call>", whole},
		"a mark of the template":          {"<|message|>" + whole + "<|call|>", whole},
		"a brace too many":                {whole + "}", whole},
		"commas between":                  {whole + "," + whole, whole},
		"a comma at the end":              {`{"command":"echo 1",}`, whole},
		"commas at ends":                  {`{"a":[1,2, ],"b":{"c":",}",},}`, `{"a":[1,2 ],"b":{"c":",}"}}`},
		"raw line breaks":                 {"{\"command\":\"a\n\tb\"}", `{"command":"a\u000a\u0009b"}`},
		"raw line breaks, and a comma":    {"{\"command\":\"a\nb\",\n}", "{\"command\":\"a\\u000ab\"\n}"},
		"braces in a string":              {`{"command":"echo {\"a\":1}"}{}`, `{"command":"echo {\"a\":1}"}`},
	} {
		got, found := jsonrepair.Object(tt.text)
		require.True(t, found, name)
		require.Equal(t, tt.want, got, name)
		require.True(t, json.Valid([]byte(got)), name)
	}
}

func TestObjectRefusesTextsWithoutOneMeaning(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                "",
		"null":                   "null",
		"a list":                 `[1]`,
		"a number":               `7`,
		"a word":                 `"echo 1"`,
		"not closed":             `{"command":"echo 1"`,
		"not closed in a string": `{"command":"echo 1`,
		"an inner object that is whole, in arguments that broke off": `{"filter":{"path":"x"}`,
		"an inner list":  `{"plan":[{"step":"a","status":"pending"},{"step":"b"}`,
		"empty, cut off": `{}{"command":"ec`,
		"words":          `echo {1}`,
		"closed only":    `}{`,
	} {
		got, found := jsonrepair.Object(text)
		require.False(t, found, "%s: %s", name, got)
	}
}

// TestObjectSurvivesAnyRepetition sends any beginnings of an object before all of it.
func TestObjectSurvivesAnyRepetition(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[a-z"{}\\:, é\n]{0,12}`)
		object, err := json.Marshal(map[string]any{"command": value.Draw(t, "command"), "list": []any{
			map[string]string{"step": value.Draw(t, "step")}, value.Draw(t, "entry")}})
		require.NoError(t, err)
		text := ""
		for range rapid.IntRange(0, 3).Draw(t, "beginnings") {
			if rapid.Bool().Draw(t, "empty") {
				text += "{}"
			}
			text += string(object[:rapid.IntRange(0, len(object)).Draw(t, "cut")])
		}
		got, found := jsonrepair.Object(text + string(object))
		require.True(t, found)
		require.Equal(t, string(object), got)
	})
}

func FuzzObject(f *testing.F) {
	f.Add(`{"a":{"a":{"a":1}}{"a":1}`)
	f.Add("{\"a\":\"\n\",}")
	f.Add(`"{}"`)
	f.Add(strings.Repeat(`{"a":`, 100))
	f.Fuzz(func(t *testing.T, text string) {
		object, found := jsonrepair.Object(text)
		if found {
			require.True(t, json.Valid([]byte(object)), object)
			require.Equal(t, byte('{'), object[0])
			again, found := jsonrepair.Object(object)
			require.True(t, found)
			require.Equal(t, object, again)
		}
	})
}

// TestHostileTextsEndInTime gives texts that a search for each brace would read as often as they have braces.
func TestHostileTextsEndInTime(t *testing.T) {
	for _, text := range []string{
		strings.Repeat(`{"a":`, 1<<17) + "}",
		strings.Repeat(`{"a":[`, 1<<17) + "}",
		strings.Repeat(`{"a":{}`, 1<<17) + "}",
		strings.Repeat(`{`, 1<<20) + "}",
		strings.Repeat(`{"a":"`, 1<<17) + "}",
		strings.Repeat(`{"a":1},`, 1<<17) + "}",
		strings.Repeat("[", 32<<20),
		`{"a":` + strings.Repeat("[", 32<<20) + "}",
	} {
		_, _ = jsonrepair.Object(text)
	}
}
