package rollout

// A list reads the last tailSize bytes of a file, and up to maxTail until they give the model and the time.
const (
	tailSize   = 256 << 10
	tailGrowth = 8
	maxTail    = 64 << 20
)

// update applies the end of a file to a head that was read from its begin.
func (r *headReader) update(h *Head) {
	if h.whole {
		return
	}
	file, info, err := r.store.openFilled(h.Path)
	if err != nil {
		return // it has been read a moment ago
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
