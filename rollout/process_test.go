package rollout_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
)

const writerHome = "ROLLOUT_TEST_WRITER_HOME"

// writeForever runs in the processes that tests start: it appends lines until the process ends, and
// prints the number of each acknowledged line.
func writeForever(dir string) {
	store := rollout.NewStore(rollout.OS(), dir)
	log, err := store.Create(threadA, begin)
	for n := 0; err == nil; n++ {
		if err = log.Append(linesFrom(n, n+1), n%8 == 0); err == nil {
			fmt.Println(n)
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

// startWriter starts a process that appends to thread A, and returns what it says.
func startWriter(t *testing.T, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	writer := exec.Command(self)
	writer.Env = append(os.Environ(), writerHome+"="+dir)
	out, err := writer.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, writer.Start())
	return writer, bufio.NewScanner(out)
}

func TestReportedLinesSurviveAKill(t *testing.T) {
	for range 5 {
		dir := t.TempDir()
		store := rollout.NewStore(rollout.OS(), dir)
		writer, said := startWriter(t, dir)
		told := -1
		for stop := 20 + rand.IntN(200); told < stop && said.Scan(); {
			var err error
			told, err = strconv.Atoi(said.Text())
			require.NoError(t, err, said.Text())
		}
		_, _, err := store.Open(store.PathFor(threadA, begin))
		requireLocked(t, err)

		require.NoError(t, writer.Process.Kill())
		for said.Scan() {
			if n, err := strconv.Atoi(said.Text()); err == nil {
				told = n
			}
		}
		require.Error(t, writer.Wait(), "killed")
		log, contents, err := store.Open(store.PathFor(threadA, begin))
		require.NoError(t, err, "its lock died with it")
		require.GreaterOrEqual(t, len(contents.Lines), told+1)
		require.Equal(t, payloads(linesFrom(0, len(contents.Lines))), payloads(contents.Lines))
		require.Empty(t, contents.Damage)
		require.NoError(t, log.Append(linesFrom(len(contents.Lines), len(contents.Lines)+1), true))
		require.NoError(t, log.Close())
	}
}

func TestManyThreadsShareAStore(t *testing.T) {
	store := rollout.NewStore(rollout.OS(), t.TempDir())
	const writers, appends = 8, 20
	errs := make(chan error, writers)
	var wg sync.WaitGroup
	for n := range writers {
		wg.Go(func() { errs <- writeThread(store, n, appends) })
	}
	for range 10 {
		_, err := store.List(rollout.Query{Limit: 3})
		require.NoError(t, err)
	}
	wg.Wait()
	for range writers {
		require.NoError(t, <-errs)
	}
	page, err := store.List(rollout.Query{})
	require.NoError(t, err)
	require.Len(t, page.Heads, writers)
	for _, head := range page.Heads {
		contents, err := store.Read(head.Path)
		require.NoError(t, err)
		require.Len(t, contents.Lines, appends+2)
		require.Empty(t, contents.Damage)
	}
	names, err := store.Names()
	require.NoError(t, err)
	require.Len(t, names, writers)
}

// writeThread writes a thread of its own, and its name.
func writeThread(store *rollout.Store, n, appends int) error {
	log, err := store.Create(idOf(n), begin.Add(time.Duration(n)*time.Second))
	if err != nil {
		return err
	}
	head := []protocol.RolloutLine{
		{Type: protocol.LineSessionMeta, Payload: []byte(`{"id":"` + idOf(n) + `"}`)},
		{Type: protocol.LineEventMsg, Payload: []byte(`{"type":"user_message","message":"` + strings.Repeat("x", n) + `"}`)},
	}
	if err := log.Append(head, true); err != nil {
		return err
	}
	for i := range appends {
		if err := log.Append(linesFrom(i, i+1), i%5 == 0); err != nil {
			return err
		}
	}
	if err := store.AppendName(idOf(n), "name", begin); err != nil {
		return err
	}
	return log.Close()
}
