package core

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"appserver/core/history"
	"appserver/core/transcript"
	"appserver/protocol"
)

func (in TurnStart) apply(s *step)     { s.turnStart(in) }
func (in TurnSteer) apply(s *step)     { s.turnSteer(in) }
func (in TurnInterrupt) apply(s *step) { s.turnInterrupt(in) }
func (Shutdown) apply(s *step)         { s.shutdown() }

// turn is the active turn. Only its lines survive a restart.
type turn struct {
	id        string
	startedAt time.Time
	env       TurnEnv
	schema    json.RawMessage
	// modelEffects and toolEffects are the effects without a terminal input yet, oldest first.
	modelEffects, toolEffects []EffectID
	// userCommands are the running commands of the user. shellOnly is set while the turn has no
	// other work. requestPending is set if a model request waits for their end.
	userCommands              []*userCommand
	shellOnly, requestPending bool
	// request is the active model request, or nil while tools run.
	request *modelRequest
	// calls are the tool calls of the model's last answer, in order.
	calls []*toolCall
	// retries counts the announced retries since the last answer; silent counts the silent ones
	// since then. retry is the timer of the next attempt, or 0. The prompt is built when it fires.
	retries, silent int
	retry           EffectID
	// compacts is set for a turn that only compacts the context.
	compacts bool
	// review is set for a turn that only reviews, or nil.
	review *review
	// compaction is the active compaction, or nil. compactions counts those since the last answer
	// of the model.
	compaction  *runningCompaction
	compactions int
	// hasUsage is set once the provider reported the usage of an answer.
	hasUsage bool
	// plans counts the plan items of the turn.
	plans int
	// last is the agent's last message.
	last *protocol.ThreadItem
	// uncaptured is set if the capture of the worktree before the turn failed. diff is the turn's
	// diff so far, or nil without changes.
	uncaptured bool
	diff       *FileDiff
	// query is the text to search memories for.
	query string
	// outcome is set once the turn has no more work.
	outcome *outcome
	// notBefore is the earliest time of turn/completed. timer is the timer for it, or 0.
	notBefore time.Time
	timer     EffectID
}

// outcome is the status of a finished turn.
type outcome struct {
	status protocol.TurnStatus
	err    *protocol.TurnError
}

func (s *step) turnStart(in TurnStart) {
	s.completePendingTurn()
	switch {
	case s.active == nil:
		s.beginTurn(in)
	case s.active.interrupted(), s.active.kind() != "" && s.active.outcome != nil:
		s.waiting = append(s.waiting, waiter{in.To, in})
	case s.active.kind() != "":
		s.reject(in.To, s.active.errNotSteerable("failed to submit turn input: "))
	case len(in.Params.Input) == 0:
		s.reject(in.To, errEmptyInput())
	case s.active.shellOnly:
		s.active.schema = in.Params.OutputSchema
		s.convertToModelTurn(s.state.Settings.WithTurn(in.Params), in.Env)
		s.reply(in.To, protocol.TurnStartResponse{Turn: s.activeTurnView()})
		s.steerTurn(in.Params.Input, in.Params.ClientUserMessageID, in.Images, in.Skills)
	case in.Params.OutputSchema != nil && !bytes.Equal(in.Params.OutputSchema, s.active.schema):
		s.reject(
			in.To,
			protocol.Refuse(
				protocol.KindTurnActive,
				"failed to submit turn input: the output schema differs from that of the active turn %s; "+
					"omit it, or wait for the end of the turn",
				s.active.id,
			),
		)
	default:
		s.adjustSettings(s.state.Settings.WithTurn(in.Params), s.active.id)
		s.reply(in.To, protocol.TurnStartResponse{Turn: s.activeTurnView()})
		s.steerTurn(in.Params.Input, in.Params.ClientUserMessageID, in.Images, in.Skills)
	}
}

// kind returns the kind of a turn that takes no input: compact or review. It returns "" for others.
func (t *turn) kind() string {
	switch {
	case t.compacts:
		return "compact"
	case t.review != nil:
		return "review"
	}
	return ""
}

// errNotSteerable rejects input to a turn that takes none.
func (t *turn) errNotSteerable(what string) *protocol.Error {
	err := protocol.Refuse(protocol.KindTurnActive,
		"%scannot steer a %s turn: wait for its end, or interrupt it with turn/interrupt", what, t.kind())
	err.Data.CodexErrorInfo = &protocol.CodexErrorInfo{Kind: protocol.ErrorActiveTurnNotSteerable, TurnKind: t.kind()}
	return err
}

func errEmptyInput() *protocol.Error {
	return &protocol.Error{Code: protocol.CodeInvalidParams, Message: "input must not be empty while a turn runs",
		Data: &protocol.ErrorData{Kind: protocol.KindInvalidParams, Field: "input"}}
}

func (t *turn) interrupted() bool {
	return t.outcome != nil && t.outcome.status == protocol.TurnInterrupted
}

// newTurn creates the active turn. It adds no line.
func (s *step) newTurn(world TurnEnv) *turn {
	s.closeDanglingTurn()
	s.discardDraft(errDraftExpired())
	s.failed = false
	s.applyEnv(world)
	s.active = &turn{id: s.NewID(), startedAt: s.Now, env: world, notBefore: s.Now.Add(s.options.CompletedFloor)}
	return s.active
}

func (s *step) beginTurn(in TurnStart) {
	s.newTurn(in.Env).schema = in.Params.OutputSchema
	limit := s.limitHistory(in.Env.MaxTurns)
	s.recordBegin(in.Params.RootTurnID)
	s.changeSettings(s.state.Settings.WithTurn(in.Params), s.active.id)
	s.appendNotices(in.Env)
	s.setServerTools(in.Env.Tools)

	answer := s.activeTurnView()
	answer.StartedAt = nil
	s.reply(in.To, protocol.TurnStartResponse{Turn: answer})
	if limit != nil {
		s.notifyTrim(limit)
		s.contextChanged(s.lastChanges())
	}
	s.notifyStatus()
	s.notify(protocol.TurnStartedNotification{ThreadID: s.state.ID, Turn: s.activeTurnView()})
	s.addUserInput(in.Params.Input, in.Params.ClientUserMessageID, in.Images, in.Skills)
	s.beginCheckpoint()
	s.searchMemory(in.Params.Input)
	s.firstModelRequest()
}

func (s *step) recordBegin(root *string) {
	at := s.Now.Unix()
	s.event(protocol.TaskStarted{Type: protocol.EventTaskStarted, TurnID: s.active.id, RootTurnID: root, StartedAt: &at,
		ModelContextWindow: s.active.env.Provider.ContextWindow})
}

// activeTurnView returns the active turn as responses and turn/started show it.
func (s *step) activeTurnView() protocol.Turn { return s.transcript.Last().View() }

func (s *step) notifyStatus() {
	s.notify(protocol.ThreadStatusChangedNotification{ThreadID: s.state.ID, Status: s.status()})
}

// addUserInput adds the user's input to the context and shows it.
func (s *step) addUserInput(
	input []protocol.UserInput,
	clientID *string,
	images map[string]LocalImage,
	skills []SkillText,
) {
	if len(input) == 0 {
		return
	}
	s.item(&protocol.Message{ID: "msg_" + s.NewID(), Role: protocol.RoleUser, Content: contentOf(input, images)})
	item := s.newItem(&protocol.UserMessageItem{ID: s.NewID(), ClientID: clientID, Content: input}, s.Now)
	s.notifyStarted(item)
	s.completeItem(item, nil)
	s.event(protocol.TextEvent{Type: protocol.EventUserMessage, Message: transcript.InputText(input), Kind: "plain"})
	s.addSkills(skills)
	s.out.Sync = true
}

// contentOf converts input to content for the model.
func contentOf(input []protocol.UserInput, images map[string]LocalImage) []protocol.ContentItem {
	content := []protocol.ContentItem{}
	text := func(t string) {
		content = append(content, protocol.ContentItem{Type: protocol.ContentInputText, Text: t})
	}
	image := func(url string, detail *string) {
		c := protocol.ContentItem{Type: protocol.ContentInputImage, ImageURL: url}
		protocol.Override(&c.Detail, detail)
		content = append(content, c)
	}
	for _, in := range input {
		switch v := in.UserInputVariant.(type) {
		case *protocol.TextInput:
			text(v.Text)
		case *protocol.ImageInput:
			image(v.URL, v.Detail)
		case *protocol.LocalImageInput:
			if file := images[v.Path]; file.Problem == "" {
				image(file.URL, v.Detail)
			} else {
				text("The image `" + v.Path + "` cannot be shown: " + file.Problem)
			}
		case *protocol.SkillInput:
			text("Use the skill " + v.Name + ": " + v.Path)
		case *protocol.MentionInput:
			text("The user mentions " + v.Name + ": " + v.Path)
		}
	}
	return content
}

// steerTurn adds input to the active turn. An active model request is cancelled and its partial
// message dropped; the next request has the new input. A pending retry and a compaction continue,
// and the input follows them.
func (s *step) steerTurn(
	input []protocol.UserInput,
	clientID *string,
	images map[string]LocalImage,
	skills []SkillText,
) {
	t := s.active
	t.notBefore = s.Now.Add(s.options.CompletedFloor)
	s.addUserInput(input, clientID, images, skills)
	if t.outcome != nil { // finished, but turn/completed is delayed
		t.outcome = nil
		s.stopTimer()
		if !t.requestPending {
			s.requestModel()
		}
		return
	}
	if t.request != nil && t.compaction == nil {
		s.effect(Cancel{t.request.effect})
		t.request = nil
		s.requestModel()
	}
}

func (s *step) turnSteer(in TurnSteer) {
	switch {
	case s.active == nil || s.active.interrupted():
		s.reject(in.To, protocol.Refuse(protocol.KindNoActiveTurn, "no active turn to steer"))
	case s.active.id != in.Params.ExpectedTurnID:
		s.reject(in.To, s.errWrongTurn("expected active turn id `%s` but found `%s`", in.Params.ExpectedTurnID))
	case s.active.kind() != "":
		s.reject(in.To, s.active.errNotSteerable(""))
	case len(in.Params.Input) == 0:
		s.reject(in.To, errEmptyInput())
	default:
		if s.active.shellOnly {
			s.convertToModelTurn(s.state.Settings, s.active.env)
		}
		s.reply(in.To, protocol.TurnSteerResponse{TurnID: s.active.id})
		s.steerTurn(in.Params.Input, in.Params.ClientUserMessageID, in.Images, in.Skills)
	}
}

func (s *step) errWrongTurn(format, expected string) *protocol.Error {
	err := protocol.Refuse(protocol.KindTurnMismatch, format, expected, s.active.id)
	err.Data.TurnID = s.active.id
	return err
}

func (s *step) turnInterrupt(in TurnInterrupt) {
	switch {
	case s.active == nil:
		s.reject(in.To, protocol.Refuse(protocol.KindNoActiveTurn, "no active turn to interrupt"))
	case in.TurnID != "" && in.TurnID != s.active.id:
		s.reject(in.To, s.errWrongTurn("expected active turn id %s but found %s", in.TurnID))
	default:
		s.reply(in.To, protocol.Empty{})
		s.active.notBefore = later(s.active.notBefore, s.Now.Add(s.options.CompletedFloor))
		s.interrupt()
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// interrupt cancels all work of the turn. The turn ends with its last effect. A turn that has
// finished keeps its outcome; only the commands of the user that it waits for end.
func (s *step) interrupt() {
	t := s.active
	if t.outcome != nil {
		s.cancelUserCommands()
		return
	}
	for _, id := range slices.Concat(t.modelEffects, t.toolEffects) {
		s.effect(Cancel{id})
	}
	if t.retry != 0 {
		s.effect(Cancel{t.retry})
		t.retry = 0
	}
	s.cancelWaits()
	s.cancelQuestions()
	asking := s.awaitsApproval() || t.awaitsUserInput()
	for _, c := range t.calls {
		s.abortCall(c)
	}
	if asking {
		s.notifyStatus()
	}
	if t.compaction != nil {
		s.endCompaction()
	}
	t.request = nil
	s.finishTurn(protocol.TurnInterrupted, nil)
}

func (s *step) stopTimer() {
	if s.active.timer != 0 {
		s.effect(Cancel{s.active.timer})
		s.active.timer = 0
	}
}

func (s *step) shutdown() {
	closing := protocol.Refuse(protocol.KindShuttingDown, "the server is shutting down")
	s.discardDraft(closing)
	for _, w := range s.waiting {
		s.reject(w.to, closing)
	}
	s.waiting = nil
	s.cancelCaptures()
	s.endTerminals()
	if s.active == nil && s.announcedEnd != nil {
		s.closeDanglingTurn()
	}
	s.endTurn()
}

// addSkills adds the skills that the user named, after the user's message.
func (s *step) addSkills(skills []SkillText) {
	for _, skill := range skills {
		s.item(history.UserMessage(SkillTag + "\n<name>" + skill.Name + "</name>\n<path>" + skill.Path + "</path>\n" +
			strings.TrimRight(skill.Text, "\n") + "\n</skill>"))
	}
}

// TurnUnderWay returns the error for requests that need the turn to be over, or nil if no turn is
// active.
func (t *Thread) TurnUnderWay() *protocol.Error {
	if t.active == nil {
		return nil
	}
	err := protocol.Refuse(protocol.KindTurnActive,
		"turn %s is active: wait for its end, or interrupt it with turn/interrupt, and retry", t.active.id)
	err.Data.TurnID = t.active.id
	return err
}

// rejectInTurn rejects a request that needs the turn to be over, and reports whether it did. A turn
// whose turn/completed is delayed is completed first.
func (s *step) rejectInTurn(to protocol.Caller) bool {
	s.completePendingTurn()
	err := s.TurnUnderWay()
	if err != nil {
		s.reject(to, err)
	}
	return err != nil
}
