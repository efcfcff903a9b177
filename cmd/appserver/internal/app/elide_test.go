package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// elision is a member of an object in a transcript. It matches any number of members.
const elision = "…"

// elideAsIn returns a transcript in which each line of the server is replaced by the line of the golden
// transcript that matches it. Both have the same lines of the client, in the same order.
func elideAsIn(golden, transcript string) string {
	wanted := answersByStep(golden)
	lines := strings.Split(transcript, "\n")
	step, answer := 0, 0
	for i, line := range lines {
		if !strings.HasPrefix(line, "<- ") {
			step, answer = step+1, 0
			continue
		}
		if answer < len(wanted[step]) && matchesElided(wanted[step][answer], line) {
			lines[i] = wanted[step][answer]
		}
		answer++
	}
	return strings.Join(lines, "\n")
}

// answersByStep returns the server's lines after each line of the client.
func answersByStep(transcript string) map[int][]string {
	steps, step := map[int][]string{}, 0
	for line := range strings.SplitSeq(transcript, "\n") {
		if strings.HasPrefix(line, "<- ") {
			steps[step] = append(steps[step], line)
		} else {
			step++
		}
	}
	return steps
}

// matchesElided reports whether a line of the server matches a golden line with elisions. The members of
// the golden line must be present in its order.
func matchesElided(golden, line string) bool {
	want, elided := parseElided(strings.TrimPrefix(golden, "<- "))
	return elided && matchesValue(want, gjson.Parse(strings.TrimPrefix(line, "<- ")))
}

// parseElided parses JSON with elisions, and reports whether it has any.
func parseElided(text string) (value gjson.Result, elided bool) {
	var b strings.Builder
	inString, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			escaped = false
		case inString && r == '\\':
			escaped = true
		case r == '"':
			inString = !inString
		case !inString && string(r) == elision:
			elided = true
			b.WriteString(`"` + elision + `":0`)
			continue
		}
		b.WriteRune(r)
	}
	return gjson.Parse(b.String()), elided
}

func matchesValue(want, got gjson.Result) bool {
	switch {
	case want.IsObject() && got.IsObject():
		return matchesMembers(membersOf(want), membersOf(got))
	case want.IsArray() && got.IsArray():
		return slices.EqualFunc(want.Array(), got.Array(), matchesValue)
	}
	return want.Raw == got.Raw
}

type jsonMember struct {
	name  string
	value gjson.Result
}

func membersOf(object gjson.Result) (members []jsonMember) {
	object.ForEach(func(name, value gjson.Result) bool {
		members = append(members, jsonMember{name.Str, value})
		return true
	})
	return members
}

func matchesMembers(want, got []jsonMember) bool {
	gap := false
	for _, w := range want {
		if w.name == elision {
			gap = true
			continue
		}
		at := slices.IndexFunc(got, func(g jsonMember) bool { return g.name == w.name })
		if at < 0 || at > 0 && !gap || !matchesValue(w.value, got[at].value) {
			return false
		}
		got, gap = got[at+1:], false
	}
	return gap || len(got) == 0
}

// elideThread shortens the thread in the response to thread/start and in thread/started, so that a new
// member changes few files. The transcripts of wholeThreads have all members.
func elideThread(line string) string {
	message := gjson.Parse(strings.TrimPrefix(line, "<- "))
	thread := message.Get("result.thread")
	if message.Get("method").Str == "thread/started" {
		thread = message.Get("params.thread")
	} else if !message.Get("result.instructionSources").Exists() {
		return line
	}
	if !thread.Get("sessionId").Exists() || len(thread.Get("turns").Array()) > 0 {
		return line
	}
	var b strings.Builder
	for _, m := range membersOf(thread) {
		if slices.Contains([]string{"id", "forkedFromId", "ephemeral", "status", "name"}, m.name) {
			b.WriteString(`"` + m.name + `":` + m.value.Raw + `,`)
		} else if !strings.HasSuffix(b.String(), elision+",") {
			b.WriteString(elision + ",")
		}
	}
	return strings.Replace(line, thread.Raw, "{"+strings.TrimSuffix(b.String(), ",")+"}", 1)
}

// wholeThreads lists the transcripts that elideThread does not change, because documents quote them or
// they test the members of threads.
var wholeThreads = strings.Fields(`checkpoint context ephemeral lifecycle metadata_inject names overrides story_sessions story_threads`)

// elideThreads shortens the threads of a transcript.
func elideThreads(name, transcript string) string {
	if slices.Contains(wholeThreads, name) {
		return transcript
	}
	lines := strings.Split(transcript, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "<- ") {
			lines[i] = elideThread(line)
		}
	}
	return strings.Join(lines, "\n")
}

func TestTranscriptsElideMembers(t *testing.T) {
	const line = `<- {"id":1,"result":{"a":{"x":1,"y":"…"},"b":[{"c":2,"d":3}],"e":null}}`
	for golden, matches := range map[string]bool{
		`<- {"id":1,…}`:                true,
		`<- {…,"result":{…,"e":null}}`: true,
		`<- {"id":1,"result":{"a":{"x":1,…},"b":[{…,"d":3}],"e":null}}`: true,
		`<- {"id":1,"result":{…}}`:                                      true,
		`<- {…}`:                                                        true,
		`<- {"id":1,…,"result":{"a":{"x":1,"y":"…"},"b":[{"c":2,"d":3}],"e":null}}`: true,
		`<- {"id":2,…}`:                                false,
		`<- {…,"result":{"e":null,…}}`:                 false,
		`<- {…,"result":{…,"e":null,"a":{…}}}`:         false,
		`<- {…,"result":{…,"b":[],…}}`:                 false,
		`<- {…,"result":{…,"f":1,…}}`:                  false,
		`<- {"id":1}`:                                  false,
		line:                                           false,
		`<- {"id":1,"result":{"a":{"x":1,"y":"z"},…}}`: false,
	} {
		require.Equal(t, matches, matchesElided(golden, line), golden)
	}
	golden := "-> a\n<- {\"m\":1,…}\n<- {\"n\":1}\n-> b\n<- {…}\n"
	require.Equal(t, golden, elideAsIn(golden, "-> a\n<- {\"m\":1,\"k\":2}\n<- {\"n\":1}\n-> b\n<- {\"o\":5}\n"))
	require.Equal(t, "-> a\n<- {\"m\":2}\n-> b\n<- {…}\n", elideAsIn(golden, "-> a\n<- {\"m\":2}\n-> b\n<- {\"o\":5}\n"))
}
