package doctor

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func check(name string, run func(context.Context) []Result) Check { return Check{name, run} }

// TestTheReportIsBounded has checks that hang, that panic, and that obey their context.
func TestTheReportIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quit := make(chan struct{})
		defer close(quit)
		begin := time.Now()
		r := Run(context.Background(), []Check{
			check("hangs", func(context.Context) []Result {
				<-quit
				return nil
			}),
			check("panics", func(context.Context) []Result { panic("no\x1b[2J") }),
			check("obeys", func(ctx context.Context) []Result {
				<-ctx.Done()
				return []Result{ok("obeys", "ended")}
			}),
		}, 5*time.Second, nil)
		require.Equal(t, 5*time.Second, time.Since(begin))
		require.True(t, r.OK, "nothing is known to prevent work")
		require.Len(t, r.Results, 3)
		require.Contains(t, r.Results[0].Detail, "more than 5s")
		require.Equal(t, "the check failed: no\ufffd[2J", r.Results[1].Detail)
		require.Equal(t, OK, r.Results[2].Status)
	})
}

// TestReportsHaveNoSecretsAndNoEscapes cleans names, details and actions, and bounds them.
func TestReportsHaveNoSecretsAndNoEscapes(t *testing.T) {
	t.Parallel()
	r := Run(context.Background(), []Check{check("a", func(context.Context) []Result {
		return []Result{problem("mcp.\x1b]0;x\a"+strings.Repeat("n", 3000), "use \u202etoken-1234-long", "%s", "token-1234 token-1234-long\n"+strings.Repeat("d", 9000))}
	})}, time.Minute, []string{"token-1234-long", "token-1234"})
	require.False(t, r.OK)
	one := r.Results[0]
	require.Equal(t, "use \ufffd[redacted]", one.Action)
	require.True(t, strings.HasPrefix(one.Detail, "[redacted] [redacted]"), one.Detail[:40])
	require.LessOrEqual(t, len(one.Detail), maxText+len("…"))
	text := r.Text(80)
	for _, hostile := range []string{"\x1b", "\a", "\u202e", "token"} {
		require.NotContains(t, text+one.Name, hostile)
	}
	require.Contains(t, text, "-> use ")
	require.Contains(t, text, "1 problem, 0 warnings.")
}
