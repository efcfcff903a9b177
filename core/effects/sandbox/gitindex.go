package sandbox

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"appserver/platform/osfile"
)

const (
	// gitlinkMode is the mode of an entry that names a commit of another repository.
	gitlinkMode = 0o160000
	// maxGitlinks bounds the list of them, and maxIndexPath the length of a path in bytes.
	maxGitlinks, maxIndexPath = 10_000, 64 << 10
	// maxIndex bounds an index, in bytes: a file of any length takes no room on a disk if most of it is empty.
	maxIndex = 512 << 20
	// sha1Size is the size of the usual hashes, in bytes.
	sha1Size = 20
	// statSize is the size of an entry's fields before the hash, and modeAt the offset of its mode.
	statSize, modeAt = 40, 24
	// hasMoreFlags and pathLength are parts of the flags. A longer path has the greatest length.
	hasMoreFlags, pathLength = 0x4000, 0x0FFF
)

var errIndex = errors.New("the index of git cannot be read")

// gitlinks returns the paths of the repositories that an index refers to. Git enters them. An index that does not exist
// has none. With an error, it returns those before the error. The format is that of gitformat-index(5), versions 2 to
// 4. It tries one size of hashes after the other, until the index has no error.
func gitlinks(index string, hashSizes []int) (links []string, err error) {
	for _, hash := range hashSizes {
		found, failure := gitlinksOf(index, hash, true)
		links = append(links, found...)
		if err = failure; err == nil {
			break
		}
	}
	slices.Sort(links)
	return slices.Compact(links), err
}

// gitlinksOf reads an index, and the one that it extends.
func gitlinksOf(index string, hash int, extends bool) ([]string, error) {
	file, err := osfile.OpenRegular(index, osfile.Bounds{})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errIndex, index, err)
	}
	defer file.Close()
	in := bufio.NewReaderSize(io.LimitReader(file, maxIndex), maxIndexPath)
	r := &indexReader{in: in, hash: hash, fields: make([]byte, statSize+hash+2)}
	shared, err := r.read()
	if err == nil && shared != "" && !extends {
		err = errors.New("it extends another index, as the index that extends it does")
	}
	if err != nil {
		return r.links, fmt.Errorf("%w: %s: %w", errIndex, index, err)
	}
	if shared == "" {
		return r.links, nil
	}
	more, err := gitlinksOf(filepath.Join(filepath.Dir(index), "sharedindex."+shared), hash, false)
	return append(r.links, more...), err
}

type indexReader struct {
	in      *bufio.Reader
	hash    int
	version uint32
	links   []string
	// fields has the fixed part of an entry, and path its path, which version 4 needs for the next one.
	fields, path []byte
}

// read reads all entries, and returns the hash of the index that this one extends, or "".
func (r *indexReader) read() (shared string, err error) {
	var head struct {
		Signature      [4]byte
		Version, Count uint32
	}
	if err := binary.Read(r.in, binary.BigEndian, &head); err != nil {
		return "", err
	}
	if string(head.Signature[:]) != "DIRC" || head.Version < 2 || head.Version > 4 {
		return "", errors.New("unknown format")
	}
	r.version = head.Version
	for range head.Count {
		if err := r.entry(); err != nil {
			return "", err
		}
	}
	return r.extensions()
}

func (r *indexReader) entry() error {
	if _, err := io.ReadFull(r.in, r.fields); err != nil {
		return err
	}
	size := len(r.fields)
	flags := binary.BigEndian.Uint16(r.fields[size-2:])
	if flags&hasMoreFlags != 0 && r.version > 2 {
		if _, err := r.in.Discard(2); err != nil {
			return err
		}
		size += 2
	}
	isLink := binary.BigEndian.Uint32(r.fields[modeAt:]) == gitlinkMode
	if length := int(flags & pathLength); !isLink && r.version < 4 && length < pathLength {
		_, err := r.in.Discard(length + padding(size+length))
		return err
	}
	if err := r.name(size); err != nil || !isLink {
		return err
	}
	if len(r.path) == 0 || len(r.links) == maxGitlinks {
		return errors.New("a repository without a path, or too many repositories")
	}
	r.links = append(r.links, string(r.path))
	return nil
}

// name reads the path of an entry whose other fields have a size. Version 4 has no padding, and its paths share their
// beginning with the path before.
func (r *indexReader) name(size int) error {
	kept := 0
	if r.version == 4 {
		cut, err := r.offset()
		if err != nil || cut > len(r.path) {
			return errors.New("a path is damaged")
		}
		kept = len(r.path) - cut
	}
	rest, err := r.in.ReadSlice(0)
	if err != nil || kept+len(rest) > maxIndexPath {
		return errors.New("a path is cut or too long")
	}
	r.path = append(r.path[:kept], rest[:len(rest)-1]...)
	if r.version == 4 {
		return nil
	}
	_, err = r.in.Discard(padding(size+len(r.path)) - 1)
	return err
}

// padding returns the number of zeros after an entry of a size.
func padding(size int) int { return 8 - size%8 }

// offset reads a number of the form that packs use for offsets.
func (r *indexReader) offset() (int, error) {
	value := 0
	for {
		c, err := r.in.ReadByte()
		if err != nil || value > maxIndexPath {
			return 0, errIndex
		}
		value = value<<7 + int(c&127)
		if c&128 == 0 {
			return value, nil
		}
		value++
	}
}

// extensions returns the hash of the shared index, if an extension names one. The last bytes are the hash of the index.
func (r *indexReader) extensions() (shared string, err error) {
	for {
		head, err := r.in.Peek(8 + r.hash)
		if err != nil {
			return "", nil // the hash of the index is left
		}
		size := binary.BigEndian.Uint32(head[4:])
		if string(head[:4]) == "link" {
			if name := fmt.Sprintf("%x", head[8:]); strings.Trim(name, "0") != "" {
				return name, nil
			}
			return "", nil
		}
		if _, err := io.CopyN(io.Discard, r.in, 8+int64(size)); err != nil {
			return "", err
		}
	}
}
