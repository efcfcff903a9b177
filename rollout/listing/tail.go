package listing

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
