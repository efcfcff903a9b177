package offline_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"appserver/core/effects/model/offline"

	"github.com/stretchr/testify/require"
)

func TestScriptFaultsNameThePlace(t *testing.T) {
	step := func(s string) string { return `{"steps":[{"text":"ok"},` + s + `]}` }
	for document, want := range map[string]string{
		"":                                  "script: line 1, column 0: the document ends too early",
		"{\n  \"steps\": [\n  }]":           "script: line 3, column 3: invalid character '}'",
		`{"steps":[`:                        "script: line 1, column 10: the document ends too early",
		`{"turns":[]}`:                      `script: json: unknown field "turns"`,
		`{"steps":{}}`:                      "script: line 1, column 10: json: cannot unmarshal object",
		`{"steps":[]} {}`:                   "script: there is something after the end",
		step(`{"txt":"a"}`):                 `script: steps[1]: unknown field "txt"`,
		step(`{"text":7}`):                  "script: steps[1].text: want string, got number",
		step(`{"usage":{"input":"x"}}`):     "script: steps[1].usage.input: want int64, got string",
		step(`{}`):                          "script: steps[1]: the step holds no answer",
		step(`null`):                        "script: steps[1]: the step holds no answer",
		step(`[]`):                          "script: steps[1]: cannot unmarshal array",
		step(`{"text":"a","deltas":["b"]}`): "script: steps[1].deltas: give text or deltas",
		step(`{"text":"a","delayMs":-1}`):   "script: steps[1].delayMs: must not be negative",
		step(`{"text":"a","gapMs":-1}`):     "script: steps[1].gapMs: must not be negative",
		step(`{"text":"a","usage":{"output":-1}}`):               "script: steps[1].usage: must not be negative",
		step(`{"text":"a","usage":{"input":1,"cached":2}}`):      "script: steps[1].usage.cached: must not exceed input",
		step(`{"toolCalls":[{"name":"f"},{"arguments":{}}]}`):    "script: steps[1].toolCalls[1].name: is missing",
		step(`{"toolCalls":[{"name":"f","arguments":[1]}]}`):     "script: steps[1]: arguments must be an object or a string",
		step(`{"error":{}}`):                                     "script: steps[1].error.status: want an HTTP status",
		step(`{"error":{"status":200}}`):                         "script: steps[1].error.status: want an HTTP status",
		step(`{"error":{"status":500,"times":-1}}`):              "script: steps[1].error.times: must not be negative",
		step(`{"error":{"status":500,"retryAfterMs":-1}}`):       "script: steps[1].error.retryAfterMs: must not be negative",
		step(`{"toolCalls":[{"name":"f","arguments":{"a":1},}]`): "script: line 1, column",
	} {
		_, err := offline.ReadScript(strings.NewReader(document))
		require.Error(t, err, document)
		require.Contains(t, err.Error(), want, document)
	}
}

func TestScriptThatCannotBeRead(t *testing.T) {
	_, err := offline.ReadScript(iotest.ErrReader(errors.New("disk on fire")))
	require.EqualError(t, err, "reading the script: disk on fire")
}

func TestEmptyScripts(t *testing.T) {
	for _, document := range []string{"{}", `{"steps":[]}`, `{"steps":null}`} {
		s, err := offline.ReadScript(strings.NewReader(document))
		require.NoError(t, err)
		require.Empty(t, s.Steps)
	}
}
