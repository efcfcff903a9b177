package model

const (
	// answerLimit bounds an answer, in bytes of what it says: models end theirs far below it.
	answerLimit = 32 << 20
	// eventCost is what an event counts besides its text, so that an answer of empty events ends.
	eventCost = 16
	// PartCost is what a part of an answer counts besides its text, such as a piece of a call.
	PartCost = 128
)

// Size measures an answer, which must not be endless.
type Size struct{ bytes int }

// Add counts an event with a text of n bytes. It fails once the answer is too large.
func (s *Size) Add(n int) error {
	if s.bytes += eventCost + n; s.bytes > answerLimit {
		return &oversizedError{}
	}
	return nil
}
