package rollout_test

import (
	"encoding/json"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/test/sample"
)

const item = `{"type":"event_msg","payload":1}`

// contentsOf reads a file with that content.
func contentsOf(t *testing.T, content string) *rollout.Contents {
	t.Helper()
	store, mem := memStore()
	contents, err := store.Read(put(t, mem, store.PathFor(threadA, begin), content))
	require.NoError(t, err)
	require.EqualValues(t, len(content), contents.Size)
	return contents
}

func TestReadTakesLinesAsTheyCome(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		lines   int
	}{
		"empty":                  {"", 0},
		"blank":                  {"\n\r\n \t\n", 0},
		"byte order mark":        {"\ufeff" + item + "\n", 1},
		"only a byte order mark": {"\ufeff", 0},
		"CRLF":                   {item + "\r\n" + item + "\r\n", 2},
		"blank lines":            {"\n" + item + "\n\n\n" + item + "\n", 2},
		"no LF at the end":       {item + "\n" + item, 2},
		"spaces":                 {`  { "payload" : [ ] , "type" : "x" }  ` + "\n", 1},
		"unknown type":           {`{"type":"","payload":{}}` + "\n", 1},
		"null payload":           {`{"type":"x","payload":null}` + "\n", 1},
		"more members":           {`{"type":"x","payload":{},"metadata":{"payload":2,"type":3}}` + "\n", 1},
		"invalid UTF-8":          {"{\"type\":\"x\",\"payload\":\"\xff\xfe\"}\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			contents := contentsOf(t, c.content)
			require.Len(t, contents.Lines, c.lines)
			require.Empty(t, contents.Damage)
			require.False(t, contents.Torn)
		})
	}
}

func TestReadGivesMembersAsTheyStand(t *testing.T) {
	contents := contentsOf(t, `{"payload":0,"timestamp":"2026-01-02T03:04:05.678Z","\u0074ype":"a\u0062",`+
		`"ordinal":5,"payload":{"x": "<\n>"},"more":[1]}`+"\n")
	require.Len(t, contents.Lines, 1)
	got := contents.Lines[0]
	require.Equal(t, "2026-01-02T03:04:05.678Z", got.Timestamp)
	require.Equal(t, "ab", got.Type)
	require.EqualValues(t, 5, *got.Ordinal)
	require.Equal(t, json.RawMessage(`{"x": "<\n>"}`), got.Payload, "the last of two, byte for byte")
	require.Equal(t, len(got.Payload), cap(got.Payload), "appending to it cannot reach the next line")
}

func TestABadByteCostsItsLine(t *testing.T) {
	deep := strings.Repeat("[", 20_000)
	for reason, bad := range map[string]string{
		"not JSON":          `{"type":"x","payload":{}`,
		"not JSON ":         "\x00\x00\x00",
		"not JSON  ":        `{"type":"x","payload":` + deep + strings.Repeat("]", 20_000) + `}`,
		"not JSON   ":       deep,
		"not JSON    ":      item + item,
		"not a JSON object": `["type","payload"]`,
		`no string "type"`:  `{"type":1,"payload":{}}`,
		`no string "type" `: `{}`,
		`no "payload"`:      `{"type":"x","Payload":{}}`,
	} {
		contents := contentsOf(t, item+"\n\n"+bad+"\r\n"+item+"\n")
		require.Len(t, contents.Lines, 2, reason)
		require.Equal(t, []rollout.Damage{{Line: 3, Offset: int64(len(item) + 2), Reason: strings.TrimSpace(reason)}},
			contents.Damage)
	}
}

func TestNestingIsReadAsDeepAsJSONReadersGo(t *testing.T) {
	payload := strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999)
	contents := contentsOf(t, `{"type":"x","payload":`+payload+"}\n")
	require.Len(t, contents.Lines, 1)
	var value any
	require.NoError(t, json.Unmarshal(contents.Lines[0].Payload, &value))
}

func TestATornTailIsAnEnd(t *testing.T) {
	for _, tail := range []string{`{`, item[:len(item)-1], `{"type":"x"}`, `12`} {
		contents := contentsOf(t, item+"\n"+tail)
		require.Len(t, contents.Lines, 1)
		require.Empty(t, contents.Damage)
		require.True(t, contents.Torn, tail)
	}
}

func TestZerosAtTheEndAreDamage(t *testing.T) {
	for _, tail := range []string{"\x00", `{"type":"x` + strings.Repeat("\x00", 4096)} {
		contents := contentsOf(t, item+"\n"+tail)
		require.Len(t, contents.Lines, 1)
		require.Equal(t, []rollout.Damage{{Line: 2, Offset: int64(len(item) + 1), Reason: "not JSON: it has zero bytes"}},
			contents.Damage)
		require.False(t, contents.Torn)
		require.EqualValues(t, 2, contents.Next)
	}
}

func TestLinesWithoutOrdinalsAreCounted(t *testing.T) {
	numbered := func(ordinal string) string { return `{"ordinal":` + ordinal + `,"type":"x","payload":1}` }
	for _, c := range []struct {
		name  string
		lines []string
		want  []int64
		next  int64
	}{
		{"from the top", []string{item, item, item}, []int64{0, 1, 2}, 3},
		{"after a number", []string{item, numbered("7"), item}, []int64{0, 7, 8}, 9},
		{"damage counts", []string{"?", item, "?", "?", item, "?"}, []int64{1, 4}, 6},
		{"damage before a number", []string{item, "?", numbered("2"), item}, []int64{0, 2, 3}, 4},
		{"no numbers", []string{numbered("-1"), numbered("1.5"), numbered(`"3"`), numbered("null"),
			numbered("9007199254740993")}, []int64{0, 1, 2, 3, 4}, 5},
		{"blank lines do not count", []string{item, "", " ", item}, []int64{0, 1}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			contents := contentsOf(t, strings.Join(c.lines, "\n")+"\n")
			require.Equal(t, c.want, ordinals(contents))
			require.Equal(t, c.next, contents.Next)
		})
	}
}

func TestALongFileIsReadAsOne(t *testing.T) {
	sample.NoRace(t)
	var content strings.Builder
	var want []int64
	for n := range int64(3 << 20 / len(item)) {
		want = append(want, n)
		content.WriteString(item + "\n")
	}
	contents := contentsOf(t, content.String()+"?\n"+item)
	require.Equal(t, append(want, int64(len(want)+1)), ordinals(contents))
	require.Equal(t, []rollout.Damage{{Line: len(want) + 1, Offset: int64(content.Len()), Reason: "not JSON"}},
		contents.Damage)
}

func TestReadReportsTheFailedOperation(t *testing.T) {
	mem := faultfs.NewMem(home)
	path := put(t, mem, rollout.NewStore(mem, home).PathFor(threadA, begin), metaLine)
	for _, op := range []faultfs.Op{faultfs.OpOpen, faultfs.OpStat, faultfs.OpRead} {
		for _, err := range []error{syscall.EIO, syscall.EACCES} {
			disk := faultfs.Wrap(mem, faultfs.Fault{Only: []faultfs.Op{op}, Count: 1, Err: err})
			_, got := rollout.NewStore(disk, home).Read(path)
			require.ErrorIs(t, got, err)
			require.ErrorContains(t, got, path)
		}
	}
	_, err := rollout.NewStore(mem, home).Read(path + "x")
	require.ErrorIs(t, err, fs.ErrNotExist)
}
