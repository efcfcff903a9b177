package acked

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Value is a value that requests change. Acked is the value of the last acknowledged request,
// and Pending are the values of later ones.
type Value struct {
	Acked   string
	Pending []string
}

// Request records a request and returns the function to call on its response.
func (v *Value) Request(value string) (acked func()) {
	v.Pending = append(v.Pending, value)
	return func() {
		if i := slices.Index(v.Pending, value); i >= 0 {
			v.Acked, v.Pending = value, v.Pending[i+1:]
		}
	}
}

// Check requires that the value after a crash is Acked or in Pending, and continues from it.
func (v *Value) Check(t testing.TB, what, value string) {
	t.Helper()
	if value != v.Acked {
		require.Contains(t, v.Pending, value, "%s; acknowledged: %q", what, v.Acked)
	}
	v.Acked, v.Pending = value, nil
}

// Bool is a Value with "true" or "".
type Bool struct{ Value }

// IsTrue reports whether the acknowledged value is true.
func (v *Bool) IsTrue() bool { return v.Acked == "true" }
