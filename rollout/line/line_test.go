package line_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout/line"
)

func ExampleParse() {
	p, reason := line.Parse([]byte(`{"timestamp":"t","ordinal":3,"type":"event_msg","payload":{"n":1},"other":0}`))
	fmt.Printf("%d %s %s %q\n", p.Stated, p.Type, p.Payload, reason)
	_, reason = line.Parse([]byte(`{"type":"event_msg"}`))
	fmt.Println(reason)
	// Output:
	// 3 event_msg {"n":1} ""
	// no "payload"
}

func ExampleRewrite() {
	ordinal := int64(7)
	text, err := line.Rewrite(
		[]byte(`{"timestamp":"t","type":"event_msg","payload":{"n":1},"other":0}`),
		protocol.RolloutLine{Ordinal: &ordinal, Type: "event_msg", Payload: []byte(`{"n":2}`)},
	)
	fmt.Println(string(text), err)
	// Output: {"timestamp":"t","type":"event_msg","payload":{"n":2},"other":0,"ordinal":7} <nil>
}

func ExamplePaddedWriter() {
	var file bytes.Buffer
	out := line.NewPaddedWriter(&file)
	_ = out.Line([]byte("one")) // a bytes.Buffer never fails
	_ = out.PadTo(8)
	_ = out.Line([]byte("two"))
	_ = out.PadTo(0)
	fmt.Printf("%q\n", file.String())
	// Output: "one    \ntwo\n"
}

// ordinalsOf returns the ordinals of the lines of a file, and that of the next line.
func ordinalsOf(file string) (all []int64, next int64) {
	var ordinals line.Ordinals
	torn := false
	for _, b := range line.ParseFile([]byte(file)) {
		for i := range b.Lines {
			all = append(all, ordinals.Assign(&b.Lines[i]))
		}
		ordinals.Skip(b.DamagedAfter)
		torn = torn || b.Torn
	}
	return all, ordinals.End(torn)
}

func TestOrdinals(t *testing.T) {
	plain := `{"type":"x","payload":1}` + "\n"
	at := func(n int) string { return fmt.Sprintf(`{"type":"x","ordinal":%d,"payload":1}`+"\n", n) }
	marker := `{"type":"context_backup","payload":{}}` + "\n"
	for name, c := range map[string]struct {
		file string
		want []int64
		next int64
	}{
		"none":                     {"", nil, 0},
		"counted":                  {plain + plain, []int64{0, 1}, 2},
		"stated":                   {plain + at(5) + plain, []int64{0, 5, 6}, 7},
		"lower":                    {at(5) + at(2) + plain, []int64{5, 2, 3}, 6},
		"lower after a backup":     {at(5) + marker + at(2) + plain, []int64{5, 6, 7, 8}, 9},
		"damage counts":            {plain + "?\n?\n" + plain, []int64{0, 3}, 4},
		"damage at the end counts": {plain + "?\n", []int64{0}, 2},
		"a torn tail counts":       {plain + `{"ty`, []int64{0}, 2},
		"no LF":                    {strings.TrimSuffix(plain, "\n"), []int64{0}, 1},
		"blank lines do not count": {"\ufeff" + plain + "\r\n\n" + plain, []int64{0, 1}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			got, next := ordinalsOf(c.file)
			require.Equal(t, c.want, got)
			require.Equal(t, c.next, next)
		})
	}
}

// TestTheHeadOfAnEncodedLineIsParsedAlone compares it with the whole line. Lines in another form are not accepted.
func TestTheHeadOfAnEncodedLineIsParsedAlone(t *testing.T) {
	for _, payload := range []string{`{}`, `1`, `null`, `"}"`, `{"type":"x","ordinal":3,"payload":[1]}`} {
		text, err := line.Encode([]protocol.RolloutLine{{Timestamp: "t", Ordinal: new(int64(12)), Type: "a,b",
			Payload: []byte(payload)}})
		require.NoError(t, err)
		text = bytes.TrimSuffix(text, []byte("\n"))
		whole, reason := line.Parse(text)
		require.Empty(t, reason)
		head, ok := line.ParseHead(text)
		require.True(t, ok)
		require.Equal(t, whole, head)
	}
	for _, text := range []string{
		"", "{", "}", `{"timestamp":"t","type":"a","payload":1}`, `{"timestamp":"t","ordinal":1,"payload":1,"type":"a"}`,
		`{"timestamp":"t","ordinal":1,"type":"a","payload":}`, `{"timestamp":"t","ordinal":1,"type":"a","payload":1`,
		`{"timestamp":"t","ordinal":-1,"type":"a","payload":1}`, `{"timestamp":"t","ordinal":"1","type":"a","payload":1}`,
		`{"timestamp":"t","ordinal":1,"type":"\u0061","payload":1}`, `{"timestamp":"\"","ordinal":1,"type":"a","payload":1}`,
		`{ "timestamp":"t","ordinal":1,"type":"a","payload":1}`, `{"timestamp":"t","ordinal":1,"type":"a`,
		`{"timestamp":"t","ordinal":1,"type":"a","payload":{"n":` + "\x00\x00}}",
		`{"timestamp":"t","ordinal":1,"type":"a","payload":{}}` + "\n" + `{}`,
	} {
		_, ok := line.ParseHead([]byte(text))
		require.False(t, ok, text)
	}
}

func TestMarkers(t *testing.T) {
	const marker = `{"type":"context_backup","payload":{"bytes":900,"crc32c":1}}` + "\n"
	file := `{"type":"x","payload":"\"context_backup\""}` + "\n" + marker + "?\n"
	fromBlocks := line.LastMarker(line.ParseFile([]byte(file)))
	require.Equal(t, 2, fromBlocks.Line)
	named, ok := fromBlocks.Decode()
	require.True(t, ok)
	require.Equal(t, protocol.ContextBackup{Bytes: 900, CRC32C: 1}, named)

	_, ok = (&line.Marker{Payload: []byte(`{"bytes":900}`)}).Decode()
	require.False(t, ok, "without a checksum")
	named, ok = (*line.Marker)(nil).Decode()
	require.True(t, ok)
	require.Zero(t, named.Bytes)
}

// TestTheLastMarkerIsFoundFromTheEnd reads files in chunks of every size. A line above the limit is damage.
func TestTheLastMarkerIsFoundFromTheEnd(t *testing.T) {
	const marker = `{"type":"context_backup","payload":{"bytes":900,"crc32c":1}}` + "\n"
	const other = `{"type":"x","payload":"\"context_backup\"", "of":"context_backup"}` + "\n"
	for _, file := range []string{
		"", other, marker, "\n" + marker, marker + other, other + marker + "?\n", marker + other + marker + other + "\n\n",
		other + strings.TrimSuffix(marker, "\n"), "\ufeff" + marker + other, other + "  " + marker, strings.Repeat(other, 9),
	} {
		want := line.LastMarker(line.ParseFile([]byte(file)))
		for size := range int64(len(file) + 2) {
			k := line.ChunkReader{Size: size + 1, MaxLine: 100}
			found, err := k.LastMarker(strings.NewReader(file), int64(len(file)))
			require.NoError(t, err)
			require.Equal(t, want == nil, found == nil, "%q by %d", file, size+1)
			if want != nil {
				require.Equal(t, want.Payload, found.Payload)
				require.Equal(t, strings.LastIndex(file, `{"type":"context_backup"`), int(found.Offset)+len(file[found.Offset:])-
					len(strings.TrimLeft(file[found.Offset:], " ")))
			}
		}
	}
	long := strings.Repeat("x", 1000) + "\n"
	k := line.ChunkReader{Size: 10, MaxLine: 100}
	found, err := k.LastMarker(strings.NewReader(marker+long+other), int64(len(marker+long+other)))
	require.NoError(t, err)
	require.EqualValues(t, 0, found.Offset)
}

// TestChunksHoldEachLineOnce reads a file with every chunk size.
func TestChunksHoldEachLineOnce(t *testing.T) {
	file := "a\n\nbb\n" + strings.Repeat("c", 20) + "\nd"
	for size := range int64(len(file) + 2) {
		k := line.ChunkReader{Size: size + 1, MaxLine: 30}
		var all []byte
		for c, err := range k.Chunks(strings.NewReader(file), 0, int64(len(file))) {
			require.NoError(t, err)
			require.Equal(t, int64(len(all)), c.Offset)
			all = append(all, c.Data...)
			require.True(t, len(all) == len(file) || all[len(all)-1] == '\n', "whole lines")
		}
		require.Equal(t, file, string(all), "chunks of %d bytes", size+1)
	}
}

func TestALineAboveTheLimitIsDamage(t *testing.T) {
	file := `{"type":"x","payload":1}` + "\n" + strings.Repeat("c", 100) + "\n" + `{"type":"x","payload":2}` + "\n"
	k := line.ChunkReader{Size: 8, MaxLine: 30}
	var sound, damage int
	end := int64(0)
	for c, err := range k.Chunks(strings.NewReader(file), 0, int64(len(file))) {
		require.NoError(t, err)
		for _, b := range line.ParseChunk(c.Data, c.Offset == 0) {
			sound += len(b.Lines)
			damage += len(b.Damage)
		}
		end = c.End()
	}
	require.Equal(t, 2, sound)
	require.Equal(t, 1, damage)
	require.Equal(t, int64(len(file)), end)
}

func TestFollowStopsBeforeATornTail(t *testing.T) {
	sound := `{"type":"x","payload":1}` + "\n?\n" + `{"type":"y","payload":2}` + "\n"
	var f line.Follower
	var types []string
	handle := func(_ int64, l protocol.RolloutLine) bool {
		types = append(types, strings.Clone(l.Type)) // it is valid during the call only
		return true
	}
	end, err := f.Follow(strings.NewReader(sound+`{"type":"z"`), 0, handle)
	require.NoError(t, err)
	require.Equal(t, int64(len(sound)), end)
	end, err = f.Follow(strings.NewReader(sound+`{"type":"z","payload":3}`), end, handle)
	require.NoError(t, err)
	require.Equal(t, int64(len(sound)+24), end, "a whole line without LF counts")
	require.Equal(t, []string{"x", "y", "z"}, types)
}
