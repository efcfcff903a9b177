package line

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const (
	goodRecord = `{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":7,"type":"event_msg",` +
		`"payload":{"type":"agent_message","message":"a \"good\" one"}}`
	otherRecord = `{"timestamp":"2026-01-02T03:04:06Z","type":"response_item",` +
		`"payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"\\ x"}],"n":[1,{"a":-2.5e3}]}}`
)

// texts returns the texts of the sound pieces of a line, and of the others.
func texts(text string) (sound, damaged []string) {
	for _, p := range Pieces([]byte(text)) {
		at := int(p.Offset)
		if p.Sound && text[at:at+len(p.Text)] == string(p.Text) {
			sound = append(sound, string(p.Text))
		} else {
			damaged = append(damaged, string(p.Text))
		}
	}
	return sound, damaged
}

func TestARecordInADamagedLineIsFound(t *testing.T) {
	zeros := strings.Repeat("\x00", 512)
	cut := `{"timestamp":"2026-01-02T03:04:05.678Z","type":"eve`
	for what, c := range map[string]struct {
		line  string
		sound []string
	}{
		"after zeros":                 {zeros + goodRecord, []string{goodRecord}},
		"before zeros":                {goodRecord + zeros, []string{goodRecord}},
		"after a cut":                 {cut + goodRecord, []string{goodRecord}},
		"after a cut and zeros":       {cut + zeros + goodRecord, []string{goodRecord}},
		"after zeros and a cut":       {zeros + cut + goodRecord, []string{goodRecord}},
		"after two cuts":              {cut + cut + goodRecord, []string{goodRecord}},
		"before a cut":                {goodRecord + cut, []string{goodRecord}},
		"before and after a cut":      {goodRecord + cut + otherRecord, []string{goodRecord, otherRecord}},
		"two after a cut":             {cut + goodRecord + otherRecord, []string{goodRecord, otherRecord}},
		"two without LF":              {goodRecord + otherRecord, []string{goodRecord, otherRecord}},
		"two with space":              {goodRecord + " \t" + otherRecord, []string{goodRecord, otherRecord}},
		"zeros between":               {goodRecord + zeros + otherRecord + "\x00", []string{goodRecord, otherRecord}},
		"other order after zeros":     {zeros + `{"type":"x","payload":1}`, []string{`{"type":"x","payload":1}`}},
		"only zeros":                  {zeros, nil},
		"only a cut":                  {cut, nil},
		"after other bytes":           {"\x1b[2J" + goodRecord, nil},
		"no payload":                  {cut + `{"timestamp":"2026-01-02T03:04:05Z","type":"x"}`, nil},
		"nested in another":           {cut[:20] + `x"}` + goodRecord + `]}`, nil},
		"text with a record's text":   {`{"timestamp":"x","payload":"` + strings.ReplaceAll(goodRecord, `"`, `\"`), nil},
		"deep in a cut record":        {`{"timestamp":"x","type":"y","payload":{"a":{"b":` + goodRecord, nil},
		"deep in an array":            {`{"timestamp":"x","type":"y","payload":{"a":{"b":[1,` + goodRecord, nil},
		"deep in a record without":    {`"a":{"b":[1,` + goodRecord + `]}}}`, nil},
		"after a cut in deep strings": {`{"timestamp":"x","type":"y","payload":{"a":{"b":["c` + goodRecord, []string{goodRecord}},
	} {
		sound, damaged := texts(c.line)
		require.Equal(t, c.sound, sound, what)
		if len(c.sound) == 0 {
			require.Equal(t, []string{c.line}, damaged, what)
		}
	}
}

// TestARecordAfterEveryCutIsFound cuts a record off at each byte.
func TestARecordAfterEveryCutIsFound(t *testing.T) {
	for cut := 1; cut < len(otherRecord); cut++ {
		for _, zeros := range []int{0, 3} {
			before := otherRecord[:cut] + strings.Repeat("\x00", zeros)
			sound, _ := texts(before + goodRecord)
			depth := strings.Count(before, "{") + strings.Count(before, "[")
			if depth > 2 && zeros == 0 && strings.ContainsAny(before[cut-1:], ":[,") {
				continue // a value within the payload may begin here
			}
			require.Equal(t, []string{goodRecord}, sound, before)
		}
	}
}

func TestDamageWithARecordIsReportedOnce(t *testing.T) {
	text := otherRecord + "\n\x00\x00" + goodRecord + "\n" + `{"timestamp":"x` + otherRecord + "\n" + otherRecord
	blocks := ParseFile([]byte(text))
	require.Len(t, blocks, 1)
	b := blocks[0]
	require.Len(t, b.Lines, 4)
	require.Equal(t, []Damage{
		{Line: 2, Offset: int64(len(otherRecord) + 1), Reason: reasonNotJSON},
		{Line: 3, Offset: int64(len(otherRecord) + 1 + 2 + len(goodRecord) + 1), Reason: reasonNotJSON},
	}, b.Damage)
	require.False(t, b.Torn)
	for _, p := range b.Lines {
		require.Equal(t, string(p.Text), text[p.Offset:int(p.Offset)+len(p.Text)])
		require.NotEqual(t, byte('\n'), text[int(p.Offset)-p.Indent:][0])
	}
	var o Ordinals
	var got []int64
	for i := range b.Lines {
		got = append(got, o.Assign(&b.Lines[i]))
	}
	require.Equal(t, []int64{0, 7, 9, 10}, got, "damage counts as one line")

	torn := ParseFile([]byte(goodRecord + "\n" + goodRecord + `{"timestamp":"cut`))[0]
	require.Len(t, torn.Lines, 2)
	require.True(t, torn.Torn)
	require.Empty(t, torn.Damage)
	zeros := ParseFile([]byte("\x00" + goodRecord))[0]
	require.Len(t, zeros.Lines, 1)
	require.False(t, zeros.Torn)
	require.Equal(t, reasonZeroBytes, zeros.Damage[0].Reason)
}

func TestAHostileLineIsSplitInShortTime(t *testing.T) {
	began := time.Now()
	for _, part := range []string{
		recordStart, `{"timestamp":"x","a":`, goodRecord[:len(goodRecord)-1], "\x00{", "{", goodRecord,
	} {
		Pieces([]byte("x" + strings.Repeat(part, 4<<20/len(part))))
	}
	require.Less(t, time.Since(began), 20*time.Second)
}

// FuzzPieces requires that the pieces of any line are parts of it in order, and that sound ones are records.
func FuzzPieces(f *testing.F) {
	f.Add([]byte("\x00" + goodRecord + `{"timestamp":` + otherRecord))
	f.Fuzz(func(t *testing.T, text []byte) { requirePieces(t, text) })
}

func TestPiecesAreThePartsOfALine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{
			goodRecord, otherRecord, "\x00", " ", goodRecord[:20], otherRecord[:90], "}", "]", `"`, recordStart, "x", ",",
		})).Draw(t, "parts")
		requirePieces(t, []byte(strings.Join(parts, "")))
	})
}

func requirePieces(t require.TestingT, line []byte) {
	text, _ := Trim(line)
	if len(text) == 0 || strings.Contains(string(text), "\n") {
		return
	}
	end := 0
	for _, p := range Pieces(text) {
		require.GreaterOrEqual(t, int(p.Offset), end)
		require.Equal(t, string(p.Text), string(text[p.Offset:int(p.Offset)+len(p.Text)]))
		require.NotEmpty(t, p.Text)
		require.Empty(t, strings.Trim(string(text[end:p.Offset]), " \t\r\x00"), "only space is left out")
		_, reason := Parse(p.Text)
		require.Equal(t, p.Sound, reason == "", fmt.Sprintf("%q", p.Text))
		end = int(p.Offset) + len(p.Text)
	}
	require.Empty(t, strings.Trim(string(text[end:]), " \t\r\x00"))
}
