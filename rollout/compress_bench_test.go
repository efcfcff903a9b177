package rollout

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// variedThread returns a rollout of about size bytes with texts that compress to a third, as real ones do.
func variedThread(id string, size int) []byte {
	words := strings.Fields("the file of a function returns error nil when context is closed before read test value")
	chance := rand.New(rand.NewPCG(1, uint64(size)))
	var out strings.Builder
	fmt.Fprintf(&out, `{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":0,"type":"session_meta","payload":{"id":%q}}`+"\n", id)
	for n := 1; out.Len() < size; n++ {
		var text strings.Builder
		for range 60 + chance.IntN(200) {
			fmt.Fprintf(&text, "%s_%x ", words[chance.IntN(len(words))], chance.IntN(1<<16))
		}
		fmt.Fprintf(&out, `{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":%d,"type":"event_msg",`+
			`"payload":{"type":"user_message","message":"%s"}}`+"\n", n, text.String())
	}
	return []byte(out.String())
}

// bothForms runs a benchmark with plain and with compressed rollouts. prepare makes the plain ones.
func bothForms(b *testing.B, prepare func(s *Store), run func(b *testing.B, s *Store)) {
	for _, form := range []string{"plain", "compressed"} {
		b.Run(form, func(b *testing.B) {
			s := NewStore(OS(), b.TempDir())
			prepare(s)
			var done Compression
			if form == "compressed" {
				done = s.Compress(context.Background(), CompressQuery{}, s.CompressThread)
				require.NotEmpty(b, done.Compressed)
			}
			b.ReportAllocs()
			run(b, s)
			if done.After > 0 {
				b.ReportMetric(float64(done.Before)/float64(done.After), "ratio")
			}
		})
	}
}

func benchID(n int) string { return fmt.Sprintf("0190a6f8-1111-7aaa-8bbb-%012d", n) }

// BenchmarkListForms lists 25 threads without the index, of 100 KB and of 5 MB each.
func BenchmarkListForms(b *testing.B) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	for _, size := range []int{100_000, 5_000_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			bothForms(b, func(s *Store) {
				for n := range 25 {
					require.NoError(b, appendTo(s, s.PathFor(benchID(n), at), variedThread(benchID(n), size)))
				}
			}, func(b *testing.B, s *Store) {
				for b.Loop() {
					page, err := s.List(Query{})
					require.NoError(b, err)
					require.Len(b, page.Heads, 25)
				}
			})
		})
	}
}

// BenchmarkLoadForms loads a thread of 20 MB and reads all payloads again, in order and then in reverse.
func BenchmarkLoadForms(b *testing.B) {
	const size = 20_000_000
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	bothForms(b, func(s *Store) {
		require.NoError(b, appendTo(s, s.PathFor(benchID(1), at), variedThread(benchID(1), size)))
	}, func(b *testing.B, s *Store) {
		b.SetBytes(size)
		for b.Loop() {
			_, lines, err := s.Load(s.PathFor(benchID(1), at), counting{})
			require.NoError(b, err)
			for n := range lines.Lines() {
				lines.Payload(n)
			}
			for n := lines.Lines() - 1; n >= 0; n-- {
				lines.Payload(n)
			}
			require.NoError(b, lines.Err())
			require.NoError(b, lines.Close())
		}
	})
}

// counting is a Loader that keeps nothing.
type counting struct{}

func (counting) Begin(*LineReader) LineHandler                    { return func(*protocol.RolloutLine) {} }
func (counting) Continue(*LineReader, []byte) (LineHandler, bool) { return nil, false }
func (counting) Snapshot(io.Writer) error                         { return errNoSnapshot }

// BenchmarkConvertForms compresses a thread of 20 MB and decompresses it to append.
func BenchmarkConvertForms(b *testing.B) {
	const size = 20_000_000
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	s := NewStore(OS(), b.TempDir())
	path := s.PathFor(benchID(1), at)
	require.NoError(b, appendTo(s, path, variedThread(benchID(1), size)))
	var compressing, expanding time.Duration
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		began := time.Now()
		_, err := s.CompressThread(Compressible{benchID(1), []string{path}})
		require.NoError(b, err)
		compressing += time.Since(began)
		began = time.Now()
		_, err = s.disk.Expand(path)
		require.NoError(b, err)
		expanding += time.Since(began)
	}
	b.ReportMetric(float64(compressing.Milliseconds())/float64(b.N), "compress-ms")
	b.ReportMetric(float64(expanding.Milliseconds())/float64(b.N), "expand-ms")
}
