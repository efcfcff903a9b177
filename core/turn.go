package core

import (
	"bytes"

	"appserver/protocol"
)

// TurnStart is input of the user: for a new turn, or for the active one.
type TurnStart struct {
	To     protocol.Caller
	Params *protocol.TurnStartParams
	// Images are the local images of the input, by path.
	Images map[string]LocalImage
	// Skills are the skills that the input names.
	Skills []SkillText
	// Permissions are those that the params name, or nil.
	Permissions *Permissions
	// Mail is the task of another agent that starts the turn, or nil.
	Mail *PeerMail
	Env  TurnEnv
}

func (in TurnStart) apply(s *step) { s.turnStart(in) }

// settings returns the settings of the turn.
func (in TurnStart) settings(s *step) Settings {
	return s.state.Settings.WithTurn(in.Params, in.Permissions)
}

// TurnSteer is input for the active turn.
type TurnSteer struct {
	To     protocol.Caller
	Params *protocol.TurnSteerParams
	Images map[string]LocalImage
	Skills []SkillText
}

func (in TurnSteer) apply(s *step) { s.turnSteer(in) }

func (s *step) turnStart(in TurnStart) {
	s.completePendingTurn()
	switch {
	case s.isIdle():
		s.beginTurn(in)
	case s.isInterrupted(), !s.active.kind.takesInput() && s.isEnding():
		s.waiting = append(s.waiting, waiter{in.To, in})
	case in.Mail != nil:
		s.getTask(in)
	case !s.active.kind.takesInput():
		s.reject(in.To, s.active.errNotSteerable("failed to submit turn input: "))
	case len(in.Params.Input) == 0:
		s.reject(in.To, errEmptyInput())
	case s.active.kind == shellTurn:
		s.active.schema = in.Params.OutputSchema
		s.convertToModelTurn(in.settings(s), in.Env)
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
		s.adjustSettings(in.settings(s), s.active.id)
		s.appendMode()
		s.appendAgentMode()
		s.reply(in.To, protocol.TurnStartResponse{Turn: s.activeTurnView()})
		s.steerTurn(in.Params.Input, in.Params.ClientUserMessageID, in.Images, in.Skills)
	}
}

func (s *step) beginTurn(in TurnStart) {
	s.newTurn(modelTurn, in.Env).schema = in.Params.OutputSchema
	limit := s.limitHistory(in.Env.MaxTurns)
	s.recordBegin(in.Params.RootTurnID)
	s.changeSettings(in.settings(s), s.active.id)
	s.appendNotices(in.Env)
	s.setServerTools(in.Env.Tools, in.Env.Provider.ContextWindow)

	answer := s.activeTurnView()
	answer.StartedAt = nil
	s.reply(in.To, protocol.TurnStartResponse{Turn: answer})
	if limit != nil {
		s.notifyTrim(limit)
		s.contextChanged(s.lastChanges())
	}
	s.notifyStatus()
	s.notify(protocol.TurnStartedNotification{ThreadID: s.state.ID, Turn: s.activeTurnView()})
	s.warnOnce(in.Env.Warnings)
	s.addUserInput(in.Params.Input, in.Params.ClientUserMessageID, in.Images, in.Skills)
	if in.Mail != nil {
		s.addMail(peerMail{*in.Mail, true})
		s.out.Sync = true
	}
	s.beginCheckpoint()
	s.searchMemory(in.Params.Input)
	s.firstModelRequest()
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
	switch {
	case s.isEnding(): // turn/completed was not sent
		s.becomePreparing(t)
		s.requestModel()
	case s.isRequesting():
		s.effect(Cancel{t.request.effect})
		s.requestModel()
	default:
		s.endMailCalls(waitSteered)
	}
}

func (s *step) turnSteer(in TurnSteer) {
	switch {
	case s.isIdle() || s.isInterrupted():
		s.reject(in.To, protocol.Refuse(protocol.KindNoActiveTurn, "no active turn to steer"))
	case s.active.id != in.Params.ExpectedTurnID:
		s.reject(in.To, s.errWrongTurn("expected active turn id `%s` but found `%s`", in.Params.ExpectedTurnID))
	case !s.active.kind.takesInput():
		s.reject(in.To, s.active.errNotSteerable(""))
	case len(in.Params.Input) == 0:
		s.reject(in.To, errEmptyInput())
	default:
		if s.active.kind == shellTurn {
			s.convertToModelTurn(s.state.Settings, s.active.env)
		}
		s.reply(in.To, protocol.TurnSteerResponse{TurnID: s.active.id})
		s.steerTurn(in.Params.Input, in.Params.ClientUserMessageID, in.Images, in.Skills)
	}
}
