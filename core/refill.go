package core

import (
	"crypto/sha256"

	"appserver/core/pure/toolspec"
)

const (
	// maxRefills is the number of compactions in a row after which the context may refill. Then the turn ends.
	maxRefills = 3
	// maxSeenCalls bounds the calls of a turn that are compared. Calls above it count as new.
	maxSeenCalls = 10_000
)

// refillGuard finds turns whose context refills after each compaction. A context refills if the next compaction comes
// after one answer at most, or if the model has repeated earlier calls of the turn only.
type refillGuard struct {
	// compacted is set once the turn was compacted. refills counts the refills in a row.
	compacted bool
	refills   int
	// answers counts the answers since the last compaction. progress is set if one of them had a new call.
	answers  int
	progress bool
	// seen has the hashes of the turn's calls.
	seen map[[sha256.Size]byte]bool
}

// addAnswer counts an answer with calls. Reading more of a background command is progress.
func (g *refillGuard) addAnswer(calls []ToolCall) {
	g.answers++
	for _, c := range calls {
		key := sha256.Sum256([]byte(c.Name + "\x00" + c.Arguments))
		if !g.seen[key] || c.Name == toolspec.WriteStdin {
			g.progress = true
		}
		if g.seen == nil {
			g.seen = map[[sha256.Size]byte]bool{}
		}
		if len(g.seen) < maxSeenCalls {
			g.seen[key] = true
		}
	}
}

// afterCompaction returns the guard after one more compaction.
func (g refillGuard) afterCompaction() refillGuard {
	switch {
	case !g.compacted:
	case g.answers <= 1 || !g.progress:
		g.refills++
	default:
		g.refills = 0
	}
	g.compacted, g.answers, g.progress = true, 0, false
	return g
}

// target lowers the target of a compaction if the context has refilled, so that more of the next answers fit.
func (g *refillGuard) target(tokens int64) int64 {
	return tokens * int64(maxRefills+1-g.refills) / (maxRefills + 1)
}
