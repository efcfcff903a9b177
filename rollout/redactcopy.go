package rollout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/platform/disk"
	"appserver/protocol"
	"appserver/rollout/home"
	"appserver/rollout/line"
)

// cleanCopies redacts the files whose names begin with the rollout's name, line by line. It
// skips the backup, which is handled before. A temporary file with secrets is removed.
func (r *redaction) cleanCopies(write bool) error {
	entries, err := r.store.disk.ReadDir(filepath.Dir(r.Path))
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(filepath.Dir(r.Path), e.Name())
		if !strings.HasPrefix(path, r.Path+".") || path == r.done.Removed {
			continue
		}
		if err := r.cleanCopy(path, write); err != nil {
			return err
		}
	}
	return nil
}

func (r *redaction) cleanCopy(path string, write bool) error {
	data, err := r.store.readPlain(path)
	if err != nil {
		r.done.Beside = append(r.done.Beside, path)
		return nil
	}
	whole, lines := withoutSecrets(data, r.by)
	if lines == 0 {
		return nil
	}
	r.done.Copies = append(r.done.Copies, RedactedCopy{path, lines})
	switch {
	case !write:
		return nil
	case path == r.temp.Path:
		return disk.Wrap("remove", path, r.temp.Remove())
	}
	return disk.Wrap("redact", path, disk.Replace(r.store.disk, path, whole))
}

// readPlain reads a file that is not a symbolic link.
func (s *Store) readPlain(path string) ([]byte, error) {
	if info, err := s.disk.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return nil, cmp.Or[error](err, errMoved)
	}
	file, info, err := disk.Open(s.disk, path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	length, err := disk.Length(file, info)
	if err != nil {
		return nil, cmp.Or(err, file.Close())
	}
	data, err := disk.ReadAll(file, length)
	return data, cmp.Or(err, file.Close())
}

// withoutSecrets returns the redacted content of a file, sound or not, and the number of
// changed lines.
func withoutSecrets(data []byte, by Redactor) (whole []byte, lines int) {
	for raw := range bytes.Lines(data) {
		clean := cleanLine(raw, by)
		if !bytes.Equal(clean, raw) {
			lines++
		}
		whole = append(whole, clean...)
	}
	return whole, lines
}

func cleanLine(raw []byte, by Redactor) []byte {
	begin := len(raw) - len(bytes.TrimPrefix(raw, []byte(line.ByteOrderMark)))
	p, reason := line.Parse(bytes.Trim(raw[begin:], " \t\r\n"))
	if reason != "" {
		return cleanDamaged(raw, by)
	}
	redacted := by.Line(p.RolloutLine)
	if bytes.Equal(redacted.Payload, p.Payload) {
		return raw
	}
	clean := withMember(raw, begin, "payload", redacted.Payload)
	if again, reason := line.Parse(bytes.Trim(clean[begin:], " \t\r\n")); reason != "" ||
		!bytes.Equal(again.Payload, redacted.Payload) {
		return []byte(by.Text(string(raw))) // the member occurs twice
	}
	return clean
}

// cleanDamaged returns a damaged line without secrets. The records in it are redacted like lines.
func cleanDamaged(raw []byte, by Redactor) (whole []byte) {
	text, left := line.Trim(raw)
	end := 0
	for _, piece := range line.Pieces(text) {
		at := left + int(piece.Offset)
		whole = append(whole, raw[end:at]...)
		if end = at + len(piece.Text); piece.Sound {
			whole = append(whole, cleanLine(piece.Text, by)...)
		} else {
			whole = append(whole, by.Text(string(piece.Text))...)
		}
	}
	return append(whole, raw[end:]...)
}

// withMember returns raw with another value of a member. The JSON begins at offset begin.
func withMember(raw []byte, begin int, name string, value []byte) []byte {
	old := gjson.GetBytes(raw[begin:], name)
	at := begin + old.Index
	return bytes.Join([][]byte{raw[:at], value, raw[at+len(old.Raw):]}, nil)
}

// redactNames redacts the present and former names of a thread. It returns the number of
// changed lines.
func (s *Store) redactNames(id string, by Redactor, write bool) (names int, err error) {
	path := s.Path(home.NamesFile)
	if _, err := s.disk.Lstat(path); disk.IsNotExist(err) {
		return 0, nil
	}
	if write {
		lock, err := s.LineFile(home.NamesFile).Lock(disk.Exclusive)
		if err != nil {
			return 0, err
		}
		defer func() { _ = lock.Close() }()
	}
	data, err := s.readPlain(path)
	if err != nil {
		return 0, disk.Wrap("redact", path, err)
	}
	var whole []byte
	for raw := range bytes.Lines(data) {
		clean := cleanName(raw, id, by)
		if !bytes.Equal(clean, raw) {
			names++
		}
		whole = append(whole, clean...)
	}
	if write && names > 0 {
		err = disk.Replace(s.disk, path, whole)
	}
	return names, disk.Wrap("redact", path, err)
}

// cleanName redacts a line of the thread. Other lines are returned unchanged.
func cleanName(raw []byte, id string, by Redactor) []byte {
	begin := len(raw) - len(bytes.TrimPrefix(raw, []byte(line.ByteOrderMark)))
	var named, again home.NamedThread
	if json.Unmarshal(raw[begin:], &named) != nil || named.ID != id {
		return raw
	}
	clean := by.Text(named.Name)
	if clean == named.Name {
		return raw
	}
	value, _ := protocol.Marshal(clean) // a string always encodes
	text := withMember(raw, begin, "thread_name", value)
	if json.Unmarshal(text[begin:], &again) == nil && again.Name == clean {
		return text
	}
	named.Name = clean
	text, _ = protocol.Marshal(named) // the member occurs twice, or in another case
	return append(text, '\n')
}
