package memory

import "appserver/platform/database"

// kind identifies the database of a store.
func kind() database.Kind {
	return database.Kind{Application: 0x6170736d, Version: 3, Tables: tables + termsTable,
		Upgrades: map[int]string{2: termsTable + termsOfWords}}
}

// tables are the tables of a store. Values of rows.key and vectors.number are never reused, so a
// greater value is newer. rows.repo is repos.key. rows.file is files.key for code. A vector belongs to
// a text by its hash, so a text that returns needs no new vector. source has the offset up to which
// the file of lines was read, and tail, a checksum of the text before it.
//
// words has no texts, only positions of words. Words of scope are the repository and the kind.
const tables = `
CREATE TABLE repos (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE files (
	key INTEGER PRIMARY KEY, repo INTEGER NOT NULL, path TEXT NOT NULL, hash TEXT NOT NULL,
	UNIQUE (repo, path)
);
CREATE TABLE rows (
	key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
	repo INTEGER NOT NULL, session TEXT NOT NULL, ts INTEGER NOT NULL, kind TEXT NOT NULL,
	title TEXT NOT NULL, text TEXT NOT NULL, msg_ids TEXT NOT NULL,
	hash BLOB NOT NULL, file INTEGER
);
CREATE INDEX rows_time ON rows (ts, key);
CREATE INDEX rows_repo ON rows (repo, ts, key);
CREATE INDEX rows_session ON rows (session) WHERE session != '';
CREATE INDEX rows_file ON rows (file) WHERE file IS NOT NULL;
CREATE INDEX rows_hash ON rows (hash);
CREATE TABLE vectors (
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	model TEXT NOT NULL, hash BLOB NOT NULL, vector BLOB NOT NULL,
	UNIQUE (model, hash)
);
CREATE TABLE source (one INTEGER PRIMARY KEY, offset INTEGER NOT NULL, tail BLOB NOT NULL, damaged INTEGER NOT NULL);
INSERT INTO source VALUES (1, 0, x'', 0);
CREATE VIRTUAL TABLE words USING fts5(scope, title, text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, 'row');
`

// termsTable is since version 3. terms has the terms of words that can have other forms. A value of terms.key is
// never reused, so that a reader that has some of them reads only the greater ones. A term stays when its last row
// is removed, until rows are erased.
const termsTable = `
CREATE TABLE terms (key INTEGER PRIMARY KEY AUTOINCREMENT, term TEXT NOT NULL UNIQUE);
`

// termsOfWords fills terms from words. Terms with a digit have no other forms.
const termsOfWords = `
INSERT INTO terms (term) SELECT term FROM vocabulary WHERE length(term) >= 4 AND term NOT GLOB '*[0-9]*';
`
