package protocol_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// walked is a member, or an element without a name.
type walked struct{ name, value string }

func walk(valid []byte) (all []walked) {
	if valid[0] == '[' {
		for value := range protocol.Elements(valid) {
			all = append(all, walked{"", string(value)})
		}
		return all
	}
	for name, value := range protocol.Members(valid) {
		all = append(all, walked{strings.Clone(name), string(value)})
	}
	return all
}

// walkTokens returns the members or elements by encoding/json.
func walkTokens(t *testing.T, valid []byte) (all []walked) {
	d := json.NewDecoder(bytes.NewReader(valid))
	_, err := d.Token()
	require.NoError(t, err)
	for d.More() {
		var w walked
		if valid[0] == '{' {
			name, err := d.Token()
			require.NoError(t, err)
			w.name = name.(string)
		}
		var value json.RawMessage
		require.NoError(t, d.Decode(&value))
		w.value = string(value)
		all = append(all, w)
	}
	return all
}

func TestMembersAndElementsStopEarly(t *testing.T) {
	for name := range protocol.Members([]byte(`{"a":1,"b":2}`)) {
		require.Equal(t, "a", name)
		break
	}
	for value := range protocol.Elements([]byte(`[1,2]`)) {
		require.Equal(t, "1", string(value))
		break
	}
}

func FuzzMembers(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `{ "a" : 1 , "b":[1,{"c":"]}"}], "":null}`, `["\"]", -1.5e3 ,true,{"a":{}}, [[]] ]`,
		`{"\u0061\\":"\\","a":"\\\"","é":false}`, `[1]`, `[ ]`, "{\"a\":\t1\n}", `{"a":"{[,:"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		input = bytes.Trim(input, " \t\r\n")
		if !json.Valid(input) || (input[0] != '{' && input[0] != '[') || !bytes.Equal(bytes.ToValidUTF8(input, nil), input) {
			return
		}
		require.Equal(t, walkTokens(t, input), walk(input))
	})
}
