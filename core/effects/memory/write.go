package memory

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"appserver/core/pure/words"
	"appserver/protocol"
)

const insertSQL = `INSERT OR IGNORE INTO rows (id, repo, session, ts, kind, title, text, msg_ids, hash, file)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0))`

// insert inserts the rows that do not exist yet. file is the key of their file, or 0 for rows of
// lines. The caller stores the stems, which insert adds to a set, by keepTerms.
func insert(tx *sql.Tx, rows []Row, file int64, stems map[string]bool) error {
	if len(rows) == 0 {
		return nil
	}
	into, err := tx.Prepare(insertSQL)
	if err != nil {
		return err
	}
	defer func() { _ = into.Close() }()
	repos := map[string]int64{}
	added := map[int64]Row{}
	for _, r := range rows {
		repo, err := repoKey(tx, repos, r.RepoKey)
		if err != nil {
			return err
		}
		ids, err := protocol.Marshal(nonNil(r.MsgIDs))
		if err != nil {
			return err
		}
		result, err := into.Exec(r.ID(), repo, r.SessionID, r.TS, r.Kind, r.Title, r.Text, string(ids), r.contentHash(), file)
		if err != nil {
			return err
		}
		if n, _ := result.RowsAffected(); n == 1 {
			key, _ := result.LastInsertId()
			added[key] = r
		}
	}
	return index(tx, added, repos, stems)
}

// index adds the words of rows. It does so for all rows at once, after the rows, because FTS5
// writes its terms between statements of other tables.
func index(tx *sql.Tx, rows map[int64]Row, repos map[string]int64, stems map[string]bool) error {
	into, err := tx.Prepare("INSERT INTO words(rowid, scope, title, text) VALUES (?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer func() { _ = into.Close() }()
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		r := rows[key]
		repo := repos[r.RepoKey]
		title, text := words.Indexed(r.Title, stems), words.Indexed(r.Text, stems)
		if _, err := into.Exec(key, scopesOf(repo, r.Kind), title, text); err != nil {
			return err
		}
	}
	return nil
}

// keepTerms stores the terms of stems that can have other forms.
func keepTerms(tx *sql.Tx, stems map[string]bool) error {
	terms := []string{}
	for stem := range stems {
		if term := words.Fold(stem); words.HasForms(term) {
			terms = append(terms, term)
		}
	}
	slices.Sort(terms)
	raw, err := protocol.Marshal(terms)
	if err == nil {
		_, err = tx.Exec("INSERT OR IGNORE INTO terms (term) SELECT value FROM json_each(?)", string(raw))
	}
	return err
}

// scopesOf returns the words of a row's repository and kind.
func scopesOf(repo int64, kind string) string {
	return strings.Join([]string{scope(repo, ""), scope(repo, kind), scope(0, kind)}, " ")
}

// scope returns the word for rows of a repository, of a kind, or of both. A zero value selects any.
func scope(repo int64, kind string) string { return fmt.Sprintf("r%dk%x", repo, kind) }

// repoKey returns the key of a repository. It creates the key if necessary.
func repoKey(tx *sql.Tx, known map[string]int64, name string) (key int64, err error) {
	if key, ok := known[name]; ok {
		return key, nil
	}
	if _, err := tx.Exec("INSERT OR IGNORE INTO repos (name) VALUES (?)", name); err != nil {
		return 0, err
	}
	err = tx.QueryRow("SELECT key FROM repos WHERE name = ?", name).Scan(&key)
	known[name] = key
	return key, err
}

// removeWhere deletes the rows that match a condition.
func removeWhere(tx *sql.Tx, condition string, args ...any) error {
	_, err := tx.Exec("DELETE FROM words WHERE rowid IN (SELECT key FROM rows WHERE "+condition+")", args...)
	if err == nil {
		_, err = tx.Exec("DELETE FROM rows WHERE "+condition, args...)
	}
	return err
}

func removeIDs(tx *sql.Tx, ids []string) error {
	var errs error
	for _, id := range ids {
		errs = errors.Join(errs, removeWhere(tx, "id = ?", id))
	}
	return errs
}
