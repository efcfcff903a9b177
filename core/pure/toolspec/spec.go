package toolspec

import (
	"bytes"
	"encoding/json"
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
