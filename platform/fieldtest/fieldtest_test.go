package fieldtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/platform/fieldtest"
)

type leaf struct{ name string }

type tree struct {
	embedded
	leaf   leaf
	list   []leaf
	byName map[string]leaf
	more   *leaf
}

type embedded struct{ text *string }

// TestFillFillsNestedStructs gives a value to fields of structs within structs, lists, maps and pointers, also to
// fields that are not exported.
func TestFillFillsNestedStructs(t *testing.T) {
	var filled tree
	fieldtest.Fields{}.Fill(t, &filled)
	x := "x"
	require.Equal(t, tree{embedded{&x}, leaf{x}, []leaf{{x}}, map[string]leaf{x: {x}}, &leaf{x}}, filled)
	again := tree{embedded{&x}, leaf{x}, []leaf{{x}}, map[string]leaf{x: {x}}, &leaf{x}}
	fieldtest.Fields{}.Same(t, &filled, &again)
}
