package redact

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"regexp"
	"strings"
	"sync"
)

// Detector knows one kind of secret.
type Detector struct {
	// Name is for people.
	Name string
	// begins are texts of three bytes and more: at one of them a match begins.
	begins []string
	// not are the characters that cannot stand before a begin, as in a class.
	not string
	// form is the rest of a secret after its begin. Its group, if any, is the secret. A run that it
	// matches must end before the next possible begin, so that the time is linear.
	form string
	// also is a text that a line with a match contains as well.
	also string
	// digits is set if a secret has at least one digit. Without a digit it is words.
	digits bool
}

// The characters that cannot come before a begin: those of a word, and those of keys with dashes.
const (
	inWord = `_`
	inKey  = `_-`
)

// Detectors returns the known kinds of secrets. Their forms are documented by the issuers of the keys,
// or visible in the keys.
func Detectors() []Detector {
	return []Detector{
		{"AWS access key id", []string{"AKIA", "ASIA", "ABIA", "ACCA"}, inWord, `....[A-Z2-7]{16}\b`, "", false},
		{"AWS secret key", []string{"ecret_access_key", "ECRET_ACCESS_KEY", "ecretAccessKey", "ession_token", "ESSION_TOKEN",
			"essionToken"}, "",
			`\w+[\\"']*\s*[:=]\s*[\\"']*([A-Za-z0-9/+]{38,}=*)`, "", true},
		{"Anthropic key", []string{"sk-ant-"}, inKey, `sk-ant-[a-z0-9]{2,12}-[A-Za-z0-9_-]{32,}`, "", false},
		{"Azure storage key", []string{"AccountKey="}, "", `AccountKey=([A-Za-z0-9+/]{86}==)`, "", false},
		{"bearer token", []string{"earer ", "EARER "}, "", `\w+ +([A-Za-z0-9._~+/=-]{16,})`, "", true},
		{"basic credentials", []string{"uthorization", "UTHORIZATION"}, "",
			`\w+[\\"']*\s*[:=]\s*[\\"']*(?i:basic) +([A-Za-z0-9+/=]{8,})`, "", false},
		{"DigitalOcean token", []string{"dop_v1_", "doo_v1_", "dor_v1_"}, inWord, `do._v1_[a-f0-9]{64}\b`, "", false},
		{"GitHub token", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, inWord, `gh._[A-Za-z0-9]{36,255}\b`, "", false},
		{"GitHub fine-grained token", []string{"github_pat_"}, inWord, `github_pat_[A-Za-z0-9_]{22,255}\b`, "", false},
		{"GitLab token", []string{"glpat-", "gldt-", "glrt-"}, inKey, `gl[a-z]+-[A-Za-z0-9_-]{20,}`, "", false},
		{"Google API key", []string{"AIza"}, inKey, `AIza[A-Za-z0-9_-]{35}`, "", false},
		{"Hugging Face token", []string{"hf_"}, inWord, `hf_[A-Za-z0-9]{34,}\b`, "", false},
		{"JSON Web Token", []string{"eyJ"}, inKey, `eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`, "",
			false},
		{"npm token", []string{"npm_"}, inWord, `npm_[A-Za-z0-9]{36}\b`, "", false},
		{"OpenAI key", []string{"sk-"}, inKey,
			`sk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{32,}|or-v1-[a-f0-9]{64}|[A-Za-z0-9]{32,})`, "", true},
		{"password in a URL", []string{"://"}, "", `://[^\s/:@"'\\<>]*:([^\s/:@"'\\<>$\[{]{3,})@`, "@", false},
		{"private key", []string{"-----BEGIN "}, "",
			`-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:(?:[A-Za-z0-9+/=\s:,.\\]|-[A-Za-z0-9])*?-?-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\+[nr])*[-+> ]?[A-Za-z0-9+/=]{16,})+)`, "", false},
		{"PyPI token", []string{"pypi-AgE"}, inKey, `pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}`, "", false},
		{"SendGrid key", []string{"SG."}, inKey, `SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`, "", false},
		{"Slack token", []string{"xoxa-", "xoxb-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"}, inKey,
			`x...[-.][A-Za-z0-9.-]{10,}`, "", true},
		{"Slack webhook", []string{"hooks.slack.com/services/"}, "",
			`hooks\.slack\.com/services/([A-Za-z0-9]+/[A-Za-z0-9]+/[A-Za-z0-9]+)`, "", false},
		{"Stripe key", []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_"}, inWord,
			`[sr]k_(?:live|test)_[A-Za-z0-9]{16,}`, "", false},
		{"webhook secret", []string{"whsec_"}, inWord, `whsec_[A-Za-z0-9+/]{24,}`, "", true},
	}
}

// detectors are all of them, ready for use.
type detectors struct {
	rows  []Detector
	forms []func() *regexp.Regexp
	// A text with a begin has two bytes of it at an even index. pairs has a bit for each such two bytes. groups has
	// the index in places, where the begins with these two bytes are.
	pairs  [1 << 16 / 64]uint64
	groups [1 << 16]uint16
	places [][]place
}

// place is the begin of a detector with two bytes at an offset.
type place struct {
	row    int
	begin  []byte
	offset int
}

// prepared returns the detectors, which all redactors of the process share.
var prepared = sync.OnceValue(prepare)

// prepare compiles no expression. Each is compiled on first use.
func prepare() *detectors {
	d := &detectors{rows: Detectors()}
	for i, row := range d.rows {
		d.forms = append(d.forms,
			sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:` + row.form + `)`) }))
		for _, begin := range row.begins {
			for parity := range 2 {
				d.add(place{i, []byte(begin), rarePair(begin, parity)})
			}
		}
	}
	return d
}

func (d *detectors) add(p place) {
	pair := binary.LittleEndian.Uint16(p.begin[p.offset:])
	if d.bit(pair) == 0 {
		d.pairs[pair/64] |= 1 << (pair % 64)
		d.groups[pair], d.places = uint16(len(d.places)), append(d.places, nil)
	}
	d.places[d.groups[pair]] = append(d.places[d.groups[pair]], p)
}

// common has the bytes that are frequent in texts and JSON.
const common = " etaoinsrhldcu\"-/:."

// rarePair returns the offset of the two bytes of a begin that texts have most rarely. The offset is even or odd, as
// the parity is.
func rarePair(begin string, parity int) (offset int) {
	least := 3
	for at := parity; at+2 <= len(begin); at += 2 {
		if n := frequent(begin[at]) + frequent(begin[at+1]); n < least {
			offset, least = at, n
		}
	}
	return offset
}

func frequent(c byte) int { return min(1, 1+strings.IndexByte(common, c)) }

// suspects returns the detectors that may find something in a text, or in JSON, as bits. JSON does not escape the
// characters of a begin. A begin is longer than two bytes, so two of its bytes are at an even index.
func (d *detectors) suspects(text []byte) (found uint32) {
	i := 0
	for ; i+8 <= len(text); i += 8 {
		eight := binary.LittleEndian.Uint64(text[i:])
		if d.bit(uint16(eight))|d.bit(uint16(eight>>16))|d.bit(uint16(eight>>32))|d.bit(uint16(eight>>48)) != 0 {
			found |= d.begunAt(text, i, i+8)
		}
	}
	found |= d.begunAt(text, i, len(text))
	for rest := found; rest != 0; rest &= rest - 1 {
		if i := bits.TrailingZeros32(rest); !bytes.Contains(text, []byte(d.rows[i].also)) {
			found &^= 1 << i
		}
	}
	return found
}

// bit returns 1 if a begin has the two bytes, or else 0.
func (d *detectors) bit(pair uint16) uint64 { return d.pairs[pair/64] >> (pair % 64) & 1 }

// begunAt returns the detectors whose begin is in a text, as bits. It looks at each two bytes between two indices. The
// first index must be even.
func (d *detectors) begunAt(text []byte, from, to int) (found uint32) {
	for ; from+2 <= to; from += 2 {
		pair := binary.LittleEndian.Uint16(text[from:])
		if d.bit(pair) == 0 {
			continue
		}
		for _, p := range d.places[d.groups[pair]] {
			if at := from - p.offset; at >= 0 && bytes.HasPrefix(text[at:], p.begin) {
				found |= 1 << p.row
			}
		}
	}
	return found
}

// redact runs the suspects over a text.
func (d *detectors) redact(text string, suspects uint32) string {
	for ; suspects != 0; suspects &= suspects - 1 {
		i := bits.TrailingZeros32(suspects)
		for _, begin := range d.rows[i].begins {
			text = d.rows[i].redact(text, begin, d.forms[i])
		}
	}
	return text
}

// redact looks at each place with a begin.
func (d *Detector) redact(text, begin string, form func() *regexp.Regexp) string {
	var out redacting
	for at := 0; ; {
		next := strings.Index(text[at:], begin)
		if next < 0 {
			return out.whole(text)
		}
		at += next
		if from, to := d.secret(text, at, form); from < to {
			out.mark(text, from, to)
			at = to
			continue
		}
		at += len(begin)
	}
}

// secret returns the range of the secret that begins at an index, or 0 and 0.
func (d *Detector) secret(text string, at int, form func() *regexp.Regexp) (from, to int) {
	if d.not != "" && at > 0 && (isAlnum(text[at-1]) || strings.IndexByte(d.not, text[at-1]) >= 0) {
		return 0, 0
	}
	m := form().FindStringSubmatchIndex(text[at:])
	if m == nil {
		return 0, 0
	}
	from, to = secretOf(m)
	if d.digits && !strings.ContainsAny(text[at+from:at+to], "0123456789") {
		return 0, 0
	}
	return at + from, at + to
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// secretOf returns the range of the group of a match, or of the whole match.
func secretOf(m []int) (from, to int) {
	if len(m) > 2 && m[2] >= 0 {
		return m[2], m[3]
	}
	return m[0], m[1]
}

// mark replaces a secret.
const mark = "[redacted]"

// redacting is a text in which marks take the places of secrets, from its begin on.
type redacting struct {
	strings.Builder
	// copied is the number of processed bytes of the text.
	copied int
}

func (r *redacting) mark(text string, from, to int) {
	r.WriteString(text[r.copied:from])
	r.WriteString(mark)
	r.copied = to
}

func (r *redacting) whole(text string) string {
	if r.copied == 0 {
		return text
	}
	r.WriteString(text[r.copied:])
	return r.String()
}

// replace replaces each match by the mark, or the group of a match if it has one.
func replace(text string, form *regexp.Regexp) string {
	var out redacting
	for _, m := range form.FindAllStringSubmatchIndex(text, -1) {
		if from, to := secretOf(m); from < to {
			out.mark(text, from, to)
		}
	}
	return out.whole(text)
}
