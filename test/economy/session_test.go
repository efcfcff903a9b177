package economy

import "time"

// session is a scripted conversation.
type session struct {
	name string
	// short is set for sessions of fewer than ten turns.
	short bool
	// instructions are the text of AGENTS.md.
	instructions string
	turns        []turn
	facts        []fact
	// questions are about outputs and answers of the session.
	questions []question
}

// turn is a request of the user with the answers of the model. The last answer has no calls.
type turn struct {
	// pause is the time since the last turn.
	pause   time.Duration
	user    string
	answers []answer
}

// answer is an answer of the model to one request.
type answer struct {
	text  string
	calls []call
	// needs are the ids of earlier calls whose outputs the model uses. If the request has them no more, the
	// replay reads them again first.
	needs []string
}

// call is a call of a tool with its output.
type call struct {
	id string
	// script is the script of a shell, or "" for a patch.
	script, patch string
	// query is the question of a call of recall.
	query  string
	output string
	exit   int
	took   time.Duration
	// files have the contents before the patch, by path.
	files map[string]string
}

// factKind is the kind of a fact that a summary must keep.
type factKind int

const (
	fileChanged factKind = iota
	commandFailed
	failureSolved
	decision
	constraint
	factKinds
)

func (k factKind) String() string {
	return [...]string{"files", "failures", "solved", "decisions", "rules"}[k]
}

// fact is a fact that a session states.
type fact struct {
	kind factKind
	// text is a path, a script, or a sentence. cause is the cause of a failure.
	text, cause string
	exit        int
	// call is the call that states the fact, or "" if turn has a message that does. said is set if the
	// assistant said it.
	call string
	turn int
	said bool
	// solvedBy is the call that succeeded with the same script later, or "".
	solvedBy string
}

// question is a question in words about the output of a call.
type question struct {
	text string
	// call is the call whose output answers it. marker is a text that other outputs with the answer have.
	call, marker string
}
