package rollout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"appserver/platform/disk"
	"appserver/platform/osfile"
	"appserver/protocol"
	"appserver/rollout/home"
	"appserver/rollout/line"
	"appserver/rollout/zst"
)

const (
	originalSuffix = ".orig"
	lostSuffix     = ".lost"
)

// Repaired is the result of Repair.
type Repaired struct {
	Report
	// To is the path of the repaired rollout. It differs from Path if the name had no id.
	To string `json:"to"`
	// Kept is the path of the original file, and Lost that of the lines that could not be
	// read. Both may be "".
	Kept string `json:"kept"`
	Lost string `json:"lost"`
}

// Repair replaces a damaged rollout by a sound one, under the writer lock. The original file
// and the unreadable bytes are kept in files beside it. No existing file is overwritten.
//
// The new file loads as the original does: same lines, same ordinals, and each at its offset
// or after it. If nothing is repairable, nothing is changed and Kept is "". An error before
// the new file is in place leaves the original unchanged.
func (s *Store) Repair(path string) (Repaired, error) {
	path = zst.Plain(path)
	v := s.Verify(path)
	if !v.Repairable() {
		return Repaired{Report: v, To: path}, nil
	}
	if !home.IsThreadID(v.ThreadID) {
		return Repaired{}, &home.NameError{Name: path}
	}
	lock, err := s.Lock(v.ThreadID)
	if err != nil {
		return Repaired{}, err
	}
	done, err := s.repairLocked(path)
	return done, disk.Wrap("repair", path, cmp.Or(err, lock.Release()))
}

func (s *Store) repairLocked(path string) (Repaired, error) {
	file, _, err := disk.Open(s.disk, path, osfile.ToSync)
	if err != nil {
		return Repaired{}, err
	}
	defer func() { _ = file.Close() }()
	v, err := s.verify(path, file)
	if err != nil {
		return Repaired{}, err
	}
	done := Repaired{Report: v.Report, To: path}
	r := &repair{verification: v, store: s, temp: disk.NewTempFile(s.disk, path), file: file}
	err = r.run(&done)
	s.RemoveSnapshotCache(v.Report.ThreadID) // offsets of lines may have changed
	if err != nil {
		return Repaired{}, err
	}
	return done, nil
}

// repair is the state of a Repair call.
type repair struct {
	*verification
	store *Store
	temp  disk.TempFile
	file  disk.File
	// whole is the new content, and lost holds the unreadable bytes.
	whole, lost []byte
}

func (r *repair) run(done *Repaired) error {
	to, err := r.targetPath()
	if err == nil {
		err = isNamed(r.store.disk, done.Path, r.file)
	}
	if err == nil {
		err = r.rebuild()
	}
	if err == nil {
		err = r.keepOriginal(done)
	}
	if err != nil {
		return err
	}
	done.To = to
	return r.replace(done.Path, to)
}

// isNamed returns an error unless path leads to the open file without a symbolic link.
func isNamed(files disk.FS, path string, file disk.File) error {
	named, err := files.Lstat(path)
	if err != nil {
		return err
	}
	opened, err := file.Stat()
	if err == nil && !files.SameFile(named, opened) {
		err = errMoved
	}
	return err
}

// targetPath returns the path of the repaired file. It is a new one if the name has no id. The
// new path must be free, and the old name must have no backup, which would be orphaned.
func (r *repair) targetPath() (string, error) {
	path := r.Report.Path
	if r.reading.ThreadID != "" {
		return path, nil
	}
	at := r.ModTime
	for _, line := range r.alone.Lines {
		if told, err := time.Parse(time.RFC3339Nano, line.Timestamp); err == nil {
			at = told
			break
		}
	}
	to := filepath.Join(filepath.Dir(path), home.FileName(r.Report.ThreadID, at))
	for _, taken := range []string{to, path + home.BackupSuffix} {
		if _, err := r.store.disk.Lstat(taken); !disk.IsNotExist(err) {
			return "", disk.Wrap("rename "+path+" because of", taken, cmp.Or(err, fs.ErrExist))
		}
	}
	return to, nil
}

// rebuild builds the new content and verifies that it loads as the original does.
func (r *repair) rebuild() error {
	var whole bytes.Buffer
	if err := r.fill(line.NewPaddedWriter(&whole)); err != nil {
		return err
	}
	r.whole = whole.Bytes()
	return r.compare()
}

// fill writes the sound lines. A line gets an explicit ordinal if the lost lines would change
// it.
func (r *repair) fill(out *line.PaddedWriter) error {
	would := &line.Ordinals{}
	if err := r.addMeta(out, would); err != nil {
		return err
	}
	settled := r.alone.Lines
	for at, raw := range line.Lines(r.data) {
		if len(raw) == 0 {
			continue
		}
		for _, piece := range line.Pieces(raw) {
			if !piece.Sound {
				r.lost = append(append(r.lost, piece.Text...), '\n')
				continue
			}
			text, err := restated(would, piece.Text, piece.Parsed, settled[0].Ordinal)
			if err != nil {
				return err
			}
			settled = settled[1:]
			if err := out.PadTo(at + piece.Offset); err != nil {
				return err
			}
			if err := out.Line(text); err != nil {
				return err
			}
		}
	}
	return r.addEnd(out, would.End(false))
}

// restated returns a line that has the given ordinal after the lines before it.
func restated(would *line.Ordinals, raw []byte, p line.Parsed, ordinal *int64) ([]byte, error) {
	p.DamagedBefore = 0
	got := would.Assign(&p)
	would.Next, would.Above = *ordinal+1, max(would.Above, *ordinal+1)
	if got == *ordinal {
		return raw, nil
	}
	p.Ordinal = ordinal
	return line.Rewrite(raw, p.RolloutLine)
}

// addMeta writes a reconstructed session_meta.
func (r *repair) addMeta(out *line.PaddedWriter, would *line.Ordinals) error {
	if r.meta == nil {
		return nil
	}
	payload, err := json.Marshal(r.meta)
	if err != nil {
		return err
	}
	zero := int64(0)
	would.Next = 1
	return r.write(
		out,
		protocol.RolloutLine{
			Timestamp: r.meta.Timestamp,
			Ordinal:   &zero,
			Type:      protocol.LineSessionMeta,
			Payload:   payload,
		},
	)
}

// addEnd writes a "repaired" line if the last ordinals were lost, so that they are not
// assigned again. It pads the file to its former size.
func (r *repair) addEnd(out *line.PaddedWriter, next int64) error {
	if next < r.alone.Next {
		last := r.alone.Next - 1
		end := protocol.RolloutLine{
			Ordinal: &last,
			Type:    protocol.LineRepaired,
			Payload: []byte(`{"lost_bytes":` + strconv.Itoa(len(r.lost)) + `}`),
		}
		if n := len(r.alone.Lines); n > 0 {
			end.Timestamp = r.alone.Lines[n-1].Timestamp
		}
		if err := cmp.Or(out.PadTo(0), r.write(out, end)); err != nil {
			return err
		}
	}
	return out.PadTo(r.Report.Size)
}

func (r *repair) write(out *line.PaddedWriter, l protocol.RolloutLine) error {
	encoded, err := line.Encode([]protocol.RolloutLine{l})
	if err != nil {
		return err
	}
	return out.Line(bytes.TrimSuffix(encoded, []byte{'\n'}))
}

// reconstructMeta returns a session_meta from the file name and the turns.
func (v *verification) reconstructMeta() protocol.SessionMeta {
	at := v.Began
	if at.IsZero() {
		at = v.ModTime
	}
	meta := protocol.SessionMeta{
		ID:         v.Report.ThreadID,
		Timestamp:  at.UTC().Format("2006-01-02T15:04:05.000Z"),
		Originator: "appserver",
		CliVersion: protocol.Level,
	}
	for i := range v.alone.Lines {
		var context protocol.TurnContext
		if line := v.alone.Lines[i]; line.Type == protocol.LineTurnContext &&
			protocol.Unmarshal(line.Payload, &context) == nil {
			meta.Cwd, meta.ModelProvider = context.Cwd, context.ModelProvider
			break
		}
	}
	return meta
}

// compare loads the new content with the backup and compares the result with the original.
func (r *repair) compare() error {
	got := &reading{
		Contents: &Contents{Path: r.Report.Path, ThreadID: r.reading.ThreadID},
		data:     r.whole,
		blocks:   line.ParseFile(r.whole),
	}
	got.marker = line.LastMarker(got.blocks)
	got.Backup = r.store.joinBackup(got)
	got.addBlocks(got.blocks)
	lines := got.Lines
	if r.meta != nil && !got.Backup.Joined && len(lines) > 0 {
		lines = lines[1:]
	}
	if n := len(lines) - 1; n == len(r.reading.Lines) && lines[n].Type == protocol.LineRepaired {
		lines = lines[:n]
	}
	same := got.Backup.Joined == r.Backup.Joined && got.Next == r.Next && !got.Torn &&
		slices.EqualFunc(lines, r.reading.Lines, sameLine)
	if !same {
		return errUnlike
	}
	return nil
}

func sameLine(a, b protocol.RolloutLine) bool {
	return *a.Ordinal == *b.Ordinal && a.Type == b.Type && a.Timestamp == b.Timestamp &&
		bytes.Equal(a.Payload, b.Payload)
}

// keepOriginal keeps the original file under another name, and the lost bytes in a file. Both
// are durable.
func (r *repair) keepOriginal(done *Repaired) error {
	if err := r.file.Sync(); err != nil {
		return err
	}
	if len(r.lost) > 0 {
		done.Lost = r.freeName(lostSuffix)
		if err := r.writeNew(done.Lost, r.lost); err != nil {
			return err
		}
	}
	done.Kept = r.freeName(originalSuffix)
	if err := r.store.disk.Link(done.Path, done.Kept); err != nil && r.problem != nil {
		return err // only the file itself has all of its bytes
	} else if err != nil {
		if err := r.writeNew(done.Kept, r.data); err != nil {
			return err
		}
	}
	done.Kept = r.store.disk.Stored(done.Kept)
	return r.store.disk.SyncDir(filepath.Dir(done.Path))
}

// freeName returns an unused name beside the rollout.
func (r *repair) freeName(suffix string) string {
	path := r.Report.Path + suffix
	for n := 1; ; n++ {
		if _, err := r.store.disk.Lstat(path); disk.IsNotExist(err) || n == 10_000 {
			return path
		}
		path = r.Report.Path + suffix + "." + strconv.Itoa(n)
	}
}

// writeNew creates a file with durable content. The caller syncs the folder.
func (r *repair) writeNew(path string, content []byte) error {
	file, err := disk.Create(r.store.disk, path)
	if err != nil {
		return err
	}
	tail := &disk.Appender{File: file}
	err = cmp.Or(tail.Append(content, file.Sync), file.Close())
	if err != nil {
		_ = r.store.disk.Remove(path) // the content is incomplete
	}
	return err
}

// replace replaces the original by the new file.
func (r *repair) replace(path, to string) error {
	err := r.temp.Write(func(out io.Writer) error {
		_, err := out.Write(r.whole)
		return err
	})
	if err == nil {
		err = unchanged(r.file, r.Report.Size)
	}
	err = r.temp.Publish(err, to)
	if err == nil && to != path {
		err = cmp.Or(r.store.disk.Remove(path), r.store.disk.SyncDir(filepath.Dir(path)))
	}
	return err
}
