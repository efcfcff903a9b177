package listing

import (
	"appserver/platform/disk"
	"appserver/rollout/line"
)

// A list reads the last tailSize bytes of a file. It reads up to maxTail until model and time
// are known.
const (
	tailSize   = 256 << 10
	tailGrowth = 8
	maxTail    = 64 << 20
)

// update applies the end of the file to a head that was read from its start.
func (r *headReader) update(h *Head) {
	if h.whole {
		return
	}
	file, info, err := r.lister.home.OpenFilled(h.Path)
	if err != nil {
		return // the head keeps the values of the start
	}
	defer func() { _ = file.Close() }()
	if c, ok := file.(disk.Compressed); ok {
		r.lister.latestOf(c, h)
		return
	}
	var latest Latest
	for size := int64(tailSize); ; size *= tailGrowth {
		tail := make([]byte, min(info.Size(), size, maxTail))
		if _, err := file.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
			break
		}
		latest = latestIn(tail)
		known := latest.Model != "" || h.Context == nil && h.Origin == ""
		if known && latest.Written != "" || size >= min(info.Size(), maxTail) {
			break
		}
	}
	latest.Update(h)
}

// latestOf applies the lines of a compressed file to a head, if it has at most maxTail bytes. The end of such a file
// can only be read after all of it.
func (l *Lister) latestOf(file disk.Compressed, h *Head) {
	if latest, err := l.readLatest(file); err == nil {
		latest.Update(h)
	}
}

// readLatest returns the state of all lines of a compressed file. Above maxTail bytes, the error is errLong.
func (l *Lister) readLatest(file disk.Compressed) (latest Latest, err error) {
	chunks := line.ChunkReader{Size: tailSize, MaxLine: l.chunks.MaxLine}
	for c, err := range chunks.Chunks(file, 0, maxTail+1) {
		switch {
		case err != nil:
			return Latest{}, err
		case c.End() > maxTail:
			return Latest{}, errLong
		}
		latest.Then(latestIn(c.Data))
	}
	return latest, nil
}
