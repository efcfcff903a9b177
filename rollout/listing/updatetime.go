package listing

import (
	"bytes"
	"io/fs"
	"sync"
	"time"

	"appserver/platform/disk"
	"appserver/rollout/line"
)

// updateTime is the update time of a file, in Unix nanoseconds. It is valid while the file has
// the size and the modification time.
type updateTime struct{ size, modTime, at int64 }

// updateTimes caches the update times of all files by root, for lists without the index.
type updateTimes struct {
	mu    sync.Mutex
	roots map[string]map[string]updateTime
}

// updatePass is one reading of all files of a root. current replaces cached, so that removed
// files leave the cache.
type updatePass struct{ cached, current map[string]updateTime }

func (u *updateTimes) begin(root string) *updatePass {
	u.mu.Lock()
	defer u.mu.Unlock()
	return &updatePass{cached: u.roots[root], current: map[string]updateTime{}}
}

func (u *updateTimes) end(root string, pass *updatePass) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.roots == nil {
		u.roots = map[string]map[string]updateTime{}
	}
	u.roots[root] = pass.current
}

// of returns the update time of a file, in Unix nanoseconds. name is its key. An empty file is
// not cached, because its backup counts.
func (p *updatePass) of(l *Lister, name, path string, info fs.FileInfo) int64 {
	size, modTime := info.Size(), info.ModTime().UnixNano()
	known, ok := p.cached[name]
	if !ok || known.size != size || known.modTime != modTime {
		known = updateTime{size, modTime, l.lastUpdate(path, info).UnixNano()}
	}
	if size > 0 {
		p.current[name] = known
	}
	return known.at
}

// shortTail is the amount first read for the last timestamp, in bytes. Most lines are shorter.
const shortTail = 4 << 10

// lastUpdate returns the time that lists show for a file: the last timestamp within maxTail, or
// the modification time if there is none or it is invalid.
func (l *Lister) lastUpdate(path string, info fs.FileInfo) time.Time {
	file, opened, err := l.home.OpenFilled(path)
	if err != nil {
		return info.ModTime() // reading the head reports the error
	}
	defer func() { _ = file.Close() }()
	if c, ok := file.(disk.Compressed); ok {
		if latest, err := l.readLatest(c); err == nil {
			if at, ok := writtenTime(latest.Written); ok {
				return at
			}
		}
		return opened.ModTime()
	}
	for size := int64(shortTail); ; size *= tailGrowth {
		tail := make([]byte, min(opened.Size(), size, maxTail))
		if _, err := file.ReadAt(tail, opened.Size()-int64(len(tail))); err != nil {
			break
		}
		written := lastTimestamp(bytes.TrimPrefix(tail, []byte(line.ByteOrderMark)))
		if at, ok := writtenTime(written); ok {
			return at
		}
		if written != "" || size >= min(opened.Size(), maxTail) {
			break
		}
	}
	return opened.ModTime()
}
