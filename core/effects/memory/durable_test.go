package memory_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/core/effects/memory"
	"appserver/platform/database"
	"appserver/platform/disk"
	"appserver/rollout/faultfs"
	"appserver/test/sample"
)

// writerHome is an environment variable that turns this program into a writer: it appends rows, prints
// the number of each durable row, and runs until it is killed.
const writerHome = "MEMORY_TEST_HOME"

func TestMain(m *testing.M) {
	if home := os.Getenv(writerHome); home != "" {
		writeForever(home)
	}
	goleak.VerifyTestMain(m)
}

func writeForever(home string) {
	s := memory.Open(memory.Options{Home: home})
	for n := 0; ; n++ {
		err := s.Append(context.Background(), []memory.Row{numbered(os.Getpid(), n)})
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println(n)
		if n%5 == 0 { // the other process does so too
			if _, err := s.Search(context.Background(), memory.Query{Text: "row"}); err != nil {
				fmt.Println("error", err)
				os.Exit(1)
			}
		}
	}
}

func numbered(writer, n int) memory.Row {
	return row(int64(n), fmt.Sprintf("%d-%d", writer, n), "row "+strings.Repeat("x", n%100*50))
}

// writer is a process that appends.
type writer struct {
	*exec.Cmd
	lines *bufio.Scanner
	last  int
}

func startWriter(t *testing.T, home string) *writer {
	w := &writer{Cmd: exec.Command(os.Args[0])}
	w.Env = append(os.Environ(), writerHome+"="+home)
	out, err := w.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, w.Start())
	w.lines = bufio.NewScanner(out)
	return w
}

// until reads what is durable until the row of a number is.
func (w *writer) until(t *testing.T, n int) {
	for w.last < n && w.lines.Scan() {
		_, err := fmt.Sscan(w.lines.Text(), &w.last)
		require.NoError(t, err, w.lines.Text())
	}
}

func (w *writer) kill(t *testing.T) {
	require.NoError(t, w.Process.Signal(syscall.SIGKILL))
	for w.lines.Scan() {
		_, err := fmt.Sscan(w.lines.Text(), &w.last)
		require.NoError(t, err, w.lines.Text())
	}
	_ = w.Wait() // it was killed
}

// titles returns the titles of all rows, each with its count.
func titles(t *testing.T, s *memory.Store) map[string]int {
	all := map[string]int{}
	for cursor := ""; ; {
		rows, next, err := s.List(t.Context(), memory.Filter{Limit: 200, Cursor: cursor})
		require.NoError(t, err)
		for _, h := range rows {
			all[h.Title]++
		}
		if cursor = next; next == "" {
			return all
		}
	}
}

func TestProcessesThatAreKilledLoseNothingThatWasDurable(t *testing.T) {
	r := newRig(t)
	for range 3 {
		one, two := startWriter(t, r.home), startWriter(t, r.home)
		one.until(t, 20)
		two.until(t, 20)
		r.append(row(time.Now().UnixNano(), "here", "text"))
		one.kill(t)
		two.until(t, two.last+5)
		two.kill(t)
		all := titles(t, r.store)
		for _, w := range []*writer{one, two} {
			for n := range w.last + 1 {
				require.Equal(t, 1, all[fmt.Sprintf("%d-%d", w.Process.Pid, n)], "row %d of %d", n, w.last)
			}
		}
		st, err := r.store.Status(t.Context())
		require.NoError(t, err)
		require.LessOrEqual(t, st.Damaged, int64(6), "at most the line that each was writing")
	}
	require.Empty(t, r.warned())
}

func TestStoresOfOneHomeSeeEachOther(t *testing.T) {
	r := newRig(t)
	stores := []*memory.Store{r.store, r.other(), r.other()}
	var all sync.WaitGroup
	for w, s := range stores {
		all.Go(func() {
			for n := range 30 {
				if err := s.Append(t.Context(), []memory.Row{numbered(w, n)}); err != nil {
					t.Error(err)
				}
				if _, err := s.Search(t.Context(), memory.Query{Text: "row", RepoKey: repo}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, s := range stores {
		got := titles(t, s)
		require.Len(t, got, 90)
		for title, times := range got {
			require.Equal(t, 1, times, title)
		}
	}
}

func TestATornLineIsAnEndAndABadOneIsPassedOver(t *testing.T) {
	r := newRig(t)
	r.append(row(1, "one", "text"))
	whole := r.read("memory.jsonl")
	r.write("memory.jsonl", whole+"not JSON\n[1,2]\n{}\n{\"kind\":1}\n\n\xff\xfe\n"+
		strings.Replace(whole, "one", "two", 1)+whole[:40])
	require.Equal(t, []string{"two", "one"}, list(t, r.store))
	r.append(row(3, "three", "text"))
	require.Contains(t, r.read("memory.jsonl"), whole[:40]+"\n{")
	require.Equal(t, []string{"three", "two", "one"}, list(t, r.store))
	st, err := r.store.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(6), st.Damaged)
	require.Contains(t, r.read("memory.jsonl"), "not JSON\n")
}

func TestALineThatIsTooLongIsPassedOver(t *testing.T) {
	r := newRig(t)
	r.append(row(1, "one", "text"))
	whole := r.read("memory.jsonl")
	r.write("memory.jsonl", strings.Replace(whole, "text", strings.Repeat("x", 9<<20), 1)+
		strings.Replace(whole, "one", "two", 1))
	require.Equal(t, []string{"two"}, list(t, r.store))
}

func TestADatabaseThatIsLostIsMadeAnew(t *testing.T) {
	for name, spoil := range map[string]func(r *rig){
		"removed":  func(r *rig) { require.NoError(r, os.Remove(r.path("memory.sqlite"))) },
		"replaced": func(r *rig) { r.write("memory.sqlite", strings.Repeat("garbage ", 4096)) },
		"cut":      func(r *rig) { require.NoError(r, os.Truncate(r.path("memory.sqlite"), 4096)) },
		"a byte": func(r *rig) {
			data := []byte(r.read("memory.sqlite"))
			for at := 8192; at < len(data); at += 1024 {
				data[at] ^= 0xff
			}
			r.write("memory.sqlite", string(data))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			for n := range 50 {
				r.append(row(int64(n), fmt.Sprint("title ", n), "some text"))
			}
			require.Len(t, list(t, r.store), 50)
			require.NoError(t, r.store.Close())
			spoil(r)
			r.store = r.other()
			_, _ = r.store.Search(t.Context(), memory.Query{Text: "text"}) // may find the damage
			_, _, _ = r.store.List(t.Context(), memory.Filter{})
			require.Len(t, list(t, r.store), 50)
			require.Len(t, search(t, r.store, "title"), 10)
			if name == "removed" {
				require.Empty(t, r.warned())
				return
			}
			warned := r.warned()
			require.Len(t, warned, 1)
			require.Contains(t, warned[0], "is made anew from memory.jsonl")
			require.FileExists(t, r.path("memory.sqlite"+database.DamagedSuffix))
		})
	}
}

func TestAFileOfLinesThatWasReplacedIsReadAnew(t *testing.T) {
	r := newRig(t)
	r.append(row(1, "one", "text"), row(2, "two", "text"))
	lines := r.read("memory.jsonl")
	require.Equal(t, []string{"two", "one"}, list(t, r.store))
	for _, c := range []struct {
		text string
		want []string
	}{
		{strings.ReplaceAll(lines, "one", "eno"), []string{"two", "eno"}},
		{lines[:strings.Index(lines, "\n")+1], []string{"one"}},
		{"", nil},
		{lines + strings.ReplaceAll(lines, `"title":"`, `"title":"not `), []string{"two", "not two", "one", "not one"}},
	} {
		r.write("memory.jsonl", c.text)
		require.ElementsMatch(t, c.want, list(t, r.store), c.text)
	}
	require.NoError(t, os.Remove(r.path("memory.jsonl")))
	require.Empty(t, list(t, r.store))
	require.Empty(t, search(t, r.store, "text"))
}

// TestEveryOperationOfTheDiskCanFail lets the n-th operation fail, for every n, with several errors.
// It expects that acknowledged rows exist, that failed ones do not, and that a deleted row is gone or
// its deletion has failed.
func TestEveryOperationOfTheDiskCanFail(t *testing.T) {
	sample.NoRace(t)
	for n := 0; ; n += sample.Stride(7) {
		fails := []error{syscall.ENOSPC, syscall.EROFS, syscall.EMFILE}[n%3]
		disk := faultfs.Wrap(disk.OS(), faultfs.Fault{First: n, Count: 1, Err: fails, Partial: true})
		r := newRig(t, func(o *memory.Options) { o.Disk = disk })
		want := map[string]int{}
		for k := range 3 {
			title := fmt.Sprint("row ", k)
			err := r.store.Append(t.Context(), []memory.Row{row(int64(k), title, "text")})
			if err == nil {
				want[title] = 1
			} else {
				require.ErrorIs(t, err, fails)
			}
			_, err = r.store.Search(t.Context(), memory.Query{Text: "text"})
			requireDiskError(t, err, fails)
		}
		_, err := r.store.Forget(t.Context(), memory.Selection{IDs: []string{row(1, "row 1", "text").ID()}})
		requireDiskError(t, err, fails)
		if err == nil {
			delete(want, "row 1")
			require.NotContains(t, r.read("memory.jsonl"), "row 1")
		}
		disk.Heal()
		got := titles(t, r.store)
		if err != nil { // it may have been taken back nevertheless
			delete(got, "row 1")
			delete(want, "row 1")
		}
		require.Equal(t, want, got, "operation %d", n)
		require.Equal(t, want, without(titles(t, r.other()), err, "row 1"), "operation %d, read anew", n)
		if disk.Failures() == 0 {
			require.Greater(t, n, 20)
			return
		}
	}
}

func requireDiskError(t *testing.T, err, want error) {
	t.Helper()
	if err != nil {
		require.ErrorIs(t, err, want)
	}
}

func without(titles map[string]int, err error, title string) map[string]int {
	if err != nil {
		delete(titles, title)
	}
	return titles
}

func TestHostileTextsAreKeptAndFound(t *testing.T) {
	r := newRig(t)
	huge := strings.Repeat("lorem ", 10<<20/6)
	r.append(row(1, "zero\x00byte\nand a line", "a\x00b needle"), row(2, "bad \xff\xfe", "text \xc3( needle"),
		row(3, "huge", "needle "+huge),
		row(4, strings.Repeat("x", 1<<20), "needle"), row(5, "one word", "needle "+strings.Repeat("y", 200_000)),
		row(6, `"quotes" AND`, `needle " ' * NEAR( -`))
	require.Less(t, len(r.read("memory.jsonl")), 200<<10)
	require.Len(t, search(t, r.store, "needle"), 6)
	for _, h := range list(t, r.store) {
		require.NotContains(t, h, "\x00")
		require.NotContains(t, h, "\n")
		require.LessOrEqual(t, len(h), 1024)
	}
}

func TestQuestionsAreNeverSyntax(t *testing.T) {
	r := newRig(t)
	r.append(row(1, "one", "needle in the haystack"))
	for _, q := range []string{
		`"`, `*`, `NEAR(`, `-`, `needle"`, `needle*`, `NEAR(needle haystack)`, `-needle`, `title : x`, `{scope} : r1`, `AND`,
		`OR NOT`, `needle AND`, `(needle`, `^needle`,
		"\x00", "needle\x00", "\xff", strings.Repeat("needle ", 100_000), strings.Repeat("(", 100_000),
		"'; DROP TABLE rows; --", " ", "+", "%", "n\u0301eedle",
	} {
		_, err := r.store.Search(t.Context(), memory.Query{RepoKey: repo, Text: q})
		require.NoError(t, err, "%.40q", q)
	}
	require.Equal(t, []string{"one"}, search(t, r.store, `-NEAR("needle*"`))
}

func TestWithoutADatabaseRowsAreKeptNevertheless(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	r := newRig(t, func(o *memory.Options) { o.Now = func() time.Time { return now } })
	require.NoError(t, os.MkdirAll(r.path("memory.sqlite"), 0o700))
	r.append(row(1, "one", "text"))
	_, err := r.store.Search(t.Context(), memory.Query{Text: "text"})
	require.ErrorContains(t, err, r.path("memory.sqlite")+" is not a regular file")
	_, _, err = r.store.List(t.Context(), memory.Filter{})
	require.ErrorContains(t, err, "is not a regular file")
	st, err := r.store.Status(t.Context())
	require.NoError(t, err)
	require.Contains(t, st.Error, "is not a regular file")
	require.Positive(t, st.Bytes)
	r.append(row(2, "two", "text"))

	require.NoError(t, os.Remove(r.path("memory.sqlite")))
	_, err = r.store.Search(t.Context(), memory.Query{Text: "text"})
	require.Error(t, err, "it is left alone for a moment")
	now = now.Add(time.Minute)
	require.Len(t, search(t, r.store, "text"), 2)
	st, err = r.store.Status(t.Context())
	require.NoError(t, err)
	require.Empty(t, st.Error)
}
