package memory

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"os"

	"appserver/platform/database"
	"appserver/platform/disk"
)

const (
	// tailSize is the size of the last part of the read text that is compared again, in bytes.
	tailSize = 4 << 10
	// batchRows is the number of lines in one transaction.
	batchRows = 1000
)

// syncLocked reads the new lines of the file into the database. If the file was replaced, all lines
// are new.
func (s *Store) syncLocked() error {
	info, err := s.lines.Stat()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && s.seen != nil && os.SameFile(info, s.seen) && info.Size() == s.seen.Size() &&
		info.ModTime().Equal(s.seen.ModTime()) {
		return nil
	}
	lock, err := s.lines.Lock(disk.Shared) // a rewrite must not come between reading and writing
	if err != nil {
		return err
	}
	removed, err := s.importLines()
	_ = lock.Close()
	if err == nil && removed { // somebody was kept from rewriting it; so may we be, and the next
		_ = s.rewrite(func(Row, string) bool { return false }, nil)
	}
	return err
}

// importLines reports whether some lines belong to deleted rows that are still in the file.
func (s *Store) importLines() (removed bool, err error) {
	file, info, err := s.lines.Open()
	if errors.Is(err, fs.ErrNotExist) {
		_, err := s.begin(nil, -1)
		return false, err
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }()
	from, err := s.begin(file, info.Size())
	if err != nil {
		return false, err
	}
	r := &lineReader{in: bufio.NewReaderSize(io.NewSectionReader(file, from, info.Size()-from), 64<<10), offset: from}
	for !r.ended {
		batch, err := r.next(batchRows)
		if err != nil {
			return false, err
		}
		removed = removed || batch.removed
		if err := s.take(file, batch); err != nil {
			return false, err
		}
	}
	if r.offset > from {
		s.embeds.want()
	}
	s.seen = info
	return removed, nil
}

// begin returns the offset at which reading continues. It is 0 unless the file still has the same text
// before the offset.
func (s *Store) begin(file io.ReaderAt, size int64) (offset int64, err error) {
	err = database.InTransaction(s.db.Write, func(tx *sql.Tx) error {
		var tail []byte
		if err := tx.QueryRow("SELECT offset, tail FROM source").Scan(&offset, &tail); err != nil || offset == 0 {
			return err
		}
		if offset <= size {
			sum, err := tailSum(file, offset)
			if err != nil || bytes.Equal(sum, tail) {
				return err
			}
		}
		offset = 0
		return restart(tx)
	})
	return offset, err
}

// restart deletes all rows that came from lines.
func restart(tx *sql.Tx) error {
	if err := removeWhere(tx, "file IS NULL"); err != nil {
		return err
	}
	_, err := tx.Exec("UPDATE source SET offset = 0, tail = x'', damaged = 0")
	return err
}

// tailSum returns the checksum of the text before an offset.
func tailSum(file io.ReaderAt, offset int64) ([]byte, error) {
	tail := make([]byte, min(offset, tailSize))
	if _, err := file.ReadAt(tail, offset-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	sum := sha256.Sum256(tail)
	return sum[:], nil
}

// take stores a batch, unless another process was faster. If that process stored a part of it, take
// skips the rows that exist already.
func (s *Store) take(file io.ReaderAt, b batch) error {
	tail, err := tailSum(file, b.to)
	if err != nil {
		return err
	}
	return database.InTransaction(s.db.Write, func(tx *sql.Tx) error {
		var at int64
		if err := tx.QueryRow("SELECT offset FROM source").Scan(&at); err != nil || at >= b.to {
			return err
		}
		stems := map[string]bool{}
		for _, part := range b.parts {
			if err := errors.Join(insert(tx, part.rows, 0, stems), removeIDs(tx, part.forget)); err != nil {
				return err
			}
		}
		if err := keepTerms(tx, stems); err != nil {
			return err
		}
		_, err := tx.Exec("UPDATE source SET offset = ?, tail = ?, damaged = damaged + ?", b.to, tail, b.damaged)
		return err
	})
}

// batch has the content of some lines. Rows of a part precede their deletion.
type batch struct {
	from, to int64
	parts    []part
	damaged  int
	removed  bool
}

type part struct {
	rows   []Row
	forget []string
}

// lineReader reads whole lines. A line without an end stays for a later read.
type lineReader struct {
	in     *bufio.Reader
	offset int64
	ended  bool
}

func (r *lineReader) next(limit int) (batch, error) {
	b := batch{from: r.offset, to: r.offset, parts: []part{{}}}
	for range limit {
		raw, size, err := r.line()
		if errors.Is(err, io.EOF) {
			r.ended = true
			break
		}
		if err != nil {
			return b, err
		}
		r.offset += size
		b.to = r.offset
		b.add(raw)
	}
	return b, nil
}

func (b *batch) add(raw []byte) {
	l, ok := parseLine(raw)
	now := &b.parts[len(b.parts)-1]
	switch {
	case !ok && len(bytes.TrimSpace(raw)) > 0:
		b.damaged++
	case !ok:
	case l.forget != nil:
		now.forget = l.forget
		b.parts = append(b.parts, part{})
		b.removed = true
	default:
		now.rows = append(now.rows, l.row)
	}
}

// line returns the next line and its size. Of a line that is too long, it returns the begin.
func (r *lineReader) line() (raw []byte, size int64, err error) {
	for {
		piece, err := r.in.ReadSlice('\n')
		size += int64(len(piece))
		if len(raw) <= maxLine {
			raw = append(raw, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return raw, size, err
		}
	}
}
