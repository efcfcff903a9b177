package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/command"
)

func TestRecallReturnsTheArgumentsOfASingleCall(t *testing.T) {
	for script, want := range map[string][]string{
		"recall r12":                          {"r12"},
		" recall r12 r14\n":                   {"r12", "r14"},
		"recall 'the port of the server' r3":  {"the port of the server", "r3"},
		`recall "which test failed"`:          {"which test failed"},
		"recall":                              nil,
		"recall ":                             nil,
		"recall --help":                       nil,
		"recall r12 | head":                   nil,
		"recall r12 > out":                    nil,
		"recall r12 && ls":                    nil,
		"recall $ITEM":                        nil,
		"X=1 recall r12":                      nil,
		"! recall r12":                        nil,
		"recall r12 &":                        nil,
		"recalls r12":                         nil,
		"echo recall r12":                     nil,
		"recall 'r12":                         nil,
		"recall() { :; }; recall r12":         nil,
		"recall $(cat " + "/etc/passwd" + ")": nil,
	} {
		arguments, ok := command.Recall(script)
		require.Equal(t, want, arguments, script)
		require.Equal(t, want != nil, ok, script)
	}
}
