package rollout

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"path/filepath"

	"appserver/platform/disk"
	"appserver/protocol"
	"appserver/rollout/home"
	"appserver/rollout/line"
	"appserver/rollout/zst"
)

// Redactor removes secrets.
type Redactor interface {
	// Line returns the line without secrets. It does not modify its argument.
	Line(protocol.RolloutLine) protocol.RolloutLine
	Text(string) string
}

// Redacted is the result of Redact.
type Redacted struct {
	Path string `json:"path"`
	// Lines is the number of lines with secrets in the rollout and its backup, including
	// damaged lines.
	Lines int `json:"lines"`
	// Removed is the path of the backup that is removed, or "".
	Removed string `json:"removed"`
	// Copies lists files with secrets whose names begin with the rollout's name, such as those
	// that Repair keeps. Beside lists such files that could not be read.
	Copies []RedactedCopy `json:"copies"`
	Beside []string       `json:"beside"`
	// Names is the number of lines with secrets in session_index.jsonl for this thread.
	Names int `json:"names"`
}

// RedactedCopy is a file beside a rollout.
type RedactedCopy struct {
	Path  string `json:"path"`
	Lines int    `json:"lines"`
}

// Found reports whether a secret was found.
func (r Redacted) Found() bool { return r.Lines > 0 || len(r.Copies) > 0 || r.Names > 0 }

// Redact removes secrets from a rollout and keeps no copy. Lines keep their order, ordinals
// and members, and their offsets if there is room. A rollout with a backup is replaced by the
// full log, and the backup is removed after that is durable. Then files beside the rollout,
// and the names of the thread, are redacted.
//
// With write it holds the writer lock. Without write it changes nothing and reports what it
// would do.
//
// An error before the new file is in place leaves both files unchanged. A crash after that may
// leave the backup; another call removes it.
func (s *Store) Redact(path string, by Redactor, write bool) (Redacted, error) {
	path = zst.Plain(path)
	id := home.ThreadID(path)
	if id == "" {
		return Redacted{}, &home.NameError{Name: path}
	}
	if !write {
		done, err := s.redact(path, by, false)
		return done, disk.Wrap("redact", path, err)
	}
	lock, err := s.Lock(id)
	if err != nil {
		return Redacted{}, err
	}
	done, err := s.redact(path, by, true)
	return done, disk.Wrap("redact", path, cmp.Or(err, lock.Release()))
}

func (s *Store) redact(path string, by Redactor, write bool) (Redacted, error) {
	file, _, err := disk.Open(s.disk, path, os.O_RDONLY)
	if err != nil {
		return Redacted{}, err
	}
	defer func() { _ = file.Close() }()
	read, err := s.read(path, file)
	if err != nil {
		return Redacted{}, err
	}
	r := &redaction{
		reading:    read,
		store:      s,
		temp:       disk.NewTempFile(s.disk, path),
		file:       file,
		backupPath: s.BackupPath(path),
		by:         by,
		done:       Redacted{Path: path, Copies: []RedactedCopy{}, Beside: []string{}},
	}
	if err := r.prepare(); err != nil {
		return Redacted{}, err
	}
	if write && r.done.Lines > 0 {
		err = r.apply()
	}
	if write && err == nil {
		err = s.disk.RemoveHidden(path)
	}
	if err == nil {
		err = r.cleanCopies(write)
	}
	if err == nil {
		r.done.Names, err = s.redactNames(home.ThreadID(path), by, write)
	}
	if write {
		s.RemoveSnapshotCache(home.ThreadID(path))
	}
	return r.done, err
}

// redaction is the state of a Redact call.
type redaction struct {
	*reading
	store *Store
	temp  disk.TempFile
	file  disk.File
	// backupPath is where the backup is, if there is one.
	backupPath string

	by    Redactor
	done  Redacted
	whole []byte
}

// prepare builds the new content and verifies that no line is lost.
func (r *redaction) prepare() error {
	if err := cmp.Or(r.Backup.Err, r.problem); err != nil {
		return err
	}
	if err := isNamed(r.store.disk, r.Path, r.file); err != nil {
		return err
	}
	if err := r.checkBackup(); err != nil {
		return err
	}
	var whole bytes.Buffer
	if err := r.fill(line.NewPaddedWriter(&whole)); err != nil {
		return err
	}
	r.whole = whole.Bytes()
	return r.compare()
}

// checkBackup returns an error if the backup has lines that the new rollout would not have.
func (r *redaction) checkBackup() error {
	file, info, err := disk.Open(r.store.disk, r.backupPath, os.O_RDONLY)
	if disk.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return backupError(r.backupPath, err)
	}
	defer func() { _ = file.Close() }()
	length, err := disk.Length(file, info)
	if err != nil {
		return backupError(r.backupPath, err)
	}
	r.done.Removed = r.backupPath
	if !r.Backup.Joined {
		return r.checkLeftover(file, length)
	}
	rest := make([]byte, length-int64(len(r.backup)))
	if len(rest) == 0 {
		return nil
	}
	if _, err := file.ReadAt(rest, int64(len(r.backup))); err != nil {
		return err
	}
	if !bytes.HasPrefix(bytes.Join([][]byte{r.padding, r.tail}, nil), bytes.TrimRight(rest, "\x00")) {
		return &BackupError{Path: r.backupPath, Reason: backupAhead}
	}
	return nil
}

// checkLeftover accepts a backup that is an earlier state of the rollout, with or without its
// secrets.
func (r *redaction) checkLeftover(file disk.File, size int64) error {
	err := r.store.checkEarlier(r.backupPath, bytes.NewReader(r.data), r.Size)
	if err == nil {
		return nil
	}
	data, readErr := disk.ReadAll(file, size)
	if readErr != nil {
		return backupError(r.backupPath, readErr)
	}
	earlier := &Contents{}
	earlier.addBlocks(line.ParseFile(data))
	if len(earlier.Lines) > len(r.Lines) {
		return err
	}
	for i, l := range earlier.Lines {
		if !sameLine(r.by.Line(l), r.by.Line(r.Lines[i])) {
			return err
		}
	}
	r.done.Lines++ // counts the backup, which is removed in any case
	return nil
}

// fill writes the full log without secrets.
func (r *redaction) fill(out *line.PaddedWriter) error {
	settled, begin := r.Lines, int64(0)
	for _, part := range r.fullLog() {
		for at, raw := range line.Lines(part) {
			if len(raw) == 0 {
				continue
			}
			clean, err := r.cleanLine(raw, &settled)
			if err == nil {
				err = cmp.Or(out.PadTo(begin+at), out.Line(clean))
			}
			if err != nil {
				return err
			}
		}
		begin += int64(len(part))
	}
	if !r.Backup.Joined {
		return r.fillEnd(out)
	}
	last := ""
	if n := len(r.Lines); n > 0 {
		last = r.Lines[n-1].Timestamp
	}
	return writeMarker(out, r.Contents, last, protocol.ContextBackup{})
}

// fillEnd pads the file to its former size. A torn tail stays torn.
func (r *redaction) fillEnd(out *line.PaddedWriter) error {
	if !out.IsUnterminated() || r.data[len(r.data)-1] != '\n' {
		return nil
	}
	return out.PadTo(r.Size)
}

// cleanLine returns a line without secrets, of which parts may be damaged. It takes the ordinals of its records.
func (r *redaction) cleanLine(raw []byte, settled *[]protocol.RolloutLine) ([]byte, error) {
	var whole []byte
	end := 0
	for _, piece := range line.Pieces(raw) {
		if piece.Sound {
			piece.Ordinal, *settled = (*settled)[0].Ordinal, (*settled)[1:]
		}
		clean, err := r.clean(piece.Text, piece.Parsed, piece.Sound)
		if err != nil {
			return nil, err
		}
		whole = append(append(whole, raw[end:piece.Offset]...), clean...)
		end = int(piece.Offset) + len(piece.Text)
	}
	return append(whole, raw[end:]...), nil
}

// clean returns a line without secrets. A line without a secret is returned unchanged.
func (r *redaction) clean(raw []byte, p line.Parsed, sound bool) ([]byte, error) {
	if !sound {
		if text := r.by.Text(string(raw)); text != string(raw) {
			r.done.Lines++
			return []byte(text), nil
		}
		return raw, nil
	}
	redacted := r.by.Line(p.RolloutLine)
	if bytes.Equal(redacted.Payload, p.Payload) {
		return raw, nil
	}
	r.done.Lines++
	return line.Rewrite(raw, redacted)
}

// compare verifies that the new content has the same lines, except for their texts.
func (r *redaction) compare() error {
	got := &Contents{}
	got.addBlocks(line.ParseFile(r.whole))
	want := len(r.Lines)
	if r.Backup.Joined {
		want++ // the marker of a complete file
	}
	if len(got.Lines) != want || got.Torn != r.Torn || len(got.Damage) != len(r.Damage) {
		return errUnlike
	}
	for i := range r.Lines {
		if *got.Lines[i].Ordinal != *r.Lines[i].Ordinal || got.Lines[i].Type != r.Lines[i].Type {
			return errUnlike
		}
	}
	return nil
}

// apply replaces the file and then removes the backup.
func (r *redaction) apply() error {
	err := r.temp.Write(func(out io.Writer) error {
		_, err := out.Write(r.whole)
		return err
	})
	if err == nil {
		err = unchanged(r.file, r.Size)
	}
	if err = r.temp.Publish(err, r.Path); err != nil || r.done.Removed == "" {
		return err
	}
	if err := r.store.disk.Remove(r.done.Removed); err != nil {
		return disk.Wrap("remove", r.done.Removed, err)
	}
	return r.store.disk.SyncDir(filepath.Dir(r.done.Removed))
}
