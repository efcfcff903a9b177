// Package patch parses and applies patches in the apply_patch grammar, which models are trained on:
//
//	*** Begin Patch
//	*** Add File: NAME
//	+a line of the new file
//	*** Delete File: NAME
//	*** Update File: NAME
//	*** Move to: NAME
//	@@ a line before the hunk
//	 an unchanged line
//	-a removed line
//	+an added line
//	*** End of File
//	*** End Patch
//
// [Parse] reads a patch. [Patch.Apply] computes its effect on files, and [Diff] shows the
// difference of two texts. The package is pure: it reads files through [Files], and the caller
// writes them. A patch applies as a whole or not at all.
//
// # Matching
//
// Hunks have no line numbers. Each is searched after the previous one, and after the line that its
// @@ names. Lines are compared exactly at first. If nothing matches, the comparison ignores
// trailing white space, then all surrounding white space, then the difference between typographic
// and ASCII dashes, quotes and spaces.
//
// # Line endings
//
// Unchanged lines keep the text and the ending of the file. Added lines get the ending of the
// file's first line, and a changed file ends with a newline. A hunk of added lines only applies at
// the end of the file.
//
// # Decisions
//
// The package accepts the patches that the reference implementation accepts. It rejects a patch
// with which that one would lose a file.
//
// An error shows the most similar lines of the file, so that the model can correct the patch
// without another read.
package patch
