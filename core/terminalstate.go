package core

import (
	"fmt"
	"slices"
	"time"

	"appserver/core/pure/toolspec"
	"appserver/platform/excerpt"
	"appserver/protocol"
)

// terminal is a command that can run in the background. It belongs to the thread: an interrupt ends
// it only if its first call still waits.
type terminal struct {
	// id is the session id for the model and for clients. It is the ordinal of the call's line, so
	// no other session of the thread has it, also after a crash.
	id      string
	effect  EffectID
	turnID  string
	itemID  string
	command *shellCommand
	item    *protocol.ThreadItem
	// writes is set if the command may write files. Input can make it write.
	writes bool
	// pid is the id of the operating system, or "" before the command runs.
	pid string
	// pieces and bytes count the output that was sent to clients.
	pieces, bytes int
	// unread is the output that the model has not read.
	unread *excerpt.Text
	// wait is the call that waits for output, or nil.
	wait *outputWait
	// result is set when the command has ended. It stays until the model has read the rest.
	result *ToolResult
}

// outputWait is a call that waits for output of a terminal. It ends with a timer. If the files are
// watched, it has no timer and ends with their changes, so that no other call writes meanwhile.
type outputWait struct {
	call  *toolCall
	timer EffectID
	began time.Time
	// keep is how many bytes of output the call returns.
	keep int
	// stdin is the effect that writes the input, or 0 once it has. watched is set if the effect
	// also watches the files.
	stdin   EffectID
	watched bool
}

// inFirstCall reports whether the call that started the command still waits. The model does not
// know the session yet.
func (term *terminal) inFirstCall() bool {
	return term.wait != nil && term.wait.call.effect == term.effect
}

// limitOutput returns the text to send to clients for a piece: the piece, the notice that the limit
// is reached, or "".
func (term *terminal) limitOutput(text string) string {
	over := term.pieces > MaxOutputPieces
	term.pieces++
	term.bytes += len(text)
	switch {
	case over:
		return ""
	case term.pieces > MaxOutputPieces, term.bytes > MaxOutputBytes:
		term.pieces = MaxOutputPieces + 1
		return MoreOutput
	}
	return text
}

// terminalOutputText formats output for the model, in the form of the reference implementation.
// Output at its limit is cut already.
func terminalOutputText(took time.Duration, how, output string, keep int) string {
	if keep < toolspec.MaxOutput {
		kept := excerpt.Text{Limit: keep}
		kept.Write(output)
		output = kept.String()
	}
	return fmt.Sprintf("Wall time: %.4f seconds\n%s\nOutput:\n%s", took.Seconds(), how, output)
}

// HasTerminals reports whether commands run in the background.
func (t *Thread) HasTerminals() bool { return len(t.liveTerminals()) > 0 }

// liveTerminals returns the running terminals, oldest first.
func (t *Thread) liveTerminals() []*terminal {
	return slices.DeleteFunc(slices.Clone(t.terminals), func(term *terminal) bool { return term.result != nil })
}

// terminalOfEffect returns the terminal that an effect runs, or nil.
func (t *Thread) terminalOfEffect(id EffectID) *terminal {
	for _, term := range t.terminals {
		if term.effect == id && term.result == nil {
			return term
		}
	}
	return nil
}

// terminalByID returns the terminal with a session id, or nil.
func (t *Thread) terminalByID(id string) *terminal {
	for _, term := range t.terminals {
		if term.id == id {
			return term
		}
	}
	return nil
}
