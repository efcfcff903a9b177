// Package database opens SQLite files that can be rebuilt from other files, such as the index
// of rollouts. A file that cannot be used is moved aside and replaced by an empty one.
//
// A file belongs to a [Kind] if its application_id and user_version match. A file of another
// program, of another version, or a damaged one is renamed with the suffix ".damaged". The
// file, and the two files that SQLite keeps beside it, are readable by their owner only.
//
// One connection writes and two read. No other code of the process may open the file
// meanwhile: closing it would release the POSIX locks of SQLite.
//
// Planning a query can take longer than running it. [Statements] plans each text once. A limit that varies is
// written as LIMIT +?, because SQLite plans a statement with LIMIT ? again for each value.
//
// # Errors
//
// [IsUnusable], [IsDamaged] and [IsBusy] classify errors of SQLite. [ErrInUse] reports an
// [Erase] that is not complete.
package database
