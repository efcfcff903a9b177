package rollout

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"appserver/platform/disk"
	"appserver/protocol"
	"appserver/rollout/home"
	"appserver/rollout/line"
	"appserver/rollout/zst"
)

// Contents holds the lines of a rollout. Strings and payloads alias the content of the file or
// of its backup. They must not be modified, and each of them keeps the whole content in
// memory.
type Contents struct {
	Path string
	// ThreadID is the id in the file name, or "".
	ThreadID string
	// Began is the time in the file name, or the zero time.
	Began time.Time
	// Lines have ordinals. They are empty after Load.
	Lines []protocol.RolloutLine
	// Damage lists the damage of the backup, and then that of the file.
	Damage []line.Damage
	// Torn is set if the file ends with a torn tail.
	Torn bool
	// Next is the ordinal of the next line to append. No line has it. A torn tail counts as a
	// line.
	Next int64
	// Size is the size of the file, in bytes.
	Size    int64
	ModTime time.Time
	// Backup reports the use of the backup.
	Backup Backup
	// Restored is set if the file was empty and was restored from its backup.
	Restored bool
	Summary
	// ordinals assigns the ordinals of the lines.
	ordinals line.Ordinals
}

// Summary holds facts that do not depend on the meaning of the lines.
type Summary struct {
	// Meta is the payload of the first session_meta line, or nil.
	Meta json.RawMessage
	// Disordered is the number of lines whose ordinal is not greater than that of the line
	// before.
	Disordered int
	// Last is the ordinal of the last line, or -1.
	Last int64
}

func (s *Summary) add(line *protocol.RolloutLine) {
	if s.Meta == nil && line.Type == protocol.LineSessionMeta {
		s.Meta = line.Payload
	}
	if *line.Ordinal <= s.Last {
		s.Disordered++
	}
	s.Last = *line.Ordinal
}

// Read reads a rollout without its lock. If another process appends to the file, Read returns
// the lines up to the size at its start. A fork of the reference implementation includes its
// inherited lines.
func (s *Store) Read(path string) (*Contents, error) {
	path = zst.Plain(path)
	file, info, err := disk.Open(s.disk, path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	reader := &LineReader{disk: s.disk}
	reader.addFile(file, path, true)
	defer func() { _ = reader.Close() }()
	length, err := disk.Length(file, info)
	if err != nil {
		return nil, err
	}
	if length > disk.MaxSize {
		return nil, disk.Wrap("read", path, disk.ErrTooLarge)
	}
	lines := LineList{}
	l, err := s.load(path, reader, &lines)
	if err != nil {
		return nil, err
	}
	l.Lines = lines
	return l.Contents, nil
}

// LineList is a Loader that keeps all lines in memory.
type LineList []protocol.RolloutLine

// Begin starts with an empty list.
func (l *LineList) Begin(*LineReader) LineHandler {
	*l = (*l)[:0]
	return func(line *protocol.RolloutLine) { *l = append(*l, *line) }
}

// Continue returns false, because there are no snapshots.
func (*LineList) Continue(*LineReader, []byte) (LineHandler, bool) { return nil, false }

// Snapshot returns an error.
func (*LineList) Snapshot(io.Writer) error { return errNoSnapshot }

var errNoSnapshot = errors.New("nothing is kept of it")

// read reads an open rollout and its backup.
func (s *Store) read(path string, file disk.File) (*reading, error) {
	c, err := contentsOf(path, file)
	if err != nil {
		return nil, disk.Wrap("read", path, err)
	}
	data, err := disk.ReadAll(file, c.Size)
	if err != nil {
		return nil, disk.Wrap("read", path, err)
	}
	c.Size = int64(len(data))
	r := &reading{Contents: c, data: data, blocks: line.ParseFile(data), problem: disk.Problem(file)}
	r.marker = line.LastMarker(r.blocks)
	r.Backup = s.joinBackup(r)
	r.addBlocks(r.blocks)
	return r, nil
}

// contentsOf returns the data in the name and the directory entry of an open file.
func contentsOf(path string, file disk.File) (*Contents, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	length, err := disk.Length(file, info)
	if err != nil {
		return nil, err
	}
	c := &Contents{
		Path:     path,
		ThreadID: home.ThreadID(path),
		Size:     length,
		ModTime:  info.ModTime(),
		Summary:  Summary{Last: -1},
	}
	c.Began, _ = home.TimeOf(path) // the zero time if the name has none
	return c, nil
}

// addBlocks sets c from consecutive blocks.
func (c *Contents) addBlocks(blocks []line.Block) {
	total := 0
	for _, b := range blocks {
		total += len(b.Lines)
	}
	c.Lines = make([]protocol.RolloutLine, 0, total)
	ordinals := make([]int64, total)
	for _, b := range blocks {
		for _, p := range b.Lines {
			ordinal := &ordinals[len(c.Lines)]
			*ordinal = c.ordinals.Assign(&p)
			p.Ordinal = ordinal
			c.Lines = append(c.Lines, p.RolloutLine)
		}
		c.addDamage(&b)
	}
	c.finish()
}

// addDamage adds the damage of a block.
func (c *Contents) addDamage(b *line.Block) {
	c.ordinals.Skip(b.DamagedAfter)
	c.Damage = append(c.Damage, b.Damage...)
	c.Torn = c.Torn || b.Torn
}

// finish sets the ordinal of the next line to append.
func (c *Contents) finish() { c.Next = c.ordinals.End(c.Torn) }
