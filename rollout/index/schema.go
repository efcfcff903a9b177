package index

import "appserver/platform/database"

// kind identifies index files of this version.
func kind() database.Kind {
	return database.Kind{Application: 0x61707369, Version: 7, Tables: tables}
}

// tables is the schema. Times are Unix nanoseconds; offsets and sizes are bytes. last_event_at is the
// modification time of the file, and updated_at the time in lists. messages.session refers to
// sessions.key, because two files may have the same thread id. parent is the thread that spawned this
// one. origin is the id of the file with the beginning of the history. latest is a listing.Latest as
// JSON. messages.folded is the text in lower case if SQLite would fold it differently. The view "said"
// has the searchable text.
const tables = `
CREATE TABLE sessions (
	key INTEGER PRIMARY KEY,
	root TEXT NOT NULL, folder TEXT NOT NULL, rollout_path TEXT NOT NULL,
	inode INTEGER NOT NULL, size INTEGER NOT NULL, last_event_at INTEGER NOT NULL,
	offset INTEGER NOT NULL, begin_size INTEGER NOT NULL, begin_sum INTEGER NOT NULL,
	listed INTEGER NOT NULL, id TEXT NOT NULL, started_at INTEGER NOT NULL,
	cwd TEXT NOT NULL, model_provider TEXT NOT NULL, source TEXT NOT NULL,
	cli_version TEXT NOT NULL, originator TEXT NOT NULL, git_branch TEXT, git_commit TEXT,
	title TEXT NOT NULL, preview TEXT NOT NULL, folded TEXT NOT NULL, head TEXT NOT NULL,
	parent TEXT, origin TEXT, latest TEXT, updated_at INTEGER NOT NULL,
	UNIQUE (root, rollout_path)
);
CREATE INDEX sessions_created ON sessions (root, rollout_path) WHERE listed;
CREATE INDEX sessions_updated ON sessions (root, updated_at, rollout_path) WHERE listed;
CREATE INDEX sessions_recent ON sessions (last_event_at);
CREATE INDEX sessions_unlisted ON sessions (last_event_at) WHERE NOT listed;
CREATE INDEX sessions_folder ON sessions (root, folder);
CREATE INDEX sessions_thread ON sessions (root, id, rollout_path);
CREATE INDEX sessions_parent ON sessions (parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_origin ON sessions (origin) WHERE origin IS NOT NULL;
CREATE TABLE messages (
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	session INTEGER NOT NULL, offset INTEGER NOT NULL,
	role TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, tool_name TEXT NOT NULL, folded TEXT,
	UNIQUE (session, offset)
);
CREATE VIEW said AS SELECT number, session, coalesce(folded, text) AS text FROM messages;
CREATE VIRTUAL TABLE found USING fts5(text, content='said', content_rowid='number', tokenize='trigram', detail='none');
CREATE VIRTUAL TABLE titled USING fts5(folded, content='sessions', content_rowid='key', tokenize='trigram', detail='none');
`
