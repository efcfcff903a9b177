package redact

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// secretParts are parts of names of variables that contain secrets, anywhere in the name.
var secretParts = []string{"KEY", "SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "PASSCODE", "CREDENTIAL"}

// secretWords end names of variables that contain secrets: the last word of the name, before a number or one of
// detailWords. So DOCKER_AUTH_CONFIG matches, and AUTH_TYPE does not.
var (
	secretWords = strings.Fields("AUTH AUTHORIZATION BEARER COOKIE COOKIES CRED CREDS DSN JWT JWTS PAT PASS PWD")
	detailWords = strings.Fields("CONFIG DATA HEADER STRING VALUE")
)

// harmlessNames are names that look like those of secrets and are not: of folders, of programs that ask for a password,
// of settings of git, whose values decide.
var harmlessNames = regexp.MustCompile(`^(?:PWD|OLDPWD|.*ASKPASS|BYPASS|COMPASS|GIT_CONFIG_KEY_\d+|KEYTIMEOUT|XKB_.*|.*KEYMAP|.*KEYBOARD.*)$`)

// harmlessValues are values that are no secrets, whatever the name: switches, and paths of several parts.
var harmlessValues = regexp.MustCompile(`^(?i:|0|1|true|false|yes|no|on|off|none|auto|(?:~|[a-z]:)?[/\\][^:;,\s]*[/\\][^:;,\s]+)$`)

// identifierWords end names of variables whose values are random and public: ids of builds and sessions, hashes.
var identifierWords = strings.Fields("ID IDS UUID GUID SHA SHA1 SHA256 HASH DIGEST CHECKSUM COMMIT REV REVISION VERSION " +
	"REF BUILDID SOCK SOCKET PATH DIR HOME FLAGS COLORS")

// keptNames are the variables without which programs do not work. Their values do not matter.
var keptNames = strings.Fields("PATH HOME USER LOGNAME SHELL LANG TERM TMPDIR PWD OLDPWD LS_COLORS PS1 PS2 PS4 PROMPT")

// IsSecretVariable reports whether an environment variable seems to have a secret: by its name, or by its value. The
// value counts if it has the begin of a private key, a form that a [Detector] knows, a URL with a password, a
// password in a list of settings, or if all of it is a random text of letters of both cases and digits. Hexadecimal
// numbers, UUIDs and paths are no secrets.
func IsSecretVariable(name, value string) bool {
	upper := strings.ToUpper(name)
	switch {
	case harmlessNames.MatchString(upper):
	case slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(upper, part) }):
		return true
	case hasSecretWord(upper) && !harmlessValues.MatchString(value):
		return true
	}
	if slices.Contains(keptNames, upper) {
		return false
	}
	return beginsKey(value) || hasKnownSecret(value) || hasPassword(value) || !isIdentifier(upper) && isRandom(value)
}

// beginsKey reports whether a value has the begin of a private key. A variable may have a part of one. In other texts,
// the words alone are no secret.
func beginsKey(value string) bool {
	_, rest, begun := strings.Cut(value, "-----BEGIN ")
	kind, _, ended := strings.Cut(rest, "-----")
	return begun && ended && strings.Contains(kind, "PRIVATE KEY")
}

// gitConfigCount is the number of the pairs of variables GIT_CONFIG_KEY_N and GIT_CONFIG_VALUE_N.
const gitConfigCount, gitConfig = "GIT_CONFIG_COUNT", "GIT_CONFIG_"

// SecretVariables returns the names of the variables of an environment that seem to have secrets. GIT_CONFIG_COUNT is
// one of them if one of its pairs is, because git fails without a pair.
func SecretVariables(environ []string) (names []string) {
	config := false
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if IsSecretVariable(name, value) {
			names = append(names, name)
			config = config || strings.HasPrefix(name, gitConfig)
		}
	}
	if config {
		names = append(names, gitConfigCount)
	}
	return names
}

// nameWords returns the words of a name, without a number at its end.
func nameWords(upper string) []string {
	words := strings.FieldsFunc(upper, func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	if n := len(words); n > 1 && strings.Trim(words[n-1], "0123456789") == "" {
		words = words[:n-1]
	}
	return words
}

// hasSecretWord reports whether the name ends like that of a secret. PASS, PWD and JWT also end a word, as in PGPASS.
func hasSecretWord(upper string) bool {
	words := nameWords(upper)
	if n := len(words); n > 1 && slices.Contains(detailWords, words[n-1]) {
		words = words[:n-1]
	}
	if len(words) == 0 {
		return false
	}
	last := strings.TrimRight(words[len(words)-1], "0123456789")
	return slices.Contains(secretWords, last) || slices.ContainsFunc([]string{"PASS", "PWD", "JWT"},
		func(end string) bool { return strings.HasSuffix(last, end) })
}

// isIdentifier reports whether the name is that of a public id.
func isIdentifier(upper string) bool {
	words := nameWords(upper)
	return len(words) > 0 && slices.Contains(identifierWords, words[len(words)-1])
}

// hasKnownSecret reports whether a detector finds a secret in the text.
func hasKnownSecret(text string) bool {
	d := prepared()
	found := d.suspects([]byte(text))
	return found != 0 && d.redact(text, found) != text
}

// passwords are the forms of passwords in URLs and in lists of settings, such as connection strings and JSON. A
// reference to a variable is none.
var passwords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`://[^\s/:@"'<>]*:[^\s/@"'<>$][^\s/@"'<>]*@` +
		`|(?i:(?:password|passwd|passphrase|pwd|secret|access_?key|api_?key|auth_?token|access_?token|sig|signature)` +
		`["']?\s*[=:]\s*["']?[^\s"'&;,$<{]{3})`)
})

// hasPassword reports whether the text has a password. Only a text with @ or = or : can have one.
func hasPassword(text string) bool {
	return strings.ContainsAny(text, "@=:") && passwords().MatchString(text)
}

// The shortest random texts that count: with letters of both cases and digits, and with letters of one case.
const (
	minMixed   = 20
	minOneCase = 32
)

// minChanges is the share of neighbours of different kinds (lower, upper, digit) in random texts. It is 0.62 on average
// for random letters and digits; names of several words have less.
const minChanges = 0.33

// minEntropy is the least entropy of random texts, in bits a character.
const minEntropy = 3.3

var (
	randomText  = regexp.MustCompile(`^[A-Za-z0-9+/_-]+={0,2}$`)
	uuid        = regexp.MustCompile(`[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}`)
	hexadecimal = regexp.MustCompile(`^(?:0x)?(?:[0-9a-f]+|[0-9A-F]+)$`)
)

// isRandom reports whether all of a text is random, and no hash, UUID or path.
func isRandom(text string) bool {
	text = strings.Trim(text, ` "'`)
	if len(text) < minMixed || len(text) > 4096 || !randomText.MatchString(text) || hexadecimal.MatchString(text) ||
		uuid.MatchString(text) || text[0] == '/' || hasWords(text) {
		return false
	}
	var kinds [4]int
	changes, before := 0, -1
	for _, c := range []byte(text) {
		kind := kindOf(c)
		kinds[kind]++
		if before >= 0 && kind != before {
			changes++
		}
		before = kind
	}
	mixed := kinds[0] > 0 && kinds[1] > 0 && kinds[2] > 0
	oneCase := len(text) >= minOneCase && kinds[2] > 0 && kinds[3] == 0
	return (mixed || oneCase) && float64(changes) >= minChanges*float64(len(text)-1) && entropy(text) >= minEntropy
}

// kindOf returns 0 for a lower letter, 1 for an upper one, 2 for a digit and 3 for others.
func kindOf(c byte) int {
	switch {
	case 'a' <= c && c <= 'z':
		return 0
	case 'A' <= c && c <= 'Z':
		return 1
	case '0' <= c && c <= '9':
		return 2
	}
	return 3
}

// hasWords reports whether the text has several parts, of which two are words in one case: a path, or a name with
// dashes.
func hasWords(text string) bool {
	words := 0
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("/-_+", r) }) {
		if len(part) >= 3 && (strings.ToLower(part) == part || strings.ToUpper(part) == part) &&
			!strings.ContainsAny(part, "0123456789") {
			words++
		}
	}
	return words >= 2
}

// entropy returns the bits of a character of the text, from the frequencies of its characters.
func entropy(text string) (bits float64) {
	var counts [256]int
	for _, c := range []byte(text) {
		counts[c]++
	}
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
