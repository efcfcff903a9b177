package compaction

// Shares are the shares of a context window for the limit and the target of a compaction, in percent.
type Shares struct {
	Limit, Target int
	// Most is the largest limit in tokens, 0 for no compaction, or nil.
	Most *int64
}

// In returns the limit and the target for a context window in tokens, or nil if it is not known. Without a window and
// a largest limit there is no compaction. The limit is at most the window. The target is below the limit, in the same
// proportion as the shares.
func (s Shares) In(window *int64) (limit, target int64) {
	if window != nil {
		limit, target = *window*int64(s.Limit)/100, *window*int64(s.Target)/100
	}
	switch {
	case s.Most == nil:
	case *s.Most == 0:
		limit = 0
	case window == nil || *s.Most < *window:
		limit = *s.Most
	}
	if limit > 0 {
		below := limit * int64(s.Target) / int64(max(s.Limit, s.Target))
		if target == 0 || below < target {
			target = max(below, 1)
		}
	}
	return limit, target
}

// Within applies the shares to a context window that is found to be another one.
func (r *Rules) Within(window int64) { r.Limit, r.Target = r.Shares.In(&window) }
