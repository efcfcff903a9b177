package memory

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"appserver/platform/excerpt"
	"appserver/protocol"
)

// The kinds of rows.
const (
	// Summary is the kind of rows about items that left a context.
	Summary = "summary"
	// Code is a piece of a file of the repository.
	Code = "code"
)

const (
	// maxTitle and maxText are the maximum sizes of the texts of a row, in bytes. The rest is cut
	// off.
	maxTitle = 1 << 10
	maxText  = 32 << 10
	// maxLine is the maximum size of a line, in bytes. Longer lines are skipped.
	maxLine = 1 << 20
	// maxMsgIDs bounds the ids of a row.
	maxMsgIDs = 10_000
)

// Row is one memory. As JSON it is a line of the file.
type Row struct {
	// RepoKey names the repository: an absolute path.
	RepoKey string `json:"repo_key"`
	// SessionID is the id of the thread, or "" for code.
	SessionID string `json:"session_id"`
	// TS is the time, in Unix milliseconds.
	TS   int64  `json:"ts"`
	Kind string `json:"kind"`
	// Title is one line. For code it has the path, the lines and the declaration.
	Title string `json:"title"`
	Text  string `json:"text"`
	// MsgIDs are the ids of the items that a summary covers.
	MsgIDs []string `json:"msg_ids"`
}

// idBytes is the size of an id, as a part of a hash.
const idBytes = 12

// ID returns equal ids for equal rows, wherever and whenever they are read. The time at which code
// was read does not count.
func (r Row) ID() string {
	r.MsgIDs = nonNil(r.MsgIDs)
	if r.Kind == Code {
		r.TS = 0
	}
	line, _ := protocol.Marshal(r) // texts and a number: it cannot fail
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:idBytes])
}

// contentHash identifies the text that is embedded.
func (r Row) contentHash() []byte {
	sum := sha256.Sum256([]byte(r.embedded()))
	return sum[:]
}

// linesOf are the lines of a piece of code, in its title.
var linesOf = regexp.MustCompile(`:\d+-\d+`)

// embedded returns the text of the vector. It leaves out the line numbers of code, because they change
// with every edit above.
func (r Row) embedded() string {
	if r.Kind == Code {
		return linesOf.ReplaceAllString(r.Title, "") + "\n" + r.Text
	}
	return r.Title + "\n" + r.Text
}

// clean returns the row to store: valid text without NUL, within the limits, and without the
// secrets that redact removes.
func (r Row) clean(redact func(string) string) Row {
	kept := func(text string, limit int) string {
		text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", " ")
		if redact != nil { // before it is cut: half a secret is not known as one
			text = redact(text)
		}
		return excerpt.Prefix(text, limit)
	}
	r.RepoKey, r.SessionID = strings.ToValidUTF8(r.RepoKey, "\uFFFD"), strings.ToValidUTF8(r.SessionID, "\uFFFD")
	r.Title = strings.Join(strings.Fields(kept(r.Title, maxTitle)), " ")
	r.Text = kept(r.Text, maxText)
	ids := make([]string, 0, min(len(r.MsgIDs), maxMsgIDs))
	for _, id := range r.MsgIDs[:min(len(r.MsgIDs), maxMsgIDs)] {
		ids = append(ids, excerpt.Prefix(strings.ToValidUTF8(id, "\uFFFD"), maxTitle))
	}
	r.MsgIDs = ids
	return r
}

func nonNil(ids []string) []string {
	if ids == nil {
		return []string{}
	}
	return ids
}

// forgotten is a line that deletes earlier rows.
type forgotten struct {
	Forget []string `json:"forget"`
}

// line is a line of the file: a row, or the ids of deleted rows.
type line struct {
	row    Row
	forget []string
}

// parseLine parses a line. ok is false if it is neither.
func parseLine(raw []byte) (l line, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || len(raw) > maxLine {
		return line{}, false
	}
	var stored struct {
		Row
		forgotten
	}
	if protocol.Unmarshal(raw, &stored) != nil {
		return line{}, false
	}
	if stored.Forget != nil {
		return line{forget: stored.Forget}, true
	}
	row := stored.Row.clean(nil)
	return line{row: row}, row.Kind != "" && row.Text != "" && row.RepoKey != ""
}

// format encodes rows as lines.
func format(rows []Row) ([]byte, error) {
	var out []byte
	for _, r := range rows {
		raw, err := protocol.Marshal(r)
		if err != nil {
			return nil, err
		}
		out = append(append(out, raw...), '\n')
	}
	return out, nil
}
