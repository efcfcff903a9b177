// Package database opens SQLite files that can be made again: each holds nothing that other
// files do not say, so one that cannot be used is moved aside and another begun.
//
// A file is ours by its application id, and fits by its version. One of another version, of
// another program, or that is damaged gets ".damaged" behind its name. The file is readable
// by its owner alone; so are the two that SQLite keeps beside it.
//
// One connection writes, some read. Nobody may open the file by other means while it is open
// here: closing that would end SQLite's locks.
package database
