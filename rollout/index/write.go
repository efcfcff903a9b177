package index

import (
	"database/sql"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"appserver/platform/database"
	"appserver/protocol"
	"appserver/rollout/listing"
)

// write stores entries, all or none. It returns the files whose rows another server has written since they were
// looked up; their entries are not stored.
func write(db *sql.DB, entries []entry) (refused []location, err error) {
	if len(entries) == 0 {
		return nil, nil
	}
	err = database.InTransaction(db, func(tx *sql.Tx) error {
		var last, lastKey int64
		err := tx.QueryRow("SELECT (SELECT coalesce(max(number), 0) FROM messages), (SELECT coalesce(max(key), 0) FROM sessions)").
			Scan(&last, &lastKey)
		if err != nil {
			return err
		}
		for i := range entries {
			stored, err := putEntry(tx, &entries[i], lastKey)
			if err != nil {
				return err
			}
			if !stored {
				refused = append(refused, entries[i].location)
			}
		}
		// Message numbers are never reused, so greater ones are new. FTS5 flushes its terms at
		// each savepoint, and a trigger would make one per row. So all rows are inserted at
		// once.
		_, err = tx.Exec("INSERT INTO found(rowid, text) SELECT number, text FROM said WHERE number > ?", last)
		if err == nil {
			_, err = tx.Exec(
				"INSERT INTO titled(rowid, folded) SELECT key, folded FROM sessions WHERE key > ?",
				lastKey,
			)
		}
		return err
	})
	return refused, err
}

// putEntry stores an entry, unless another server has changed the row meanwhile. The caller indexes the titles of
// sessions above lastKey.
func putEntry(tx *sql.Tx, e *entry, lastKey int64) (stored bool, err error) {
	key, now, err := findSession(tx, e.location)
	if err != nil {
		return false, err
	}
	if e.known != now {
		return false, nil
	}
	if e.previous == (indexedState{}) && key != 0 {
		err = removeMessages(tx, key)
	}
	if err == nil && key != 0 && key <= lastKey {
		err = updateTitle(tx, key, strings.ToLower(e.head.Preview))
	}
	if err == nil {
		key, err = putSession(tx, key, e)
	}
	if err != nil {
		return false, err
	}
	if e.previous.offset > 0 {
		if e.messages, err = withoutRepeats(tx, key, e.messages); err != nil {
			return false, err
		}
	}
	return true, putMessages(tx, key, e.messages)
}

// updateTitle replaces the indexed title of a session.
func updateTitle(tx *sql.Tx, key int64, folded string) error {
	var was string
	err := tx.QueryRow("SELECT folded FROM sessions WHERE key = ?", key).Scan(&was)
	if err != nil || was == folded {
		return err
	}
	if err := removeTitle(tx, key, was); err != nil {
		return err
	}
	_, err = tx.Exec("INSERT INTO titled(rowid, folded) VALUES (?, ?)", key, folded)
	return err
}

func removeTitle(tx *sql.Tx, key int64, was string) error {
	_, err := tx.Exec("INSERT INTO titled(titled, rowid, folded) VALUES ('delete', ?, ?)", key, was)
	return err
}

// withoutRepeats removes the messages with which the last reading ended. A file may have a
// message as an item and as an event. The reading may have ended between them.
func withoutRepeats(tx *sql.Tx, key int64, messages []message) ([]message, error) {
	heard := map[string]bool{}
	var rest []message
	for _, m := range messages {
		if !heard[m.Role] {
			heard[m.Role] = true
			var last string
			err := tx.QueryRow("SELECT text FROM messages WHERE session = ? AND role = ? ORDER BY offset DESC LIMIT 1", key,
				m.Role).
				Scan(&last)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return nil, err
			}
			if err == nil && last == m.Text {
				continue
			}
		}
		rest = append(rest, m)
	}
	return rest, nil
}

// findSession returns the key and state of a file, or the key 0.
func findSession(tx *sql.Tx, p location) (key int64, k indexedState, err error) {
	err = tx.QueryRow("SELECT key, inode, size, last_event_at, offset, begin_size, begin_sum FROM sessions WHERE root = ? AND rollout_path = ?", p.root, p.path).
		Scan(&key, &k.inode, &k.size, &k.modTime, &k.offset, &k.beginSize, &k.beginSum)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return key, k, err
}

// removeMessages removes the messages of a session.
func removeMessages(tx *sql.Tx, key int64) error {
	if _, err := tx.Exec("INSERT INTO found(found, rowid, text) SELECT 'delete', number, text FROM said WHERE session = ?",
		key); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM messages WHERE session = ?", key)
	return err
}

// remove removes the sessions of files that are gone.
func remove(tx *sql.Tx, gone []location) error {
	for _, p := range gone {
		key, _, err := findSession(tx, p)
		if err == nil && key != 0 {
			err = removeSession(tx, key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func removeSession(tx *sql.Tx, key int64) error {
	var title string
	err := tx.QueryRow("SELECT folded FROM sessions WHERE key = ?", key).Scan(&title)
	if err == nil {
		err = removeTitle(tx, key, title)
	}
	if err == nil {
		err = removeMessages(tx, key)
	}
	if err == nil {
		_, err = tx.Exec("DELETE FROM sessions WHERE key = ?", key)
	}
	return err
}

const putSessionSQL = `INSERT OR REPLACE INTO sessions (key, root, folder, rollout_path, inode, size, last_event_at, offset, begin_size, begin_sum,
	listed, id, started_at, cwd, model_provider, source, cli_version, originator, git_branch, git_commit, title, preview, folded, head, parent, origin, latest, updated_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

func putSession(tx *sql.Tx, key int64, e *entry) (int64, error) {
	latest, err := latestOf(tx, key, e)
	if err != nil {
		return 0, err
	}
	latest.Update(&e.head)
	latestText, err := protocol.Marshal(latest)
	if err != nil {
		return 0, err
	}
	head, err := encodeHead(e.head)
	if err != nil {
		return 0, err
	}
	h, meta := &e.head, &e.head.Meta
	branch, commit := gitOf(meta)
	result, err := tx.Exec(
		putSessionSQL,
		sql.NullInt64{Int64: key, Valid: key != 0},
		e.root,
		e.folder(),
		e.path,
		e.inode,
		e.size,
		e.modTime,
		e.offset,
		e.beginSize,
		e.beginSum,
		e.listed,
		h.ID,
		h.CreatedAt.UnixNano(),
		meta.Cwd,
		meta.ModelProvider,
		listing.SourceWord(meta.Source),
		meta.CliVersion,
		meta.Originator,
		branch,
		commit,
		title(
			h.Preview,
		),
		h.Preview,
		strings.ToLower(h.Preview),
		head,
		orNull(listing.SpawnedBy(meta.Source)),
		orNull(h.Origin),
		string(latestText),
		h.UpdatedAt.UnixNano(),
	)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// latestOf returns the state after a reading, which may continue an earlier one.
func latestOf(tx *sql.Tx, key int64, e *entry) (latest listing.Latest, err error) {
	var before sql.NullString
	if key != 0 && e.previous.offset > 0 {
		err = tx.QueryRow("SELECT latest FROM sessions WHERE key = ?", key).Scan(&before)
	}
	if err == nil && before.Valid {
		err = protocol.Unmarshal([]byte(before.String), &latest)
	}
	latest.Then(e.latest)
	return latest, err
}

func orNull(text string) sql.NullString { return sql.NullString{String: text, Valid: text != ""} }

func gitOf(m *protocol.SessionMeta) (branch, commit *string) {
	if m.Git == nil {
		return nil, nil
	}
	return m.Git.Branch, m.Git.CommitHash
}

func putMessages(tx *sql.Tx, key int64, messages []message) error {
	if len(messages) == 0 {
		return nil
	}
	insert, err := tx.Prepare(
		"INSERT OR IGNORE INTO messages (session, offset, role, kind, text, tool_name, folded) VALUES (?, ?, ?, ?, ?, ?, ?)",
	)
	if err != nil {
		return err
	}
	defer func() { _ = insert.Close() }()
	for _, m := range messages {
		if _, err := insert.Exec(key, m.offset, m.Role, m.Kind, m.Text, m.ToolName, folded(m.Text)); err != nil {
			return err
		}
	}
	return nil
}

// folded returns the text in lower case if SQLite folds it differently from strings.ToLower.
func folded(text string) sql.NullString {
	if strings.IndexFunc(text, isUnfolded) < 0 {
		return sql.NullString{}
	}
	return orNull(strings.ToLower(text))
}

// isUnfolded reports whether SQLite folds a letter differently from unicode.ToLower. FTS5 uses
// an older version of Unicode, and lower folds ASCII only.
func isUnfolded(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return false
	case r == '\u0130', r == '\u037f', r == '\u212a':
		return true
	}
	return r > 0x527 && (r < 0x531 || r > 0x10cf) && (r < 0x1e00 || r > 0x2c2e) && unicode.ToLower(r) != r
}
