package fleet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// action is a kind of step.
type action string

// The actions. beginTurn and endTurn are the two writes of a turn.
const (
	beginTurn  action = "begin"
	endTurn    action = "end"
	rename     action = "rename"
	exclude    action = "exclude"
	include    action = "include"
	undo       action = "undo"
	readThread action = "read"
	readItems  action = "items"
)

// step is an operation on a thread, as the model of a thread knows it.
type step struct {
	thread string
	do     action
	// text is the mark of a turn, the name, or the id of the item.
	text string
	// revision is the expected revision of an edit.
	revision int64
}

// result is the response to a step.
type result struct {
	// isUnknown is set if there was no response: the step may happen at any later time, or never.
	isUnknown bool
	// refused is the kind of the error, or "".
	refused string
	// status is the one with which a turn ended.
	status string
	// turns, name, revision and excluded are the result of a read, or of an edit.
	turns, name, excluded string
	revision              int64
}

// register is the state of a thread: its turns, with their inputs and statuses, a line each, its name, the revision
// of its context and the excluded items. undoable are the former lists of excluded items, a line each.
type register struct {
	turns, name, excluded, undoable string
	revision                        int64
}

// after returns the states that a thread can have after a step with a result, or nothing if the result
// is wrong. A step without a response may have changed nothing.
func (r register) after(s step, got result) []register {
	switch {
	case got.refused != "":
		return r.afterRefusal(s, got)
	case got.isUnknown:
		return append(r.afterSuccess(s, got), r)
	}
	return r.afterSuccess(s, got)
}

func (r register) afterSuccess(s step, got result) []register {
	switch s.do {
	case beginTurn:
		return r.afterBegin(s)
	case endTurn:
		return r.afterEnd(s, got)
	case rename:
		r.name = s.text
		return []register{r}
	case readThread:
		return only(r, r.shows(got.turns) && r.name == got.name)
	case readItems:
		return only(r, r.revision == got.revision && r.excluded == got.excluded)
	default:
		return r.afterEdit(s, got)
	}
}

// shows reports whether a read can return the turns. A node that does not own the thread shows a turn
// under way as interrupted.
func (r register) shows(turns string) bool {
	before, isRunning := strings.CutSuffix(r.turns, running)
	return r.turns == turns || isRunning && turns == before+" interrupted\n"
}

// only returns a state if a result is right.
func only(r register, isRight bool) []register {
	if isRight {
		return []register{r}
	}
	return nil
}

// afterRefusal returns the same state if it is a reason for the refusal.
func (r register) afterRefusal(s step, got result) []register {
	switch got.refused {
	case "turnActive":
		return only(r, s.do == beginTurn && r.isRunning())
	case "staleRevision":
		return only(r, r.revision != s.revision)
	case "nothingToUndo":
		return only(r, s.do == undo && r.undoable == "")
	}
	return nil
}

const running = " inProgress\n"

func (r register) isRunning() bool { return strings.HasSuffix(r.turns, running) }

// afterBegin begins a turn. During a turn, the input is added to it.
func (r register) afterBegin(s step) []register {
	if before, isRunning := strings.CutSuffix(r.turns, running); isRunning {
		r.turns = before + " "
	}
	r.turns += s.text + running
	return []register{r}
}

// afterEnd ends the turn with an input. Without a response, it ended in any way. The turn may have ended
// already, if it has the inputs of several clients.
func (r register) afterEnd(s step, got result) (next []register) {
	turns := strings.Split(r.turns, "\n")
	at := slices.IndexFunc(turns, func(turn string) bool { return slices.Contains(strings.Fields(turn), s.text) })
	if at < 0 {
		return nil
	}
	inputs, isRunning := strings.CutSuffix(turns[at]+"\n", running)
	if !isRunning {
		return only(r, got.isUnknown || strings.HasSuffix(turns[at], " "+got.status))
	}
	statuses := []string{got.status}
	if got.isUnknown {
		statuses = []string{"completed", "interrupted"}
	}
	for _, status := range statuses {
		turns[at] = inputs + " " + status
		r.turns = strings.Join(turns, "\n")
		next = append(next, r)
	}
	return next
}

// afterEdit edits the context.
func (r register) afterEdit(s step, got result) []register {
	if r.revision != s.revision {
		return nil
	}
	items, former := strings.Fields(r.excluded), r.excluded
	at := slices.Index(items, s.text)
	switch s.do {
	case exclude:
		if at < 0 {
			items = append(items, s.text)
		}
	case include:
		if at >= 0 {
			items = slices.Delete(items, at, at+1)
		}
	case undo:
		lines := strings.Split(r.undoable, "\n")
		if len(lines) < 2 {
			return nil
		}
		r.undoable = strings.Join(lines[1:], "\n")
		items = strings.Fields(lines[0])
	}
	slices.Sort(items)
	r.excluded = strings.Join(items, " ")
	if r.excluded != former || s.do == undo {
		r.revision++
	}
	if r.excluded != former && s.do != undo {
		r.undoable = former + "\n" + r.undoable
	}
	return only(r, got.isUnknown || r.revision == got.revision)
}

// threadModel checks each thread alone.
func threadModel() porcupine.Model {
	return (&porcupine.NondeterministicModel{
		Partition: byThread,
		Init:      func() []any { return []any{register{}} },
		Step: func(state, input, output any) (next []any) {
			for _, r := range state.(register).after(input.(step), output.(result)) {
				next = append(next, r)
			}
			return next
		},
		DescribeOperation: func(input, output any) string {
			s, r := input.(step), output.(result)
			return fmt.Sprintf("%s %s @%d → %+v", s.do, s.text, s.revision, r)
		},
		DescribeState: func(state any) string { return fmt.Sprintf("%+v", state) },
	}).ToModel()
}

func byThread(history []porcupine.Operation) (parts [][]porcupine.Operation) {
	of := map[string]int{}
	for _, op := range history {
		thread := op.Input.(step).thread
		i, ok := of[thread]
		if !ok {
			i = len(parts)
			of[thread], parts = i, append(parts, nil)
		}
		parts[i] = append(parts[i], op)
	}
	return parts
}
