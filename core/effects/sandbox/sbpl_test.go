//go:build unix

package sandbox

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// expression is a symbol, a string or a list of the language of Seatbelt, a dialect of Scheme.
type expression struct {
	symbol string
	text   *string
	list   []expression
}

func (e expression) head() string {
	if len(e.list) == 0 {
		return ""
	}
	return e.list[0].symbol
}

// parseProfile parses the subset of the language that profiles use: lists, symbols, strings without
// escapes, and raw strings of regular expressions.
func parseProfile(text string) (list []expression, err error) {
	p := &profileParser{rest: text}
	for p.skip(); p.rest != "" && p.err == nil; p.skip() {
		list = append(list, p.next())
	}
	return list, p.err
}

type profileParser struct {
	rest string
	err  error
}

func (p *profileParser) skip() { p.rest = strings.TrimLeft(p.rest, " \n") }

var symbol = regexp.MustCompile(`^[a-zA-Z0-9_*-]+`)

func (p *profileParser) next() (e expression) {
	switch {
	case strings.HasPrefix(p.rest, "("):
		return p.list()
	case strings.HasPrefix(p.rest, `"`), strings.HasPrefix(p.rest, `#"`):
		_, after, _ := strings.Cut(p.rest, `"`)
		text, rest, ended := strings.Cut(after, `"`)
		if !ended || strings.HasPrefix(p.rest, `"`) && strings.Contains(text, `\`) {
			p.err = fmt.Errorf("a string without an end, or with an escape: %q", p.rest)
		}
		p.rest = rest
		return expression{text: &text}
	}
	e.symbol = symbol.FindString(p.rest)
	if e.symbol == "" {
		p.err = fmt.Errorf("unexpected %q", p.rest)
	}
	p.rest = p.rest[len(e.symbol):]
	return e
}

func (p *profileParser) list() (e expression) {
	p.rest = p.rest[1:]
	for p.skip(); p.err == nil; p.skip() {
		if p.rest == "" {
			p.err = fmt.Errorf("a list without an end")
			return e
		}
		if strings.HasPrefix(p.rest, ")") {
			p.rest = p.rest[1:]
			return e
		}
		e.list = append(e.list, p.next())
	}
	return e
}

// operation is a system operation of a process, with the attributes that filters match.
type operation struct {
	name, path string
	// extension is the class of a permission that the process has for the path.
	extension string
	// same is set if the target is a process of the sandbox.
	same bool
	// service is a name of a Mach service or a setting.
	service string
	// ip is set for addresses of the internet, not set for Unix sockets.
	ip bool
}

// outsideDefault are the operations that (deny default) does not deny.
var outsideDefault = []string{"process-info", "nvram", "file-map-executable", "iokit-get-properties"}

// allows evaluates a profile: the last rule that matches decides.
func allows(t *testing.T, p Profile, o operation) bool {
	t.Helper()
	rules, err := parseProfile(p.Text)
	require.NoError(t, err)
	allowed := slices.ContainsFunc(outsideDefault, func(prefix string) bool { return strings.HasPrefix(o.name, prefix) })
	for _, rule := range rules[2:] {
		if ruleMatches(t, p, rule.list[1:], o) {
			allowed = rule.head() == "allow"
		}
	}
	return allowed
}

// ruleMatches reports whether one of the operations and, if there are any, one of the filters of a
// rule matches.
func ruleMatches(t *testing.T, p Profile, rule []expression, o operation) bool {
	matched, filters, filtered := false, false, false
	for _, e := range rule {
		if e.symbol != "" {
			prefix, group := strings.CutSuffix(e.symbol, "*")
			matched = matched || e.symbol == o.name || group && strings.HasPrefix(o.name, prefix)
			continue
		}
		filters = true
		filtered = filtered || filterMatches(t, p, e, o)
	}
	return matched && (filtered || !filters)
}

func filterMatches(t *testing.T, p Profile, e expression, o operation) bool {
	each := func(e expression) bool { return filterMatches(t, p, e, o) }
	value := func() string { return valueOf(t, p, e.list[1]) }
	switch e.head() {
	case "require-all":
		return !slices.ContainsFunc(e.list[1:], func(e expression) bool { return !each(e) })
	case "require-not":
		return !each(e.list[1])
	case "literal":
		return o.path == value()
	case "subpath":
		return within(value(), o.path)
	case "regex":
		return regexp.MustCompile(value()).MatchString(o.path)
	case "extension":
		return o.extension == value()
	case "global-name":
		return o.service == value()
	case "sysctl-name-regex":
		return regexp.MustCompile(value()).MatchString(o.service)
	case "target":
		return o.same
	case "remote", "local":
		return o.ip
	case "socket-domain", "socket-protocol":
		return o.service == e.list[1].symbol
	}
	require.Fail(t, "a filter without a meaning", "%+v", e)
	return false
}

// valueOf returns the text of a string or of a parameter.
func valueOf(t *testing.T, p Profile, e expression) string {
	if e.text != nil {
		return *e.text
	}
	require.Equal(t, "param", e.head())
	var i int
	_, err := fmt.Sscanf(*e.list[1].text, "P%d", &i)
	require.NoError(t, err)
	require.Less(t, i, len(p.Values))
	return p.Values[i]
}
