// Package snapshot writes and reads the parts of the snapshot of a thread. A snapshot consists of sections: a length
// and as many bytes. A [List] has a section for each block of its elements. It decodes a block at the first use of one
// of them, so a load decodes little of a long thread. [IDs] and [Hashes] find the positions of ids without the
// elements.
//
// The bytes of a snapshot stay in memory as long as a list or ids that were read from it.
//
// The caller compares a snapshot with a checksum before it is read. A block that cannot be decoded is therefore a
// fault of the program, and a panic.
package snapshot
