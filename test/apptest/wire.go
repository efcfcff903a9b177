package apptest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"appserver/schema/conform"
)

// REFERENCE_SCHEMA names a folder with the stable schema files that the reference implementation
// generated. If it is set, each line that a server writes to a test's client is validated.

// LoadReference returns the reference's schemas, or nil if REFERENCE_SCHEMA is not set.
var LoadReference = sync.OnceValues(func() (*conform.Schemas, error) {
	dir := os.Getenv("REFERENCE_SCHEMA")
	if dir == "" {
		return nil, nil
	}
	return conform.Load(os.DirFS(dir))
})

// wireCounts has the totals of all connections of the test process.
var wireCounts struct {
	sync.Mutex // also held during validation: the schemas are not safe for concurrent use

	connections, messages, long int
}

// longestChecked is the maximum length of a validated line in bytes.
const longestChecked = 1 << 20

// wire records both directions of a connection and validates them at the end, because slower reads
// would change the tests. A nil wire records nothing.
type wire struct {
	reference *conform.Schemas
	partial   []byte // the start of an incomplete line of the client

	mu    sync.Mutex
	lines []conform.Line
	long  int
}

// newWire returns nil for benchmarks, or if there is no reference.
func newWire(t testing.TB) *wire {
	t.Helper()
	reference, err := LoadReference()
	if err != nil {
		t.Fatal(err)
	}
	if _, measured := t.(*testing.B); measured || reference == nil {
		return nil
	}
	return &wire{reference: reference}
}

// line records a line. A line of the client must be recorded before it is sent.
func (w *wire) line(fromServer bool, line []byte) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if fromServer && len(line) > longestChecked {
		w.long++
		return
	}
	w.lines = append(w.lines, conform.Line{Number: len(w.lines) + 1, FromServer: fromServer, Message: line})
}

// end validates the recorded lines. No line may be recorded afterwards.
func (w *wire) end(t testing.TB) {
	t.Helper()
	if w == nil {
		return
	}
	wireCounts.Lock()
	defer wireCounts.Unlock()
	report := conform.ValidateTranscript(w.reference, w.lines)
	wireCounts.connections++
	wireCounts.messages += report.Checked
	wireCounts.long += w.long
	RequireConform(t, report)
}

// RequireTranscriptConforms validates the server's lines of a transcript, if there is a reference.
func RequireTranscriptConforms(t testing.TB, transcript string) {
	t.Helper()
	reference, err := LoadReference()
	if err != nil {
		t.Fatal(err)
	}
	if reference == nil {
		return
	}
	wireCounts.Lock()
	defer wireCounts.Unlock()
	report := conform.ValidateTranscript(reference, conform.ParseTranscript(transcript))
	if report.Checked == 0 {
		t.Error("no message of the transcript was validated")
	}
	RequireConform(t, report)
}

// RequireConform fails the test if a message is invalid or has no schema.
func RequireConform(t testing.TB, report conform.Report) {
	t.Helper()
	for _, method := range report.Unchecked {
		t.Errorf("the reference has no schema for %s", method)
	}
	for _, problem := range report.Problems {
		t.Error(problem)
	}
}

// checkedInput records what a client writes to the server.
type checkedInput struct {
	io.WriteCloser
	wire *wire
}

// Write accepts parts of lines.
func (i *checkedInput) Write(p []byte) (int, error) {
	if w := i.wire; w != nil {
		w.partial = append(w.partial, p...)
		for {
			line, rest, whole := bytes.Cut(w.partial, []byte("\n"))
			if !whole {
				break
			}
			w.line(false, slices.Clone(line))
			w.partial = rest
		}
	}
	return i.WriteCloser.Write(p)
}

// reportWire appends the totals to the report.
func reportWire() error {
	c := &wireCounts
	c.Lock()
	defer c.Unlock()
	if c.connections == 0 {
		return nil
	}
	return AppendReport(fmt.Sprintf("tests with the binary: %d connections, %d messages of the server validated, %d too long to validate", c.connections, c.messages, c.long))
}

// AppendReport appends a line to the file in REFERENCE_REPORT, if it is set.
func AppendReport(text string) error {
	path := os.Getenv("REFERENCE_REPORT")
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(strings.TrimSpace(text) + "\n"); err != nil {
		return err
	}
	return f.Close()
}
