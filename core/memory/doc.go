// Package memory keeps what left the contexts of threads, and finds it again.
//
// # Files
//
// memory.jsonl in the home is the truth: a line a [Row], appended under the lock of
// memory.jsonl.lock in one write, and synced. A line {"forget":[ids]} takes rows before it back;
// a rewrite follows it, so that they leave the disk. A torn last line is an end; a bad line in the
// middle is kept and passed over.
//
// memory.sqlite is made from it, and can be thrown away: each search first reads what the file of
// lines has more. It knows how far it has read, and by a checksum whether what it has read is
// still there; otherwise it reads all of it anew. A database that is damaged or of another version gets
// ".damaged" behind its name. Code is in the database alone, since it can be read anew.
// Nothing is made or opened before it is needed, and a look at nothing makes nothing.
//
// # Search
//
// A text is found by its words: lower case, without endings, identifiers whole and in parts, and
// scripts without spaces by each two characters; BM25 ranks, and words of titles count double.
// With an [Embedder] it is found by vectors, too; what either proposes is put in order by
// reciprocal ranks. A question's vector is waited for, but not for long: without it, words are
// enough.
//
// # Order
//
// Append says nil once rows are durable; a search that begins later finds them by their words. Vectors
// are made in the background, and follow. Forget says nil once rows are in no file.
//
// # Goroutines
//
// With an embedder: one that makes vectors while some are missing, one for each question that is
// being embedded, and one for each search that compares vectors, which may first have to read
// them. They block on the embedder and the disk, and end with what they do; Close ends them, and
// waits.
package memory
