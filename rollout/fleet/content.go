package fleet

import "iter"

// Content has the lines and the head of a new thread. If Create tries again, it reads all lines again.
type Content struct {
	// Lines are the lines, in order. Each is valid until the next one. An error ends them.
	Lines iter.Seq2[[]byte, error]
	// Size is the approximate size of the lines in bytes. The time limit of Create depends on it.
	Size int64
	// Head returns the head. It is called after the last line.
	Head func() Head
}

// ContentOf returns the content of a thread whose lines are in memory.
func ContentOf(h Head, lines ...[]byte) Content {
	c := Content{Head: func() Head { return h }}
	for _, l := range lines {
		c.Size += int64(len(l))
	}
	c.Lines = func(yield func([]byte, error) bool) {
		for _, l := range lines {
			if !yield(l, nil) {
				return
			}
		}
	}
	return c
}
