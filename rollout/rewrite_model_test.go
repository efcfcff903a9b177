package rollout_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/test/sample"
)

// told is a line as people see it.
type told struct {
	Type, Payload string
	Ordinal       int64
}

func toldOf(lines []protocol.RolloutLine) []told {
	all := []told{}
	for _, l := range lines {
		all = append(all, told{l.Type, string(l.Payload), *l.Ordinal})
	}
	return all
}

// readNaively returns the lines of a log, by the letter of the package doc.
func readNaively(log string) []told {
	all := []told{}
	next, marked := int64(0), false
	for _, text := range strings.Split(strings.TrimPrefix(log, "\ufeff"), "\n") {
		if strings.Trim(text, " \t\r") == "" {
			continue
		}
		var line struct {
			Ordinal *int64
			Type    *string
			Payload json.RawMessage
		}
		if json.Unmarshal([]byte(text), &line) != nil || line.Type == nil || line.Payload == nil {
			next++
			continue
		}
		marked = marked || *line.Type == "context_backup"
		if line.Ordinal != nil && (!marked || *line.Ordinal > next) {
			next = *line.Ordinal
		}
		all = append(all, told{*line.Type, string(line.Payload), next})
		next++
	}
	return all
}

// chooser drops, shortens or keeps a line by what it says.
func chooser(seed uint32) rollout.Projection {
	return func(line protocol.RolloutLine) (protocol.RolloutLine, bool) {
		hash := fnv.New32()
		fmt.Fprint(hash, seed, line.Type, string(line.Payload), *line.Ordinal)
		switch hash.Sum32() % 4 {
		case 0:
			return line, false
		case 1:
			line.Payload = json.RawMessage(fmt.Sprintf(`{"short":%d}`, *line.Ordinal))
		case 2:
			line.Type = "another \"type\""
		}
		return line, true
	}
}

// projectNaively returns the lines that main must hold, without the marker.
func projectNaively(p rollout.Projection, lines []told) []told {
	all := []told{}
	for _, l := range lines {
		projected, keep := p(protocol.RolloutLine{Type: l.Type, Payload: json.RawMessage(l.Payload), Ordinal: &l.Ordinal})
		if keep && l.Type != protocol.LineContextBackup {
			all = append(all, told{projected.Type, string(projected.Payload), l.Ordinal})
		}
	}
	return all
}

// rewriteModel is a thread, and the log that its files must make up together.
type rewriteModel struct {
	*rapid.T
	mem   *faultfs.Mem
	store *rollout.Store
	path  string
	// log is the bytes of the full log.
	log string
	// inForce is set while main is a selection.
	inForce bool
}

// foreignText returns lines such as other programs and broken disks leave behind.
func foreignText(t *rapid.T, label string) string {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{
		`{"ordinal":%d,"type":"a","payload":{"n":1}}`,
		`{"ordinal":%d,"type":"b","payload": [ 1, 2 ] ,"metadata":{"ordinal":3}}`,
		`{"type":"c","payload":null}`,
		`{"type":"","payload":"%d"}`,
		`  {"timestamp":"t","payload":{"deep":{"x":[%d]}},"type":"response_item"}  `,
		`{"type":"x","payload":{}`, `["%d"]`, `{"type":1,"payload":1}`, "", " \t",
	}), 0, 12).Draw(t, label)
	var out strings.Builder
	for _, l := range lines {
		if strings.Contains(l, "%d") {
			l = fmt.Sprintf(l, rapid.Int64Range(0, 40).Draw(t, "number"))
		}
		out.WriteString(l + rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end"))
	}
	return out.String()
}

func (m *rewriteModel) write(text string) {
	f, err := m.mem.OpenFile(m.path, os.O_RDWR|os.O_APPEND, 0)
	require.NoError(m, err)
	_, err = f.Write([]byte(text))
	require.NoError(m, err)
	require.NoError(m, f.Close())
	m.log += text
}

// check reads as a client does.
func (m *rewriteModel) check() *rollout.Contents {
	contents, err := m.store.Read(m.path)
	require.NoError(m, err)
	require.Equal(m, rollout.Backup{Joined: m.inForce}, contents.Backup)
	require.Equal(m, readNaively(m.log), toldOf(contents.Lines))
	return contents
}

func (m *rewriteModel) file(path string) string {
	f, err := m.mem.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	info, err := f.Stat()
	require.NoError(m, err)
	data := make([]byte, info.Size())
	_, err = f.ReadAt(data, 0)
	require.NoError(m, err)
	return string(data)
}

// round opens the thread, appends to it and closes it.
func (m *rewriteModel) round() {
	if rapid.Bool().Draw(m.T, "another program writes") {
		m.write(foreignText(m.T, "foreign") +
			rapid.SampledFrom([]string{"", `{"type":"torn","payload":1}`, `{"type":"to`}).Draw(m.T, "tail"))
	}
	m.check()
	log, contents, err := m.store.Open(m.path)
	require.NoError(m, err)
	m.append(log, contents)
	if rapid.IntRange(0, 3).Draw(m.T, "projection") == 0 {
		m.closeWhole(log)
	} else {
		m.closeProjected(log, chooser(rapid.Uint32().Draw(m.T, "seed")))
	}
	m.check()
}

func (m *rewriteModel) append(log *rollout.Log, contents *rollout.Contents) {
	if !strings.HasSuffix(m.log, "\n") && m.log != "" {
		m.log += "\n"
	}
	before := len(m.file(m.path))
	for n := range rapid.IntRange(1, 3).Draw(m.T, "appended") {
		l := line(int(contents.Next) + n)
		if rapid.Bool().Draw(m.T, "without an ordinal") {
			l.Ordinal = nil
		}
		require.NoError(m, log.Append([]protocol.RolloutLine{l}, rapid.Bool().Draw(m.T, "sync")))
	}
	m.log += strings.TrimPrefix(m.file(m.path)[before:], "\n")
}

func (m *rewriteModel) closeProjected(log *rollout.Log, p rollout.Projection) {
	earlier, before, full := m.file(m.path+".bak"), m.file(m.path), m.log
	require.NoError(m, log.CloseRewritten(p))
	main := m.file(m.path)
	selection, marker := cutMarker(m.T, main)
	require.Equal(m, full, m.file(m.path+".bak"), "the backup is the full log")
	require.True(m, strings.HasPrefix(full, earlier), "it only grows")
	require.Equal(m, projectNaively(p, readNaively(full)), readNaively(selection), "a plain reader sees the selection")
	requireMarker(m.T, marker, full)
	requireNotBefore(m.T, selection, int64(len(before)))
	m.readOn(p, before, main)
	m.log, m.inForce = full+blanks(len(selection)-len(full))+marker, true
}

// readOn makes a reader that knows main up to a line behind its marker continue in the rewritten
// main. It must find all lines that followed that line and were kept.
func (m *rewriteModel) readOn(p rollout.Projection, before, main string) {
	ends := []int{0}
	if m.inForce {
		ends[0] = markerAt(before)
	}
	for at := ends[0]; at < len(before); ends = append(ends, at) {
		at += strings.IndexByte(before[at:], '\n') + 1
	}
	known := rapid.SampledFrom(ends).Draw(m.T, "known")
	rest := main[known:] // may begin within a line, which it has seen
	seen := len(readNaively(m.log[:len(m.log)-len(before)+known]))
	want := projectNaively(p, readNaively(m.log)[seen:])
	rest, _ = cutMarker(m.T, rest)
	found := readNaively(rest)
	require.GreaterOrEqual(m, len(found), len(want))
	require.Equal(m, want, found[len(found)-len(want):])
}

// requireNotBefore requires that the lines before a marker end at an offset, or behind it only if
// the lines leave no room.
func requireNotBefore(t require.TestingT, selection string, offset int64) {
	require.GreaterOrEqual(t, int64(len(selection)), offset, "the file never gets shorter")
	if int64(len(selection)) > offset {
		require.False(t, strings.HasSuffix(selection, " \n"), "nothing is filled up without need")
	}
}

// blanks returns n spaces, or none unless n is positive.
func blanks(n int) string { return strings.Repeat(" ", max(n, 0)) }

// padded returns a line that is n bytes longer.
func padded(line string, n int) string { return strings.TrimSuffix(line, "\n") + blanks(n) + "\n" }

// closeWhole closes without a projection.
func (m *rewriteModel) closeWhole(log *rollout.Log) {
	before := m.file(m.path)
	require.NoError(m, log.CloseRewritten(nil))
	whole := m.file(m.path)
	if m.inForce {
		full, marker := cutMarker(m.T, whole)
		require.Equal(m, m.log, full, "byte for byte")
		require.Len(m, full, len(before), "and all where it was")
		require.Equal(m, m.log, m.file(m.path+".bak"))
		requireMarker(m.T, marker, "")
		m.log = whole
	}
	require.Equal(m, m.log, whole)
	m.inForce = false
}

// cutMarker takes the last line off.
func cutMarker(t require.TestingT, main string) (before, marker string) {
	at := strings.LastIndexByte(strings.TrimSuffix(main, "\n"), '\n') + 1
	require.True(t, strings.HasSuffix(main, "\n"))
	return main[:at], main[at:]
}

func requireMarker(t require.TestingT, marker, full string) {
	sum := crc32.Checksum([]byte(full), crc32.MakeTable(crc32.Castagnoli))
	require.Contains(t, marker, fmt.Sprintf(`"type":"context_backup","payload":{"bytes":%d,"crc32c":%d}}`, len(full), sum))
}

func TestRewritesLoseNothing(t *testing.T) {
	sample.Check(t, func(rt *rapid.T) {
		mem := faultfs.NewMem(home)
		m := &rewriteModel{T: rt, mem: mem, store: rollout.NewStore(mem, home)}
		m.path = put(t, mem, m.store.PathFor(threadA, begin), "")
		m.write(rapid.SampledFrom([]string{"", "\ufeff"}).Draw(rt, "mark") + metaLine + foreignText(rt, "begin"))
		for range rapid.IntRange(1, 5).Draw(rt, "rounds") {
			m.round()
		}
		require.NotContains(t, mem.Files(home), m.path+".tmp")
		require.Empty(t, mem.Held())
	})
}
