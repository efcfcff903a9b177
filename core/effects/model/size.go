package model

const (
	// answerLimit bounds the text of an answer, in bytes. Answers of models are far shorter.
	answerLimit = 32 << 20
	// eventCost is the size of an event beside its text, so that an endless answer of empty events
	// exceeds the limit.
	eventCost = 16
	// PartCost is the size of a part of an answer beside its text, such as a piece of a call.
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
