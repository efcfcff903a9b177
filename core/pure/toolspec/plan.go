package toolspec

import (
	"encoding/json"
	"errors"
	"fmt"

	"appserver/protocol"
)

// UpdatePlan is the name of the tool that shows a plan.
const UpdatePlan = "update_plan"

// PlanSpec describes the tool update_plan.
var PlanSpec = Spec{
	Name: UpdatePlan,
	Description: "Shows the user the plan for the task: its steps and their status. " +
		"At most one step can be in_progress at a time.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"explanation":{"type":"string"},` +
		`"plan":{"type":"array","items":{"type":"object","properties":{"step":{"type":"string"},` +
		`"status":{"type":"string","enum":["pending","in_progress","completed"]}},` +
		`"required":["step","status"],"additionalProperties":false}}},` +
		`"required":["plan"],"additionalProperties":false}`),
}

// planStatus maps the status of a step to the protocol's.
var planStatus = map[string]string{
	"pending": "pending", "in_progress": "inProgress", "inProgress": "inProgress", "completed": "completed",
}

// Plan is a decoded call of update_plan.
type Plan struct {
	Explanation *string
	Steps       []protocol.TurnPlanStep
}

// ParsePlan decodes the arguments of update_plan.
func ParsePlan(arguments string) (Plan, error) {
	a, err := readMembers(arguments)
	if err != nil {
		return Plan{}, err
	}
	if a.raw("plan") == nil {
		return Plan{}, errors.New("plan is missing")
	}
	p := Plan{Steps: []protocol.TurnPlanStep{}}
	if a.raw("explanation") != nil {
		p.Explanation = new(a.text("explanation"))
	}
	for i, step := range a.objects("plan") {
		text, word := step.text("step"), step.text("status")
		status, ok := planStatus[word]
		switch {
		case step.err != nil:
			return Plan{}, step.err
		case !ok:
			return Plan{}, fmt.Errorf("the status of step %d is %q, expected pending, in_progress or completed", i+1, word)
		}
		p.Steps = append(p.Steps, protocol.TurnPlanStep{Step: text, Status: status})
	}
	return p, a.err
}
