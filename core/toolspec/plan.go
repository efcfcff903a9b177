package toolspec

import (
	"encoding/json"
	"errors"
	"fmt"

	"appserver/protocol"
)

var planSpec = Spec{
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
	Explanation *string                 `json:"explanation"`
	Steps       []protocol.TurnPlanStep `json:"plan"`
}

// ParsePlan decodes the arguments of update_plan.
func ParsePlan(arguments string) (Plan, error) {
	var p Plan
	if err := protocol.Unmarshal([]byte(arguments), &p); err != nil {
		return Plan{}, err
	}
	if p.Steps == nil {
		return Plan{}, errors.New("plan is missing")
	}
	for i := range p.Steps {
		status, ok := planStatus[p.Steps[i].Status]
		if !ok {
			return Plan{}, fmt.Errorf("the status of step %d is %q, expected pending, in_progress or completed",
				i+1, p.Steps[i].Status)
		}
		p.Steps[i].Status = status
	}
	return p, nil
}
