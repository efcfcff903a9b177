package web_test

import (
	"testing"

	"github.com/dop251/goja"
	"github.com/stretchr/testify/require"

	"appserver/web/gen/build"
)

// TestStores runs the tests of web/test that need no page. Each test has an interpreter of its own, and so its own
// state of the page. Time passes only when a test moves its clock.
func TestStores(t *testing.T) {
	source, err := build.Tests(".", "all.ts")
	require.NoError(t, err)
	script, err := goja.Compile("all.js", source, true)
	require.NoError(t, err)
	var names []string
	vm := load(t, script)
	require.NoError(t, vm.ExportTo(call(t, vm, "testNames"), &names))
	require.Greater(t, len(names), 50)
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vm := load(t, script)
			result, ok := call(t, vm, "runTest", vm.ToValue(i)).Export().(*goja.Promise)
			require.True(t, ok)
			require.Equal(t, goja.PromiseStateFulfilled, result.State(), "it waits for something that does not come")
			require.Empty(t, result.Result().String())
		})
	}
}

func load(t *testing.T, script *goja.Program) *goja.Runtime {
	vm := goja.New()
	_, err := vm.RunProgram(script)
	require.NoError(t, err)
	return vm
}

// call calls a global function, and then runs all jobs of promises.
func call(t *testing.T, vm *goja.Runtime, name string, args ...goja.Value) goja.Value {
	f, ok := goja.AssertFunction(vm.Get(name))
	require.True(t, ok, name)
	result, err := f(goja.Undefined(), args...)
	require.NoError(t, err)
	return result
}
