package workbench

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxUntested is the number of the controls that no test uses. It only goes down.
const maxUntested = 11

// untested is the test of a control that no test uses.
const untested = "untested"

// controlsFile names a test for each control of the page: file, control, test.
const controlsFile = "testdata/controls.txt"

var (
	controlStart = regexp.MustCompile(`<(button|select|input|textarea|summary|a)[\s>]|<Menu |\{ label: "[^"]+", (?:icon|detail|key):|\baction: "[A-Z]`)
	// The names of a control in the order of their preference.
	labelNames = regexp.MustCompile("\\b(?:aria-label|label)=(?:\"([^\"]+)\"|\\{`([^`$]+)|\\{[^}]*?\"([^\"]+)\" : \"([^\"]+)\")")
	entryName  = regexp.MustCompile(`^(?:\{ label|action): "([^"]+)"`)
	otherNames = regexp.MustCompile(`\b(?:placeholder|title)="([^"]+)"`)
	quotedText = regexp.MustCompile(`[?:] "([^"]{2,})"`)
	expression = regexp.MustCompile(`\{[^{}]*\}`)
	markup     = regexp.MustCompile(`<[^<>]*>`)
	// alwaysDisabled matches the checkbox of a task list in Markdown, which cannot be changed.
	alwaysDisabled = regexp.MustCompile(`^<input [^>]*\sdisabled[\s/>]`)
	testStart      = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// TestEachControlOfThePageHasATest requires that controlsFile names a test of this package for each button, field,
// link and entry of a menu in the sources of the page. WORKBENCH_UPDATE=1 adds new controls, with a question mark as
// their test. At most maxUntested of the controls have none.
func TestEachControlOfThePageHasATest(t *testing.T) {
	t.Parallel()
	written, err := os.ReadFile(controlsFile)
	require.NoError(t, err)
	tests := map[string]string{}
	for line := range strings.Lines(string(written)) {
		control, test, _ := cutLast(strings.TrimSuffix(line, "\n"), "\t")
		tests[control] = test
	}
	var list strings.Builder
	known, missing := testNames(t), 0
	for _, control := range pageControls(t) {
		test := cmp.Or(tests[control], "?")
		fmt.Fprintf(&list, "%s\t%s\n", control, test)
		if test == untested {
			missing++
		} else if !known[test] {
			t.Errorf("%s: %s is no test", control, test)
		}
	}
	if os.Getenv("WORKBENCH_UPDATE") != "" {
		require.NoError(t, os.WriteFile(controlsFile, []byte(list.String()), 0o600))
		return
	}
	require.LessOrEqual(t, missing, maxUntested, "write a test for a new control")
	require.Equal(t, string(written), list.String(), "run with WORKBENCH_UPDATE=1, and name tests in %s", controlsFile)
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}

// testNames returns the names of the tests of this package.
func testNames(t *testing.T) map[string]bool {
	names := map[string]bool{}
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range testStart.FindAllSubmatch(source, -1) {
			names[string(m[1])] = true
		}
	}
	return names
}

// pageControls returns the controls of the page: file and names. Equal ones of a file are numbered.
func pageControls(t *testing.T) (controls []string) {
	files, err := filepath.Glob("../../web/src/*/*.tsx")
	require.NoError(t, err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		seen := map[string]int{}
		for _, at := range controlStart.FindAllIndex(source, -1) {
			if alwaysDisabled.MatchString(tagOf(string(source[at[0]:]))) {
				continue
			}
			name := strings.Join(controlNames(string(source), at[0]), " / ")
			seen[name]++
			if n := seen[name]; n > 1 {
				name = fmt.Sprintf("%s (%d)", name, n)
			}
			controls = append(controls, filepath.Base(file)+"\t"+name)
		}
	}
	return controls
}

// controlNames returns the names of the control at a place of a source.
func controlNames(source string, at int) []string {
	text := source[at:]
	if m := entryName.FindStringSubmatch(text); m != nil {
		return []string{m[1]}
	}
	tag := tagOf(text)
	for _, names := range [][]string{
		labels(labelNames, tag), childNames(text, tag), labelAround(source, at), labels(otherNames, tag),
	} {
		if len(names) > 0 {
			return names
		}
	}
	return []string{computedName(source, at, tag)}
}

// computedName returns a name for a control whose text is computed: the expressions in it or in its label.
func computedName(source string, at int, tag string) string {
	kind := kindOf(tag)
	text, _ := inside(source[at:], tag)
	if start := labelStart(source, at); text == "" && start >= 0 {
		text, _ = inside(source[start:], tagOf(source[start:]))
	}
	text = strings.Join(strings.Fields(withoutMarkup(text, " ")), " ")
	if text == "" {
		text = strings.TrimPrefix(strings.Join(strings.Fields(tag), " "), "<"+kind+" ")
	}
	return strings.TrimSpace(kind + " " + text[:min(len(text), 60)])
}

// labels returns the names in the attributes of a tag.
func labels(pattern *regexp.Regexp, tag string) []string {
	m := pattern.FindStringSubmatch(tag)
	if m == nil {
		return nil
	}
	return slices.DeleteFunc(m[1:], func(name string) bool { return strings.TrimSpace(name) == "" })
}

// labelAround returns the texts of the label that a control at a place of a source is in.
func labelAround(text string, at int) []string {
	start := labelStart(text, at)
	if start < 0 {
		return nil
	}
	return childNames(text[start:], tagOf(text[start:]))
}

// labelStart returns the start of the label that a place of a source is in, or -1.
func labelStart(text string, at int) int {
	start := strings.LastIndex(text[:at], "<label")
	if start < 0 || strings.Contains(text[start:at], "</label>") {
		return -1
	}
	return start
}

// tagOf returns the start tag with which a text begins. Its attributes have expressions in braces.
func tagOf(text string) string {
	depth := 0
	for i, r := range text {
		switch {
		case r == '{':
			depth++
		case r == '}':
			depth--
		case r == '>' && depth == 0 && text[i-1] != '=':
			return text[:i+1]
		}
	}
	return text
}

// kindOf returns the name of an element.
func kindOf(tag string) string {
	return regexp.MustCompile(`^<(\w+)`).FindStringSubmatch(tag)[1]
}

// inside returns the source between the tags of an element.
func inside(text, tag string) (source string, found bool) {
	if strings.HasSuffix(tag, "/>") {
		return "", false
	}
	source, _, found = strings.Cut(text[len(tag):], "</"+kindOf(tag)+">")
	return source, found
}

// withoutMarkup replaces the tags in a source.
func withoutMarkup(source, by string) string {
	return markup.ReplaceAllString(strings.ReplaceAll(source, "=>", ""), by)
}

// childNames returns the texts between the tags of an element.
func childNames(text, tag string) (names []string) {
	source, found := inside(text, tag)
	if !found {
		return nil
	}
	for _, m := range quotedText.FindAllStringSubmatch(withoutMarkup(source, ""), -1) {
		names = append(names, strings.Join(strings.Fields(m[1]), " "))
	}
	plain := withoutMarkup(source, "\n")
	for expression.MatchString(plain) {
		plain = expression.ReplaceAllString(plain, "\n")
	}
	for line := range strings.SplitSeq(plain, "\n") {
		if line = strings.Trim(line, " \t()"); len(line) > 1 && !strings.ContainsAny(line, "{}=?:") {
			names = append(names, line)
		}
	}
	return names
}
