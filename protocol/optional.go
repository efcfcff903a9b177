package protocol

// OrNil returns a pointer to the text, or nil if it is empty. Optional texts of the protocol are null when
// they are unknown.
func OrNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// Override replaces a value by a param, unless the param is nil.
func Override[T any](to, param *T) {
	if param != nil {
		*to = *param
	}
}

// OverrideOptional replaces an optional value by a param, unless the param is nil.
func OverrideOptional[T any](to **T, param *T) {
	if param != nil {
		*to = param
	}
}
