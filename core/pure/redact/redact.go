package redact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"appserver/protocol"
)

// Redactor removes secrets. A nil Redactor changes nothing.
type Redactor struct {
	detectors *detectors
	patterns  []pattern
	// known returns secrets that are removed wherever they stand; it may be nil. Without it they are found.
	known func() []string
	found []string
}

// minKnown is the length from which on a known secret is removed, in bytes. Shorter ones are often words, such as
// the name of a server that checks no key.
const minKnown = 16

// Knowing returns a redactor that also removes the texts that known returns at the time. It removes nothing more if it
// has no detectors, because the user then keeps secrets of known forms.
func (r *Redactor) Knowing(known func() []string) *Redactor {
	if r == nil || r.detectors == nil {
		return r
	}
	next := *r
	next.known = known
	return &next
}

// secrets returns the known secrets that are long enough, the longest first: one may be a part of another.
func (r *Redactor) secrets() (long []string) {
	if r.known == nil {
		return r.found
	}
	for _, secret := range r.known() {
		if len(secret) >= minKnown {
			long = append(long, secret)
		}
	}
	slices.SortStableFunc(long, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return long
}

// hasKnown reports whether JSON has one of the secrets, as it is or escaped in a string.
func hasKnown(text []byte, secrets []string) bool {
	return slices.ContainsFunc(secrets, func(secret string) bool {
		if bytes.Contains(text, []byte(secret)) {
			return true
		}
		quoted, err := protocol.Marshal(secret)
		return err == nil && len(quoted) != len(secret)+2 && bytes.Contains(text, quoted[1:len(quoted)-1])
	})
}

// pattern is a pattern of the user.
type pattern struct {
	form *regexp.Regexp
	// word is a text that every match has in lower case, or "".
	word string
}

// New returns a redactor for the matches of the patterns and, if detect is set, for the secrets of the
// detectors. It returns nil if both are empty. A pattern is an expression (RE2), whose first group is
// the secret if it has one, or a word. If it is a word, the value that is assigned to a name with that
// prefix is a secret as well, in any case.
func New(patterns []string, detect bool) (*Redactor, error) {
	r := &Redactor{}
	for _, p := range patterns {
		if p == "" {
			continue
		}
		word := ""
		if regexp.QuoteMeta(p) == p {
			word = strings.ToLower(p)
			r.patterns = append(r.patterns, pattern{assigned(p), word})
			p = "(?i)" + p
		}
		form, err := regexp.Compile(p)
		if err != nil {
			return nil, err
		}
		r.patterns = append(r.patterns, pattern{form, word})
	}
	if detect {
		r.detectors = prepared()
	}
	if r.detectors == nil && len(r.patterns) == 0 {
		return nil, nil
	}
	return r, nil
}

// assigned matches what is assigned to a name, in code, JSON, YAML, a shell or a URL.
func assigned(word string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + word + `[\w-]*[\\"']*\s*[:=]\s*[\\"']*([^\s"'\\,;&(){}\[\]]+)`)
}

// Text returns a text without its secrets.
func (r *Redactor) Text(text string) string {
	if r == nil {
		return text
	}
	suspects := uint32(0)
	if r.detectors != nil {
		suspects = r.detectors.suspects([]byte(text))
	}
	return r.text(text, suspects)
}

func (r *Redactor) text(text string, suspects uint32) string {
	for _, secret := range r.secrets() {
		text = strings.ReplaceAll(text, secret, mark)
	}
	if suspects != 0 {
		text = r.detectors.redact(text, suspects)
	}
	if len(r.patterns) == 0 {
		return text
	}
	lower := strings.ToLower(text)
	for _, p := range r.patterns {
		if strings.Contains(lower, p.word) {
			text = replace(text, p.form)
		}
	}
	return text
}

// Line returns a line without its secrets. The result can share memory with the argument, which
// does not change.
func (r *Redactor) Line(line protocol.RolloutLine) protocol.RolloutLine {
	if r == nil {
		return line
	}
	suspects := uint32(0)
	if r.detectors != nil {
		suspects = r.detectors.suspects(line.Payload)
		if escapesMore(line.Payload) {
			suspects = ^uint32(0) >> (32 - len(r.detectors.rows))
		}
	}
	secrets := r.secrets()
	if suspects == 0 && len(r.patterns) == 0 && !hasKnown(line.Payload, secrets) {
		return line
	}
	reach := reachOf(line)
	words := &Redactor{detectors: r.detectors, found: secrets}
	r = &Redactor{detectors: r.detectors, patterns: r.patterns, found: secrets}
	line.Payload = rewrite(line.Payload, func(name, value string) string {
		switch by := reach(name); {
		case by == nobody, isData(value):
			return value
		case by == detectorsAlone:
			return words.member(name, value, suspects)
		}
		return r.member(name, value, suspects)
	})
	return line
}

// escapesMore reports whether JSON, or JSON in a string of it, escapes characters that a secret's prefix may have, as
// some programs do. No prefix has a control character.
func escapesMore(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return false
		}
		text = text[i+1:]
		if after, ok := bytes.CutPrefix(text, []byte("u00")); ok && len(after) > 0 && after[0] >= '2' ||
			bytes.HasPrefix(text, []byte("/")) {
			return true
		}
	}
}

// isData reports whether a value is data in a URL, as images are.
func isData(value string) bool {
	head, data, ok := strings.Cut(value, ";base64,")
	return ok && len(head) < 100 && strings.HasPrefix(head, "data:") && !strings.ContainsFunc(data, func(c rune) bool {
		return c > 'z' || c <= ' ' || c == '"'
	})
}

// member returns a text of a payload without secrets. If the text is JSON, it examines each decoded
// member, and then the whole. Arguments stay JSON.
func (r *Redactor) member(name, value string, suspects uint32) string {
	if structured(value) {
		value = string(rewrite([]byte(value), func(name, inner string) string {
			if r.names(name) {
				return mark
			}
			return r.text(inner, suspects)
		}))
	}
	redacted := r.text(value, suspects)
	if name == "arguments" && structured(value) && !json.Valid([]byte(redacted)) {
		return value
	}
	return redacted
}

// names reports whether a member's name has a word of the user, so that its value is a secret.
func (r *Redactor) names(name string) bool {
	lower := strings.ToLower(name)
	return slices.ContainsFunc(r.patterns, func(p pattern) bool { return p.word != "" && strings.Contains(lower, p.word) })
}

// structured reports whether a text is a JSON object or list.
func structured(text string) bool {
	begin := strings.TrimLeft(text, " \t\r\n")
	return begin != "" && (begin[0] == '{' || begin[0] == '[') && json.Valid([]byte(text))
}
