package economy

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// economyTable turns on TestEconomy, which make bench-economy runs.
var (
	economyTable    = flag.Bool("economy", false, "replay all sessions and print a table")
	economySessions = flag.Int("economy.sessions", 24, "number of long sessions")
	economyWindow   = flag.Int64("economy.window", 200_000, "context window of the model, in tokens")
)

// TestEconomy replays 24 long and 6 short sessions, and prints what automatic edits save. It compares the
// figures with goals and does not fail if one is missed.
func TestEconomy(t *testing.T) {
	if !*economyTable {
		t.Skip("make bench-economy runs it")
	}
	repos := repositories(t)
	fmt.Print(tableHead)
	long := measureAll(t, sessions(repos, longShapes, *economySessions))
	short := measureAll(t, sessions(repos, shortShapes, 6))
	all, small := sum(long), sum(short)
	all.print(os.Stdout)
	fmt.Println("\nShort sessions:")
	small.print(os.Stdout)
	fmt.Println()
	for _, g := range all.goals(&small) {
		fmt.Println(g.String())
	}
}

// measureAll measures sessions, some at a time, and prints a row for each.
func measureAll(t *testing.T, all []*session) []result {
	results := make([]result, len(all))
	t.Run("sessions", func(t *testing.T) {
		for i, s := range all {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				results[i] = measure(t, s)
				fmt.Print(results[i].row())
			})
		}
	})
	return results
}

// repositories opens the repositories of APPSERVER_ECONOMY_REPOS, or the one of this project.
func repositories(t *testing.T) (all []*repository) {
	dirs := filepath.SplitList(os.Getenv("APPSERVER_ECONOMY_REPOS"))
	if len(dirs) == 0 {
		dirs = []string{apptest.Root()}
	}
	for _, dir := range dirs {
		all = append(all, openRepository(t, dir))
	}
	return all
}

// sessions generates n sessions of some shapes, from the repositories in turn.
func sessions(repos []*repository, shapes []shape, n int) (all []*session) {
	for i := range n {
		repo := repos[i%len(repos)]
		first := len(repo.commits) * (i / len(repos)) * len(repos) / n
		s := generate(repo, shapes[i/len(repos)%len(shapes)], first, uint64(i+1))
		s.short = s.turns != nil && len(s.turns) < 10
		all = append(all, s)
	}
	return all
}

// minCommits is the number of commits that the short form needs.
const minCommits = 40

// ownRepository returns the history of this project, or skips the test if it is not there.
func ownRepository(t *testing.T) []*repository {
	if _, err := os.Stat(apptest.Root(".git")); err != nil {
		t.Skip("the sessions are made from the git history of this project, which is not there")
	}
	repo := openRepository(t, apptest.Root())
	if len(repo.commits) < minCommits {
		t.Skipf("the git history has %d commits only", len(repo.commits))
	}
	return []*repository{repo}
}

// TestAutomaticEditsNeverCostMuch replays some sessions that are shorter than those of the table.
func TestAutomaticEditsNeverCostMuch(t *testing.T) {
	repos, known := ownRepository(t), newTexts()
	var off, auto usage
	for i, s := range []shape{{"mixed", 40, 2, 8, 0}, {"pauses", 30, 2, 6, 0.2}, {"long turns", 8, 12, 20, 0},
		{"short", 5, 2, 6, 0}} {
		session := generate(repos[0], s, 10+20*i, uint64(i+1))
		for _, how := range []strategy{autoTenth, autoHalf} {
			plain := newReplay(t, known, session, strategy{}).run()
			edited := newReplay(t, known, session, how).run()
			require.LessOrEqual(t, edited.price(how.ratio), plain.price(how.ratio)*1.01, "%s, %s", session.name, how.name)
			off.add(plain)
			auto.add(edited)
		}
	}
	share := saved(float64(off.sent), float64(auto.sent))
	t.Logf("%.1f %% fewer tokens", share)
	require.GreaterOrEqual(t, share, leastSaved)
}

// leastSaved is the share of tokens, in percent, that automatic edits save in the sessions of the short form.
const leastSaved = 30.0

func TestCompactionsKeepTheRulesOfTheUser(t *testing.T) {
	repos, known := ownRepository(t), newTexts()
	session := generate(repos[0], shape{"mixed", 60, 1, 5, 0}, 30, 3)
	for _, how := range []strategy{{window: 40_000}, {window: 40_000, summary: true}, {window: 40_000, auto: true}} {
		r := newReplay(t, known, session, how)
		r.run()
		rules := r.audit.span[constraint]
		require.Positive(t, r.audit.compactions)
		require.Positive(t, rules.all)
		require.Equal(t, rules.all, rules.kept)
	}
}

func TestReplaysAreDeterministic(t *testing.T) {
	repos := ownRepository(t)
	session := generate(repos[0], shape{"mixed", 10, 1, 7, 0.2}, 10, 7)
	first, second := newReplay(t, newTexts(), session, autoTenth), newReplay(t, newTexts(), session, autoTenth)
	require.Equal(t, first.run(), second.run())
	require.Equal(t, first.recall(), second.recall())
}

func TestSessionsAreDeterministic(t *testing.T) {
	repos := ownRepository(t)
	shape := shape{"mixed", 30, 1, 7, 0.1}
	require.Equal(t, generate(repos[0], shape, 10, 7), generate(repos[0], shape, 10, 7))
	require.NotEqual(t, generate(repos[0], shape, 10, 7).turns, generate(repos[0], shape, 10, 8).turns)
}
