package engine

import (
	"context"

	"appserver/core"
	"appserver/core/effects/workspace"
	"appserver/protocol"
)

// ReviewStart starts a turn that reviews changes, in the thread or in a fork of it.
func (e *Engine) ReviewStart(to protocol.Caller, p *protocol.ReviewStartParams) error {
	if err := core.CheckReview(p.Target); err != nil {
		return err
	}
	return e.toThread(to, p.ThreadID, func(a *actor) {
		in, err := a.reviewOf(to, p.Target)
		switch {
		case err != nil:
			e.refuse(to, err)
		case p.Delivery != nil && *p.Delivery == protocol.DeliveryDetached:
			fork := &protocol.ThreadForkParams{ThreadID: p.ThreadID}
			a.forkTo(to, fork, "", func(next *actor) { next.step(in) })
		default:
			a.step(in)
		}
	})
}

// reviewOf collects the input of a review.
func (a *actor) reviewOf(to protocol.Caller, target protocol.ReviewTarget) (core.ReviewStart, error) {
	settings := a.thread.Settings()
	in := core.ReviewStart{To: to, Target: target}
	if v, ok := target.ReviewTargetVariant.(*protocol.ReviewBranch); ok {
		in.MergeBase = workspace.MergeBase(context.Background(), settings.Cwd, v.Branch)
	}
	var err error
	in.Env, err = a.turnEnv(settings)
	return in, err
}
