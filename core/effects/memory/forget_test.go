package memory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/memory"
	"appserver/platform/database"
)

// requireNowhere looks for a text in every file of the home.
func (r *rig) requireNowhere(text string) {
	r.Helper()
	files, err := filepath.Glob(r.path("*"))
	require.NoError(r, err)
	require.NotEmpty(r, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(r, err)
		require.NotContains(r, strings.ToLower(string(data)), text, file)
	}
}

func TestForgottenTextIsInNoFile(t *testing.T) {
	r := newRig(t, func(o *memory.Options) { o.Embedder = newGrams(64) })
	var all []memory.Row
	for n := range 300 {
		all = append(all, row(int64(n), fmt.Sprint("title ", n), fmt.Sprintf("common text xyzzy%dplugh", n)))
	}
	all[7].Text, all[8].Title = "common quetzalcoatl", "popocatepetl"
	r.append(all...)
	await(t, r.store, 300)
	r.write("memory.sqlite"+database.DamagedSuffix, "an old database with quetzalcoatl")
	other := r.other()
	require.Equal(t, "title 7", search(t, other, "quetzalcoatl")[0])

	n, err := r.store.Forget(t.Context(),
		memory.Selection{IDs: []string{all[7].ID(), all[8].ID(), all[7].ID(), "no such id"}})
	require.NoError(t, err)
	require.Equal(t, 2, n)
	for _, s := range []*memory.Store{r.store, other, r.other()} {
		require.NotContains(t, search(t, s, "quetzalcoatl"), "title 7")
		require.Contains(t, search(t, s, "xyzzy9plugh"), "title 9")
		got := titles(t, s)
		require.Len(t, got, 298)
		require.Zero(t, got["popocatepetl"])
	}
	r.requireNowhere("quetzalcoatl")
	r.requireNowhere("popocatepetl")
	require.NotContains(t, r.read("memory.jsonl"), "forget")
	await(t, r.store, 298)

	r.append(all[7])
	require.Equal(t, "title 7", search(t, r.store, "quetzalcoatl")[0])
}

func TestARepositoryIsForgotten(t *testing.T) {
	r := newRig(t)
	theirs := row(1, "theirs", "text")
	theirs.RepoKey = "/home/ann/other"
	r.append(row(1, "ours", "text"), theirs)
	code := []memory.CodeFile{{Path: "a.go", Hash: "1", Chunks: []memory.Chunk{{Title: "a.go", Text: "text"}}}}
	require.NoError(t, r.store.PutCode(t.Context(), repo, code))
	require.NoError(t, r.store.PutCode(t.Context(), theirs.RepoKey, code))

	n, err := r.store.Forget(t.Context(), memory.Selection{IDs: []string{theirs.ID()}, RepoKey: repo})
	require.NoError(t, err)
	require.Zero(t, n, "it is another repository's")
	n, err = r.store.Forget(t.Context(), memory.Selection{All: true, RepoKey: repo})
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.ElementsMatch(t, []string{"theirs", "a.go"}, list(t, r.store))
	files, err := r.store.CodeFiles(t.Context(), repo)
	require.NoError(t, err)
	require.Empty(t, files)
	files, err = r.store.CodeFiles(t.Context(), theirs.RepoKey)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a.go": "1"}, files)

	require.NoError(t, r.store.Reset(t.Context()))
	require.Empty(t, list(t, r.store))
	require.Empty(t, r.read("memory.jsonl"))
	r.requireNowhere("theirs")
	require.NoError(t, r.store.Reset(t.Context()))
}

func TestALineThatForgetsIsHeeded(t *testing.T) {
	r := newRig(t)
	one, two := row(1, "one", "text xyzzy"), row(2, "two", "text")
	r.append(one, two)
	r.write("memory.jsonl", r.read("memory.jsonl")+fmt.Sprintf("{\"forget\":[%q]}\n", one.ID()))
	require.Equal(t, []string{"two"}, list(t, r.store))
	require.NotContains(t, r.read("memory.jsonl"), "xyzzy", "somebody was kept from taking it out")
	require.NotContains(t, r.read("memory.jsonl"), "forget")
	require.Equal(t, []string{"two"}, list(t, r.store))
	require.Equal(t, []string{"two"}, list(t, r.other()))
}

func TestResetTakesDamagedLinesToo(t *testing.T) {
	r := newRig(t)
	r.append(row(1, "one", "text"))
	whole := r.read("memory.jsonl")
	r.write("memory.jsonl", whole+whole[:60]+"\n"+strings.Replace(whole, "one", "two", 1))
	n, err := r.store.Forget(t.Context(), memory.Selection{IDs: []string{row(1, "one", "text").ID()}})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Contains(t, r.read("memory.jsonl"), whole[:60]+"\n{")
	require.NoError(t, r.store.Reset(t.Context()))
	require.Empty(t, r.read("memory.jsonl"))
}

func TestCodeIsKeptByFile(t *testing.T) {
	r := newRig(t)
	chunk := func(title, text string) memory.Chunk { return memory.Chunk{Title: title, Text: text} }
	require.NoError(t, r.store.PutCode(t.Context(), repo, []memory.CodeFile{
		{Path: "a.go", Hash: "1",
			Chunks: []memory.Chunk{chunk("a.go:1-9", "func openStore"), chunk("a.go:10-20", "func closeStore")}},
		{Path: "b.go", Hash: "2", Chunks: []memory.Chunk{chunk("b.go:1-2", "func openStore")}},
		{Path: "empty.go", Hash: "3"},
	}))
	require.Equal(t, []string{"b.go:1-2", "a.go:1-9"}, search(t, r.store, "open_store")[:2])
	require.NoFileExists(t, r.path("memory.jsonl"))

	require.NoError(t, r.store.PutCode(t.Context(), repo,
		[]memory.CodeFile{{Path: "a.go", Hash: "4", Chunks: []memory.Chunk{chunk("a.go:1-3", "func readAll")}}}))
	require.NoError(t, r.store.DropCode(t.Context(), repo, []string{"b.go", "unknown.go"}))
	require.Equal(t, []string{"a.go:1-3"}, list(t, r.store))
	require.Empty(t, search(t, r.store, "openStore"))
	files, err := r.store.CodeFiles(t.Context(), repo)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a.go": "4", "empty.go": "3"}, files)

	rows, _, err := r.store.List(t.Context(), memory.Filter{Kind: memory.Code})
	require.NoError(t, err)
	n, err := r.store.Forget(t.Context(), memory.Selection{IDs: []string{rows[0].ID}})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	files, err = r.store.CodeFiles(t.Context(), repo)
	require.NoError(t, err)
	require.Equal(t, "4", files["a.go"], "it is not read again before it changes")
	r.append(row(1, "one", "text"))
	require.Equal(t, []string{"one"}, list(t, r.store))
	st, err := r.store.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]int64{memory.Summary: 1}, st.Rows)
	require.Equal(t, int64(2), st.Files)
	require.Positive(t, st.IndexBytes)
	require.Equal(t, int64(len(r.read("memory.jsonl"))), st.Bytes)
}

func TestCodeSurvivesANewFileOfLines(t *testing.T) {
	r := newRig(t)
	require.NoError(t, r.store.PutCode(t.Context(), repo,
		[]memory.CodeFile{{Path: "a.go", Hash: "1", Chunks: []memory.Chunk{{Title: "a.go", Text: "text"}}}}))
	r.append(row(1, "one", "text"))
	require.Len(t, list(t, r.store), 2)
	r.write("memory.jsonl", "")
	require.Equal(t, []string{"a.go"}, list(t, r.store))
	require.Equal(t, []string{"a.go"}, search(t, r.store, "text"))
}
