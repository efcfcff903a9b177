package core

// optional returns a pointer to the text, or nil if it is empty.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// set replaces a value unless the new one is nil.
func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// setOptional replaces an optional value unless the new one is nil.
func setOptional[T any](to **T, from *T) {
	if from != nil {
		*to = from
	}
}
