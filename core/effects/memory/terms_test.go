package memory_test

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/memory"
)

// exec runs SQL on the database of a rig, whose stores are closed.
func (r *rig) exec(statements string) {
	r.Helper()
	db, err := sql.Open("sqlite", "file:"+r.path("memory.sqlite"))
	require.NoError(r, err)
	_, err = db.Exec(statements)
	require.NoError(r, err)
	require.NoError(r, db.Close())
}

// TestADatabaseOfVersion2IsUpgraded keeps rows, code and vectors, and finds other forms of their words.
func TestADatabaseOfVersion2IsUpgraded(t *testing.T) {
	by := newScripted()
	r, _ := embedded(t, by)
	r.append(row(1, "one", "Die Schlüssel werden gelöscht."), row(2, "two", "The fonts are licensed."))
	require.NoError(t, r.store.PutCode(t.Context(), repo,
		[]memory.CodeFile{{Path: "a.go", Hash: "1",
			Chunks: []memory.Chunk{{Title: "a.go:1", Text: "func validateAddress()"}}}}))
	await(t, r.store, 3)
	require.NoError(t, r.store.Close())
	r.exec("DROP TABLE terms; PRAGMA user_version = 2;")
	asked := len(flat(by.requests()))

	s := r.other()
	for question, title := range map[string]string{"licence": "two", "Löschung": "one", "validity": "a.go:1"} {
		require.Equal(t, title, search(t, s, question)[0], question)
	}
	await(t, s, 3)
	require.Equal(t, asked+3, len(flat(by.requests())), "the questions, and no row again")
	files, err := s.CodeFiles(t.Context(), repo)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a.go": "1"}, files)
	require.Empty(t, r.warned())
	require.NoFileExists(t, r.path("memory.sqlite.damaged"))
}

func TestOtherFormsAreFoundInRowsOfAnotherProcess(t *testing.T) {
	r := newRig(t)
	r.append(row(1, "one", "unrelated"))
	require.Empty(t, search(t, r.store, "licence"))
	other := r.other()
	require.NoError(t, other.Append(t.Context(), []memory.Row{row(2, "two", "The fonts are licensed.")}))
	require.Equal(t, []string{"two"}, search(t, other, "licence"))
	require.Equal(t, []string{"two"}, search(t, r.store, "licence"))
	_, err := other.Forget(t.Context(), memory.Selection{All: true})
	require.NoError(t, err)
	require.Empty(t, search(t, r.store, "licence"))
	r.requireNowhere("licens")
	r.append(row(3, "three", "Licensing of fonts"))
	require.Equal(t, []string{"three"}, search(t, r.store, "licence"))
	require.Equal(t, []string{"three"}, search(t, other, "licence"))
}

// TestTheWordItselfIsBetterThanASimilarOne also for the share of the question's words.
func TestTheWordItselfIsBetterThanASimilarOne(t *testing.T) {
	r := newRig(t)
	r.append(row(1, "same", "the licence of a font"), row(2, "similar", "the licensing of a font"))
	hits, err := r.store.Search(t.Context(), memory.Query{RepoKey: repo, Text: "licence"})
	require.NoError(t, err)
	require.Len(t, hits, 2)
	require.Equal(t, "same", hits[0].Title)
	require.InDelta(t, 1, hits[0].Match, 0.001)
	require.Greater(t, hits[0].Score, hits[1].Score)
	require.InDelta(t, 0.5, hits[1].Match, 0.1)
}

// TestTermsAreThoseOfTheTokenizerOfSQLite, so that the rows of a word with marks are counted.
func TestTermsAreThoseOfTheTokenizerOfSQLite(t *testing.T) {
	r := newRig(t)
	r.append(row(1, "àáâãäåāăąçćĉċčďèéêëēĕėęěĝğġģĥìíîïĩīĭįĵķĺļľñńņň", "òóôõöōŏőŕŗřśŝşšţťùúûüũūŭůűųŵýÿŷźżž große straße øre łódź"))
	require.Empty(t, search(t, r.store, "nothing"))
	require.NoError(t, r.store.Close())
	db, err := sql.Open("sqlite", "file:"+r.path("memory.sqlite"))
	require.NoError(t, err)
	var terms, known int
	require.NoError(t, db.QueryRow("SELECT count(*), sum(term IN (SELECT term FROM vocabulary)) FROM terms").Scan(&terms, &known))
	require.NoError(t, db.Close())
	require.Equal(t, 5, terms)
	require.Equal(t, terms, known)
}
