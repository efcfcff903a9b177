package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
)

// TestAThreadBeginsWithLines checks that the first append writes all lines, and that nothing
// is on the disk before.
func TestAThreadBeginsWithLines(t *testing.T) {
	store, mem := memStore()
	seed := seedOf(t, store)
	before := mem.Files(home)
	log, err := store.CreateFrom(threadA, begin, seed)
	require.NoError(t, err)
	require.Equal(t, before, mem.Files(home))
	require.NoError(t, log.Append(linesFrom(4, 5), false))
	require.NoError(t, log.Append(linesFrom(5, 6), true))
	require.NoError(t, log.Close())
	require.Equal(t, []int64{0, 1, 2, 3, 4, 5}, plainNumbers(t, store, log.Path()))
}

// TestASeedIsAllOrNothing fails each operation, and crashes after it.
func TestASeedIsAllOrNothing(t *testing.T) {
	made := false
	for first := 0; !made; first++ {
		store, mem := memStore()
		seed := seedOf(t, store)
		faulty := faultfs.Wrap(mem, faultfs.Fault{First: first, Count: 1, Err: syscall.EIO})
		log, err := rollout.NewStore(faulty, home).CreateFrom(threadA, begin, seed)
		require.NoError(t, err)
		err = log.Append(linesFrom(4, 5), true)
		made = faulty.Failures() == 0
		for crash := range uint64(4) {
			after := rollout.NewStore(mem.CrashClone(rand.New(rand.NewPCG(crash, 1))), home)
			path, found := after.Find(threadA)
			if err == nil {
				require.NoError(t, found)
			}
			if found == nil {
				require.Equal(t, []int64{0, 1, 2, 3, 4}, plainNumbers(t, after, path))
			}
		}
		if err != nil {
			_, found := store.Find(threadA)
			require.Error(t, found)
			require.NoError(t, log.Append(linesFrom(4, 5), true), "it can be made again")
		}
		if log.Discard() == nil { // the fault may not have occurred yet
			_, found := store.Find(threadA)
			require.Error(t, found)
		}
	}
}

// seedOf stores a thread with lines of which some name no ordinal, and returns the first four lines as a seed.
func seedOf(t *testing.T, store *rollout.Store) *rollout.Seed {
	t.Helper()
	log, err := store.Create(threadB, begin)
	require.NoError(t, err)
	lines := linesFrom(0, 5)
	lines[2].Ordinal, lines[3].Ordinal = nil, nil
	require.NoError(t, log.Append(lines, true))
	require.NoError(t, log.Close())
	_, reader, err := store.Load(log.Path(), &rollout.LineList{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = reader.Close() })
	first := linesFrom(0, 1)[0]
	return &rollout.Seed{First: first, From: reader, Ordinals: []int64{0, 1, 2, 3},
		Choose: func(line protocol.RolloutLine) (protocol.RolloutLine, bool) { return line, *line.Ordinal > 0 }}
}

// TestALogReadsItsSeedFromItsOwnFile removes the other thread. A line that the thread does not have cannot be
// read.
func TestALogReadsItsSeedFromItsOwnFile(t *testing.T) {
	store, mem := memStore()
	seed := seedOf(t, store)
	log, err := store.CreateFrom(threadA, begin, seed)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(4, 6), false))
	origin, err := store.Find(threadB)
	require.NoError(t, err)
	require.NoError(t, mem.Remove(origin))
	reader := log.LineReader()
	require.Same(t, seed.From, reader)
	require.Equal(t, 6, reader.Lines())
	for n := 1; n < 6; n++ {
		require.JSONEq(t, string(line(n).Payload), string(reader.Payload(n)))
	}
	require.NoError(t, reader.Err())
	require.Nil(t, reader.Payload(0))
	require.Error(t, reader.Err())
	require.NoError(t, log.Close())
}

// TestASeedIsCopiedByteForByte keeps members that this program does not know, and changes what the thread has
// with another payload only.
func TestASeedIsCopiedByteForByte(t *testing.T) {
	store, mem := memStore()
	text := `{"type":"event_msg","more":1, "ordinal":1,"timestamp":"t","payload":{"n":1}}`
	put(t, mem, store.PathFor(threadB, begin), metaLine+text+"\n"+`{"timestamp":"t","type":"event_msg","payload":{"n":2}}`+"\n")
	_, reader, err := store.Load(store.PathFor(threadB, begin), &rollout.LineList{})
	require.NoError(t, err)
	seed := &rollout.Seed{First: line(0), From: reader, Ordinals: []int64{0, 1, 7},
		Choose: func(line protocol.RolloutLine) (protocol.RolloutLine, bool) { return line, *line.Ordinal > 0 }}
	log, err := store.CreateFrom(threadA, begin, seed)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(8, 9), true))
	require.NoError(t, log.Close())
	require.NoError(t, reader.Close())
	got := strings.Split(get(t, mem, log.Path()), "\n")
	require.Equal(t, text, got[1])
	require.JSONEq(t, `{"timestamp":"t","ordinal":7,"type":"event_msg","payload":{"n":2}}`, got[2])
}

func plainNumbers(t *testing.T, store *rollout.Store, path string) []int64 {
	t.Helper()
	contents, err := store.Read(path)
	require.NoError(t, err)
	require.Empty(t, contents.Damage)
	return numbers(contents)
}

// TestALargeSeedIsCopiedInOrder copies more lines than fit into memory at once, with long ones between them.
func TestALargeSeedIsCopiedInOrder(t *testing.T) {
	store, mem := memStore()
	const count = 5000
	var text strings.Builder
	text.WriteString(metaLine)
	for n := 1; n < count; n++ {
		out := strings.Repeat("x", 500)
		if n%1500 == 0 {
			out = strings.Repeat("x", 3<<20)
		}
		fmt.Fprintf(&text, `{"timestamp":"t","ordinal":%d,"type":"event_msg","payload":{"n":%d,"out":"%s"}}`+"\n", n, n, out)
	}
	put(t, mem, store.PathFor(threadB, begin), text.String())
	_, reader, err := store.Load(store.PathFor(threadB, begin), &rollout.LineList{})
	require.NoError(t, err)
	seed := &rollout.Seed{First: line(0), From: reader,
		Choose: func(line protocol.RolloutLine) (protocol.RolloutLine, bool) {
			return line, *line.Ordinal%3 == 0 && *line.Ordinal > 0
		}}
	for n := range int64(count) {
		seed.Ordinals = append(seed.Ordinals, n)
	}
	log, err := store.CreateFrom(threadA, begin, seed)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(count, count+1), true))
	defer func() { require.NoError(t, log.Close()) }()
	lines := strings.SplitAfter(text.String(), "\n")
	want := string(encoded(0))
	for n := 3; n < count; n += 3 {
		want += lines[n]
	}
	require.True(t, strings.HasPrefix(get(t, mem, log.Path()), want))
	for n := 3; n < count; n += 3 {
		require.EqualValues(t, n, gjson.GetBytes(log.LineReader().Payload(n), "n").Int())
	}
}

// TestASeedWhoseOriginHasChangedFails copies nothing of an origin that another program has written to since the load.
func TestASeedWhoseOriginHasChangedFails(t *testing.T) {
	for name, change := range map[string]func(text string) string{
		"shorter":         func(string) string { return metaLine },
		"zeros in a line": func(text string) string { return strings.Replace(text, `"test"`, "\x00\x00\x00\x00\x00\x00", 1) },
		"a split line":    func(text string) string { return strings.Replace(text, `"test",`, "\"test\"\n", 1) },
		"moved lines":     func(text string) string { return " " + text },
	} {
		t.Run(name, func(t *testing.T) {
			store, mem := memStore()
			seed := seedOf(t, store)
			origin, err := store.Find(threadB)
			require.NoError(t, err)
			changed := change(get(t, mem, origin))
			file, err := mem.OpenFile(origin, os.O_RDWR|os.O_APPEND, 0)
			require.NoError(t, err)
			require.NoError(t, file.Truncate(0))
			_, err = file.Write([]byte(changed))
			require.NoError(t, err)
			log, err := store.CreateFrom(threadA, begin, seed)
			require.NoError(t, err)
			require.Error(t, log.Append(linesFrom(4, 5), true))
			_, err = store.Find(threadA)
			require.Error(t, err)
			require.NoError(t, log.Close())
		})
	}
}
