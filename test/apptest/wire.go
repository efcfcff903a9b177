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

// With REFERENCE_SCHEMA, which names a folder that the reference implementation wrote its
// stable schema files to, every line that the server writes to a client of any test is
// held against them.

// LoadReference is nil where REFERENCE_SCHEMA is not set.
var LoadReference = sync.OnceValues(func() (*conform.Schemas, error) {
	dir := os.Getenv("REFERENCE_SCHEMA")
	if dir == "" {
		return nil, nil
	}
	return conform.Load(os.DirFS(dir))
})

// wireCounts are of all connections of the test process.
var wireCounts struct {
	sync.Mutex // held while a connection is checked, too: the schemas are for one goroutine at a time

	connections, messages, long int
}

// longestChecked is how long a line may be that is checked, in bytes.
const longestChecked = 1 << 20

// wire keeps what both sides of a connection write, and checks it in the end: tests must
// not read slower for it. A nil one keeps nothing.
type wire struct {
	reference *conform.Schemas
	begun     []byte // of a line of the client's

	mu    sync.Mutex
	lines []conform.Line
	long  int
}

// newWire is nil for benchmarks, and where there is no reference.
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

// line takes what one side wrote. That of the client must come before it is sent.
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

// end reports what was found. Nothing may be written any more.
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

// RequireTranscriptConforms checks the server's lines of a transcript, if there is a reference.
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
		t.Error("the transcript has no message that was checked")
	}
	RequireConform(t, report)
}

// RequireConform fails the test where something is wrong, or no schema says what is right.
func RequireConform(t testing.TB, report conform.Report) {
	t.Helper()
	for _, method := range report.Unchecked {
		t.Errorf("the reference has no schema for %s", method)
	}
	for _, problem := range report.Problems {
		t.Error(problem)
	}
}

// checkedInput is the server's input.
type checkedInput struct {
	io.WriteCloser
	wire *wire
}

// Write may be given parts of lines.
func (i *checkedInput) Write(p []byte) (int, error) {
	if w := i.wire; w != nil {
		w.begun = append(w.begun, p...)
		for {
			line, rest, whole := bytes.Cut(w.begun, []byte("\n"))
			if !whole {
				break
			}
			w.line(false, slices.Clone(line))
			w.begun = rest
		}
	}
	return i.WriteCloser.Write(p)
}

// reportWire tells what was checked, if anything was.
func reportWire() error {
	c := &wireCounts
	c.Lock()
	defer c.Unlock()
	if c.connections == 0 {
		return nil
	}
	return AppendReport(fmt.Sprintf("tests with the binary: %d connections, %d messages of the server checked, %d passed over for their length", c.connections, c.messages, c.long))
}

// AppendReport adds a line to the file REFERENCE_REPORT, if that is set.
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
