// Package patch reads and applies patches in the grammar that models are taught for
// apply_patch:
//
//	*** Begin Patch
//	*** Add File: NAME
//	+a line of the new file
//	*** Delete File: NAME
//	*** Update File: NAME
//	*** Move to: NAME
//	@@ a line before the hunk
//	 a line that stays
//	-a line that goes
//	+a line that comes
//	*** End of File
//	*** End Patch
//
// Hunks have no line numbers: each is looked for behind the one before it, and behind
// the line that its @@ names. Lines are compared as they are; where that finds
// nothing, without white space at their ends, then without any around them, then with
// typographic dashes, quotes and spaces as plain ones. Lines that stay keep the
// file's own text and line ending; new ones get the ending of the file's first line,
// and a file that is changed ends with a newline. A hunk of added lines alone goes to
// the end of the file. What is accepted is what the reference implementation accepts;
// where it would lose a file, this package refuses.
//
// The package is pure: files are read through Files, and writing them is left to the
// caller, who is told of every file what it was and what it is to be. A patch applies
// as a whole or not at all.
package patch
