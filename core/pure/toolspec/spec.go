package toolspec

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Spec offers a tool to the model.
type Spec struct {
	Name        string
	Description string
	// Parameters is a JSON Schema of an object.
	Parameters json.RawMessage
}

// Equal reports whether two tools are offered alike.
func (s Spec) Equal(o Spec) bool {
	return s.Name == o.Name && s.Description == o.Description && bytes.Equal(s.Parameters, o.Parameters)
}

// The names of the built-in tools.
const (
	Shell            = "shell"
	ExecCommand      = "exec_command"
	WriteStdin       = "write_stdin"
	ApplyPatch       = "apply_patch"
	UpdatePlan       = "update_plan"
	ViewImage        = "view_image"
	RequestUserInput = "request_user_input"
	Recall           = "recall"
	ToolSearch       = "tool_search"
	CallTool         = "call_tool"
)

// Selection selects the built-in tools that depend on the thread. The zero value selects shell,
// apply_patch and update_plan.
type Selection struct {
	// Terminals is set if commands may run in the background.
	Terminals bool
	// Images is set if the model takes images.
	Images bool
	// Questions is set if the model may ask the user, in plan mode at least.
	Questions bool
	// Recall is set if the model may search what left the context.
	Recall bool
	// Searched names the servers whose tools are found by a search, or is "".
	Searched string
	// NoShell is set if the model may run no commands, NoPlan if it has no plan.
	NoShell, NoPlan bool
}

// Specs returns the selected tools in the order of the prompt.
func (s Selection) Specs() []Spec {
	var specs []Spec
	if !s.NoShell {
		specs = append(specs, shellSpec(permissions))
	}
	specs = append(specs, patchSpec)
	if !s.NoPlan {
		specs = append(specs, planSpec)
	}
	if s.Terminals && !s.NoShell {
		specs = append(specs, execSpec, stdinSpec)
	}
	if s.Images {
		specs = append(specs, imageSpec)
	}
	if s.Questions {
		specs = append(specs, questionsSpec)
	}
	if s.Recall {
		specs = append(specs, RecallSpec)
	}
	if s.Searched != "" {
		specs = append(specs, SearchSpec(s.Searched), callSpec)
	}
	return specs
}

// ReviewSpecs returns the tools of a reviewer: the shell, which cannot leave the sandbox.
func ReviewSpecs() []Spec { return []Spec{shellSpec("")} }

// builtIn reports whether a built-in tool has the name, even if it is not offered.
func builtIn(name string) bool {
	all := Selection{Terminals: true, Images: true, Questions: true, Recall: true, Searched: "all"}.Specs()
	return IsShell(name) || slices.ContainsFunc(all, func(s Spec) bool { return s.Name == name })
}
