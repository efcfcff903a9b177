package rollout

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"

	"appserver/protocol"
)

// Redactor takes secrets out.
type Redactor interface {
	// Line is a line without them; it changes nothing of the one that it is given.
	Line(protocol.RolloutLine) protocol.RolloutLine
	Text(string) string
}

// Redacted is what Redact found, and did.
type Redacted struct {
	Path string `json:"path"`
	// Lines is how many lines of the rollout and its backup have secrets, damaged ones included.
	Lines int `json:"lines"`
	// Removed is the backup that was, or would be, removed; "" without one.
	Removed string `json:"removed"`
	// Copies are other files with the begin of the rollout's name that have secrets, such as
	// those that Repair keeps; Beside are those that could not be looked at.
	Copies []RedactedCopy `json:"copies"`
	Beside []string       `json:"beside"`
	// Names is how many names of the thread have secrets, of those that session_index.jsonl has.
	Names int `json:"names"`
}

// RedactedCopy is a file beside a rollout.
type RedactedCopy struct {
	Path  string `json:"path"`
	Lines int    `json:"lines"`
}

// Found tells whether there is anything to take out.
func (r Redacted) Found() bool { return r.Lines > 0 || len(r.Copies) > 0 || r.Names > 0 }

// Redact takes secrets out of a rollout, under the thread's lock, and keeps no copy. The
// lines stay what they are but for their texts, as do their numbers and, where there is
// room, their places. A rollout that has a backup is made whole, and the backup removed once
// that is durable. Then the files beside it, and the thread's names, are cleaned. Without write
// it only tells what it would do, and takes no lock. What has no secret is not changed.
//
// An error that comes before the new file took the other's place leaves both as they were. A
// crash behind that may leave the backup, which another call removes.
func (s *Store) Redact(path string, by Redactor, write bool) (Redacted, error) {
	id := threadID(path)
	if id == "" {
		return Redacted{}, &NameError{path}
	}
	if !write {
		done, err := s.redact(path, by, false)
		return done, diskError("redact", path, err)
	}
	lock, err := s.lock(id)
	if err != nil {
		return Redacted{}, err
	}
	done, err := s.redact(path, by, true)
	return done, diskError("redact", path, firstError(err, lock.release()))
}

func (s *Store) redact(path string, by Redactor, write bool) (Redacted, error) {
	file, _, err := s.open(path, os.O_RDONLY)
	if err != nil {
		return Redacted{}, err
	}
	defer func() { _ = file.Close() }()
	read, err := s.read(path, file)
	if err != nil {
		return Redacted{}, err
	}
	r := &redaction{
		rewrite: &rewrite{reading: read, tempFile: tempFile{s, path + temporarySuffix}, file: file, backupPath: s.backupPath(path)},
		by:      by, done: Redacted{Path: path, Copies: []RedactedCopy{}, Beside: []string{}},
	}
	if err := r.prepare(); err != nil {
		return Redacted{}, err
	}
	if write && r.done.Lines > 0 {
		err = r.apply()
	}
	if err == nil {
		err = r.cleanCopies(write)
	}
	if err == nil {
		r.done.Names, err = s.redactNames(threadID(path), by, write)
	}
	if write {
		s.removeSnapshotCache(threadID(path))
	}
	return r.done, err
}

// redaction is a redaction under way.
type redaction struct {
	*rewrite
	by    Redactor
	done  Redacted
	whole []byte
}

// prepare makes the new content, and makes sure that nothing is lost by it.
func (r *redaction) prepare() error {
	if r.Backup.Err != nil {
		return r.Backup.Err
	}
	if err := isNamed(r.store.disk, r.Path, r.file); err != nil {
		return err
	}
	if err := r.checkBackup(); err != nil {
		return err
	}
	var whole bytes.Buffer
	out := &paddedWriter{out: bufio.NewWriterSize(&whole, writeSize)}
	if err := firstError(r.fill(out), out.out.Flush()); err != nil {
		return err
	}
	r.whole = whole.Bytes()
	return r.compare()
}

// checkBackup makes sure that the backup, if there is one, has nothing that the rollout
// will not have.
func (r *redaction) checkBackup() error {
	file, info, err := r.store.open(r.backupPath, os.O_RDONLY)
	if isNotExist(err) {
		return nil
	}
	if err != nil {
		return backupError(r.backupPath, err)
	}
	defer func() { _ = file.Close() }()
	r.done.Removed = r.backupPath
	if !r.Backup.Joined {
		return r.checkLeftover(file, info.Size())
	}
	rest := make([]byte, info.Size()-int64(len(r.backup)))
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

// checkLeftover accepts an earlier state of a file that is whole, and one of before its
// secrets were taken out.
func (r *redaction) checkLeftover(file File, size int64) error {
	err := r.store.checkEarlier(r.backupPath, r.data)
	if err == nil {
		return nil
	}
	data, readErr := readAll(file, size)
	if readErr != nil {
		return backupError(r.backupPath, readErr)
	}
	earlier := &Contents{}
	earlier.parse(data, workersFor(len(data)))
	if len(earlier.Lines) > len(r.Lines) {
		return err
	}
	for i, line := range earlier.Lines {
		if !sameLine(r.by.Line(line), r.by.Line(r.Lines[i])) {
			return err
		}
	}
	r.done.Lines++ // for the backup, which goes whatever the file has
	return nil
}

// fill writes the full log without secrets.
func (r *redaction) fill(out *paddedWriter) error {
	settled, begin := r.Lines, int64(0)
	for _, part := range r.rewrite.fullLog() {
		for at, raw := range linesOf(part) {
			if len(raw) == 0 {
				continue
			}
			line, reason := parseLine(raw)
			if reason == "" {
				line.Ordinal, settled = settled[0].Ordinal, settled[1:]
			}
			clean, err := r.clean(raw, line, reason == "")
			if err == nil {
				err = firstError(out.padTo(begin+at), out.line(clean))
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
	return r.writeMarker(out, protocol.ContextBackup{})
}

// fillEnd makes the file no shorter than it was. A torn tail stays one.
func (r *redaction) fillEnd(out *paddedWriter) error {
	if !out.unterminated || r.data[len(r.data)-1] != '\n' {
		return nil
	}
	return out.padTo(r.Size)
}

// clean is a line without secrets, as it stood where it has none.
func (r *redaction) clean(raw []byte, line parsed, sound bool) ([]byte, error) {
	if !sound {
		if text := r.by.Text(string(raw)); text != string(raw) {
			r.done.Lines++
			return []byte(text), nil
		}
		return raw, nil
	}
	redacted := r.by.Line(line.RolloutLine)
	if bytes.Equal(redacted.Payload, line.Payload) {
		return raw, nil
	}
	r.done.Lines++
	return rewriteLine(raw, redacted)
}

// compare makes sure that the new file has the same lines, but for their texts.
func (r *redaction) compare() error {
	got := &Contents{}
	got.parse(r.whole, workersFor(len(r.whole)))
	want := len(r.Lines)
	if r.Backup.Joined {
		want++ // the line that says that the file is whole
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

// carryOut replaces the file, and then removes the backup.
func (r *redaction) apply() error {
	err := r.write(func(out *paddedWriter) error {
		_, err := out.Write(r.whole)
		return err
	})
	if err == nil {
		err = r.unchanged()
	}
	if err = r.publish(err, r.Path); err != nil || r.done.Removed == "" {
		return err
	}
	if err := r.store.disk.Remove(r.done.Removed); err != nil {
		return diskError("remove", r.done.Removed, err)
	}
	return r.store.disk.SyncDir(filepath.Dir(r.done.Removed))
}
