// Package memory stores summaries of items that left the contexts of threads, and pieces of code, and
// searches them.
//
// # Files
//
// memory.jsonl in the home is the source of truth: one [Row] per line, appended in one write under the
// lock of memory.jsonl.lock, and synced. A line {"forget":[ids]} deletes earlier rows. A rewrite
// follows it and removes them from the disk. A torn last line is ignored. A bad line in the middle is
// kept and skipped.
//
// memory.sqlite is built from it and can be deleted. Each search first reads the new lines. The
// database stores the offset up to which it has read, and a checksum of the text before it. If they do
// not match, it reads the whole file again. A database of version 2 is upgraded. A damaged database, or
// one of another version, is renamed to ".damaged". Code is in the database only, because it can be
// indexed again. No file is created or opened before it is needed, and a read of an empty memory
// creates none.
//
// # Search
//
// Texts are indexed by words: lower case, stemmed, identifiers whole and in parts, and scripts without
// spaces by pairs of characters. BM25 proposes rows with words of the question, and rows with words that
// are similar to them. Then these rows are read and scored: a similar word counts less than the word
// itself, and a word in a title counts twice. With an [Embedder], vectors are compared as well.
// Reciprocal rank fusion merges both rankings. A search waits for the vector of its query for a short
// time only, because words alone give useful results.
//
// # Order
//
// Append returns nil after the rows are durable. Later searches find them by their words. Vectors
// follow in the background. Forget returns nil after the rows are in no file.
//
// # Goroutines
//
// With an embedder: one computes missing vectors, one runs for each query that is being embedded, and
// one for each search that compares vectors, because it may read them first. They block on the
// embedder and the disk, and end with their work. Close cancels them and waits.
package memory
