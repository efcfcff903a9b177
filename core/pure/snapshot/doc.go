// Package snapshot writes and reads the parts of the snapshot of a thread. A snapshot consists of sections: a length
// and as many bytes. The owner of the state writes and reads them in one order.
//
// A [List] has a section for each block of its elements. It decodes a block at the first use of one of them, so a load
// decodes little of a long thread. [IDs] and [Positions] find elements by their ids without decoding them: IDs has one
// position for each id, Positions all positions of an id that can repeat. Both compare hashes of ids, so the caller
// compares the id of the element.
//
// The bytes of a snapshot stay in memory as long as anything that was read from it.
//
// The caller compares a snapshot with a checksum before it is read. An error of a [Reader] means that the snapshot has
// another form. A block that cannot be decoded later is a fault of the program, and a panic.
package snapshot
