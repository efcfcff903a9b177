package codeindex

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"time"

	"appserver/platform/osfile"
)

// markVersion changes whenever the chunks of unchanged content change.
const markVersion = "1"

// mark is the state of a file in the hash that the sink keeps.
type mark struct {
	// content is the hash of the content, or the reason why there is none.
	content string
	// size and mtime, in nanoseconds, describe the file when it was read. mtime is 0 if it proves
	// nothing.
	size, mtime int64
	chunks      int
}

func (m mark) String() string {
	return strings.Join([]string{markVersion, m.content, strconv.FormatInt(m.size, 36), strconv.FormatInt(m.mtime, 36),
		strconv.Itoa(m.chunks)}, ":")
}

// parseMark returns the zero mark for an invalid text.
func parseMark(text string) mark {
	parts := strings.Split(text, ":")
	if len(parts) != 5 || parts[0] != markVersion {
		return mark{}
	}
	m := mark{content: parts[1]}
	var failed [3]error
	m.size, failed[0] = strconv.ParseInt(parts[2], 36, 64)
	m.mtime, failed[1] = strconv.ParseInt(parts[3], 36, 64)
	m.chunks, failed[2] = strconv.Atoi(parts[4])
	for _, err := range failed {
		if err != nil {
			return mark{}
		}
	}
	return m
}

// skipped returns the reason why a file has no chunks, or "".
func (m mark) skipped() Reason {
	reason, _ := strings.CutPrefix(m.content, "!")
	if reason == m.content {
		return ""
	}
	return Reason(reason)
}

// fresh is the time before a read within which a file can change without a new modification time.
const fresh = 2 * time.Second

// stamp has the size and the modification time of a file.
type stamp struct{ size, mtime int64 }

func stampOf(info osfile.Info) stamp { return stamp{size: info.Size, mtime: info.ModTime} }

// proves reports whether a file with a mark has not changed since.
func (s stamp) proves(m mark) bool { return m.mtime != 0 && m.mtime == s.mtime && m.size == s.size }

// mark returns the mark of a file that was read, or skipped, at a time.
func (s stamp) mark(content string, chunks int, read time.Time) mark {
	m := mark{content: content, size: s.size, mtime: s.mtime, chunks: chunks}
	if read.Sub(time.Unix(0, s.mtime)) < fresh {
		m.mtime = 0
	}
	return m
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return fmt.Sprintf("%x", sum[:16])
}
