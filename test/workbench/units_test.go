package workbench

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/web/gen/build"
)

// TestModules runs the tests of web/test that need a page. Package web runs the others.
func TestModules(t *testing.T) {
	t.Parallel()
	ctx, cancel := chromedp.NewContext(needChromium(t))
	t.Cleanup(cancel)
	script, err := build.Tests(apptest.Root("web"), "page.ts")
	require.NoError(t, err)
	require.NoError(t, chromedp.Do(ctx)) // opens the tab
	w := &workbench{t: t, ctx: ctx}
	eval[bool](w, script+";true")
	names := eval[[]string](w, "testNames()")
	require.Greater(t, len(names), 15)
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			tab := &workbench{t: t, ctx: ctx}
			require.Empty(t, eval[string](tab, fmt.Sprintf("runTest(%d)", i)))
		})
	}
}
