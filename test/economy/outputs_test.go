package economy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path"
	"strings"
)

const (
	// maxOutput is the length of the longest output of a session, in bytes: the limit of the server's commands.
	maxOutput = 30 << 10
	// minReport and maxReport bound the output of a test run.
	minReport, maxReport = 200, 30 << 10
)

// reportSize returns the length of a test run's output: small ones are as frequent as large ones of each
// magnitude.
func reportSize(r *rand.Rand) int {
	return int(minReport * math.Pow(float64(maxReport)/minReport, r.Float64()*r.Float64()))
}

// testNames are the parts of the names of synthetic tests.
var testNames = [...][]string{
	{"Parse", "Encode", "Reload", "Close", "Retry", "Merge", "Split", "Resume", "Flush", "Register"},
	{"Empty", "Nested", "Unicode", "Large", "Concurrent", "Truncated", "Duplicate", "Missing", "Expired", "Hidden"},
	{"Header", "Field", "Option", "Stream", "Batch", "Command", "Entry", "Buffer", "Request", "Counter"},
}

func testName(r *rand.Rand) string {
	name := "Test"
	for _, parts := range testNames {
		name += parts[r.IntN(len(parts))]
	}
	return name
}

// failures are the causes of failed tests: %s is the file of the test, %d a line, %s the subject.
var failures = []string{
	"%s:%d: %s: expected 17 entries, received 16",
	"%s:%d: %s returned a nil pointer instead of an error",
	"%s:%d: unexpected order of keys after %s",
	"%s:%d: timeout while waiting for %s to finish",
	"%s:%d: %s: checksum mismatch between the copies",
	"%s:%d: undefined: %s",
	"%s:%d: cannot use %s as an interface value in argument",
	"%s:%d: %s leaked two goroutines",
	"%s:%d: the permission of %s was widened",
}

// failedReport returns the output of a failed test run and its cause.
func failedReport(r *rand.Rand, pkg, file, subject string) (report, test, cause string) {
	test = testName(r)
	testFile := strings.TrimSuffix(path.Base(file), path.Ext(file)) + "_test.go"
	cause = fmt.Sprintf(failures[r.IntN(len(failures))], testFile, 20+r.IntN(400), subject)
	var b strings.Builder
	size := reportSize(r)
	for b.Len() < size/2 {
		passingLine(r, &b)
	}
	fmt.Fprintf(&b, "--- FAIL: %s (0.%02ds)\n    %s\n", test, r.IntN(90), cause)
	for b.Len() < size {
		fmt.Fprintf(&b, "        got  %08x %08x %08x\n        want %08x %08x %08x\n", r.Uint32(), r.Uint32(), r.Uint32(),
			r.Uint32(), r.Uint32(), r.Uint32())
	}
	fmt.Fprintf(&b, "FAIL\nFAIL\texample.com/%s\t%d.%03ds\nFAIL\n", pkg, r.IntN(20), r.IntN(1000))
	return b.String(), test, cause
}

// passedReport returns the output of a test run that passed: some are verbose.
func passedReport(r *rand.Rand, pkg string) string {
	var b strings.Builder
	if r.IntN(4) == 0 {
		for size := reportSize(r); b.Len() < size; {
			passingLine(r, &b)
		}
	}
	fmt.Fprintf(&b, "ok  \texample.com/%s\t%d.%03ds\n", pkg, r.IntN(20), r.IntN(1000))
	return b.String()
}

func passingLine(r *rand.Rand, b *strings.Builder) {
	name := testName(r)
	fmt.Fprintf(b, "=== RUN   %s\n--- PASS: %s (0.%02ds)\n", name, name, r.IntN(90))
}

// search returns the output of rg for a word in files, of at most maxOutput bytes.
func search(word string, names []string, content func(name string) string) string {
	var b strings.Builder
	for _, name := range names {
		n := 0
		for line := range strings.Lines(content(name)) {
			n++
			if strings.Contains(line, word) {
				fmt.Fprintf(&b, "%s:%d:%s", name, n, strings.TrimRight(line, "\n")+"\n")
			}
		}
	}
	return bounded(b.String())
}

// lines returns the lines of a text from one number to another.
func lines(text string, from, to int) string {
	all := strings.SplitAfter(text, "\n")
	return bounded(strings.Join(all[min(max(from-1, 0), len(all)):min(to, len(all))], ""))
}

func bounded(text string) string {
	if len(text) <= maxOutput {
		return text
	}
	return strings.ToValidUTF8(text[:maxOutput], "")
}
