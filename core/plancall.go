package core

import (
	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

func planTool() builtInTool {
	return builtInTool{
		name:    toolspec.UpdatePlan,
		spec:    func(*Thread) ToolSpec { return toolspec.PlanSpec },
		offered: func(t *Thread) bool { return !t.capabilities.Limits.NoPlan },
		decode: func(_ *step, c *toolCall) (callKind, error) {
			plan, err := toolspec.ParsePlan(c.call.Arguments)
			return &planCall{plan}, err
		},
	}
}

// planCall is a call of update_plan.
type planCall struct{ toolspec.Plan }

func (k *planCall) readsOnly(*step) bool { return false }

func (k *planCall) start(s *step, c *toolCall) {
	s.notify(
		protocol.TurnPlanUpdatedNotification{ThreadID: s.state.ID, TurnID: s.active.id, Explanation: k.Explanation,
			Plan: k.Steps})
	s.completeCall(c, "Plan updated")
}
