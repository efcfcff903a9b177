// Package snapshot writes and reads the parts of the snapshot of a thread. A snapshot is a row of sections. A
// [List] has a section for each block of its elements and decodes a block at the first use of one of them, so that
// the load of a long thread does not depend on its length. [IDs] find the positions of ids without the elements.
//
// The content of a snapshot is compared with a checksum before it is read. A block that cannot be decoded is
// therefore a fault of the program, and a panic.
package snapshot
