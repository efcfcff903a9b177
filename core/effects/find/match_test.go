package find_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/find"
)

func paths(names ...string) (all []find.Path) {
	for _, name := range names {
		all = append(all, find.Path{Name: strings.TrimSuffix(name, "/"), Directory: strings.HasSuffix(name, "/")})
	}
	return all
}

func ranked(query string, names ...string) []string {
	find.New()
	found := []string{}
	for _, m := range find.NewQuery(query).Rank(context.Background(), paths(names...), 50) {
		found = append(found, m.Name)
	}
	return found
}

// TestRankIsAsPeopleExpect has, for each query, the order in which paths are to come; those
// after the bar do not fit.
func TestRankIsAsPeopleExpect(t *testing.T) {
	for _, c := range []struct{ query, order string }{
		{"main", "cmd/main main cmd/main.go src/domain.go | other"},
		{"main.go", "cmd/main.go main/x.go | main cmd/main_go.txt"},
		{"MAIN", "main src/Main.java | x"},
		{"readme", "README.md docs/readme.txt src/read/me.go"},
		{"server", "server/ cmd/server/ server/http.go srv/e/r/ver.go"},
		{"usrctl", "app/user_controller.rb app/muses/rectal.rb"},
		{"fbr", "foo/bar/raz.go foo/bulbar.go | foo/b"},
		{"src/main", "src/main.go src/lib/main.go | main/src.go"},
		{"main src", "main/src.go src/main.go | main.go"},
		{"'main", "main.go domain.go | ma/in.go"},
		{"^src", "src/a.go | lib/src/a.go"},
		{".go$", "a.go b.go | a.go.txt go"},
		{"^a.go$", "a.go | b/a.go a.gox"},
		{"go !test", "a.go | a_test.go test/a.go"},
		{"!test", "a.go | test.go"},
		{"ümlaut", "ümlaut.txt | umlaut.txt mlaut"},
		{"umlaut", "umlaut.txt ümlaut.txt"},
		{"日本", "日本.txt in/日x本.txt | 日.txt"},
		{"a\\b", "| a/b"},
		{"zzz", "| a b"},
	} {
		t.Run(c.query, func(t *testing.T) {
			fits, others, _ := strings.Cut(c.order, "|")
			names := append(strings.Fields(others), strings.Fields(fits)...)
			slices.Reverse(names)
			want := []string{}
			for _, name := range strings.Fields(fits) {
				want = append(want, strings.TrimSuffix(name, "/"))
			}
			require.Equal(t, want, ranked(c.query, names...))
		})
	}
}

func TestNothingIsLookedForByAnEmptyQuery(t *testing.T) {
	for _, query := range []string{"", " ", "\t\n", "'", "^", "$", "!", "^$", "! '"} {
		require.True(t, find.NewQuery(query).Empty(), "%q", query)
		require.Empty(t, ranked(query, "a", "b"), "%q", query)
	}
}

func TestRankOrdersEqualScoresByPath(t *testing.T) {
	require.Equal(t, []string{"a/x.go", "aa/x.go", "b/x.go"}, ranked("x.go", "b/x.go", "aa/x.go", "a/x.go"))
}

func TestRankPrefersShorterPathsIfNotAllAreReturned(t *testing.T) {
	find.New()
	found := find.NewQuery("x.go").Rank(context.Background(), paths("aaaa/x.go", "c/x.go", "b/x.go"), 2)
	require.Len(t, found, 2)
	require.Equal(t, []string{"b/x.go", "c/x.go"}, []string{found[0].Name, found[1].Name})
}

func TestRankBoostsTheDirectoryWithTheShortestPath(t *testing.T) {
	names := []string{"in/lib/lib/", "z/lib/", "b/lib/", "lib.go", "lib/x"}
	require.Equal(t, []string{"b/lib", "lib.go", "in/lib/lib", "lib/x", "z/lib"}, ranked("lib", names...))
}

func TestRankKeepsTheBest(t *testing.T) {
	var names []string
	for i := range 20_000 {
		names = append(names, fmt.Sprintf("some/where/t%dar/get%d", i, i))
	}
	names = append(names, "some/target", "target.go")
	find.New()
	found := find.NewQuery("target").Rank(context.Background(), paths(names...), 3)
	require.Len(t, found, 3)
	require.Equal(t, "some/target", found[0].Name)
	require.Equal(t, "target.go", found[1].Name)
	require.Equal(t, 0, found[0].Compare(found[0]))
	require.Negative(t, found[0].Compare(found[1]))
	require.Positive(t, found[2].Compare(found[1]))
}

func TestRankEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	find.New()
	require.Empty(t, find.NewQuery("a").Rank(ctx, paths("a", "b/a"), 10))
}

// TestIndicesAreTheCharactersThatFit takes them out of the path.
func TestIndicesAreTheCharactersThatFit(t *testing.T) {
	for _, c := range []struct{ query, path, marked string }{
		{"main", "src/main.go", "main"},
		{"mn", "src/main.go", "mn"},
		{"go main", "src/main.go", "maingo"},
		{"main ain", "src/main.go", "main"},
		{"ümain", "src/ümain.txt", "ümain"},
		{"main", "日本/ümain.txt", "main"},
		{"😀", "a/😀b", "😀"},
		{"'in.", "main.go", "in."},
		{"^src go$", "src/a.go", "srcgo"},
		{"SRC", "src/a.go", "src"},
		{"!x go", "src/a.go", "go"},
		{"!x", "src/a.go", ""},
	} {
		t.Run(c.query, func(t *testing.T) {
			find.New()
			found := find.NewQuery(c.query).Rank(context.Background(), paths(c.path), 1)
			require.Len(t, found, 1)
			require.NotNil(t, found[0].Indices)
			require.True(t, slices.IsSorted(found[0].Indices))
			marked := ""
			for _, i := range found[0].Indices {
				marked += string([]rune(c.path)[i])
			}
			require.Equal(t, c.marked, marked)
		})
	}
}

func TestLongQueriesAreCut(t *testing.T) {
	long := strings.Repeat("ä", 100_000)
	require.Empty(t, ranked(long, "ä", strings.Repeat("ä", 10)))
	require.Len(t, ranked(long, strings.Repeat("ä", 512)), 1, "its first kilobyte counts")
}

// FuzzRank holds ranks to what they promise for any query and any name.
func FuzzRank(f *testing.F) {
	for _, seed := range [][2]string{{"main", "src/main.go"}, {"^a$", "a"}, {"!x 'y", "xy"}, {"ü \xff", "ü\xff/b"},
		{"$", "\x00"}} {
		f.Add(seed[0], seed[1])
	}
	find.New()
	f.Fuzz(func(t *testing.T, query, name string) {
		found := find.NewQuery(query).Rank(context.Background(), paths(name, "other"), 1)
		require.LessOrEqual(t, len(found), 1)
		for _, m := range found {
			require.True(t, slices.IsSorted(m.Indices))
			for _, i := range m.Indices {
				require.Less(t, int(i), utf8.RuneCountInString(m.Name))
			}
		}
	})
}

// forest makes n files in folders of 100, and gives its root.
func forest(b *testing.B, n int) string {
	b.Helper()
	root := b.TempDir()
	for i := range n {
		dir := filepath.Join(root, fmt.Sprintf("pkg%d", i/1000), fmt.Sprintf("module_%d", i/100))
		if i%100 == 0 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("some_file_%d.go", i)), nil, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return root
}

func BenchmarkWalk50k(b *testing.B) {
	root := forest(b, 50_000)
	f := find.New()
	for b.Loop() {
		n := 0
		f.Walk(context.Background(), root, func(paths []find.Path) { n += len(paths) })
		if n < 50_000 {
			b.Fatalf("%d paths", n)
		}
	}
}

func BenchmarkRank50k(b *testing.B) {
	root := forest(b, 50_000)
	var mu sync.Mutex
	var all []find.Path
	find.New().Walk(context.Background(), root, func(paths []find.Path) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, paths...)
	})
	for b.Loop() {
		if len(find.NewQuery("modfile123").Rank(context.Background(), all, 50)) == 0 {
			b.Fatal("nothing fits")
		}
	}
}
