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
// The marks at the begin and the end can be missing, and a fence of Markdown or a here-document can be around the
// patch. Hunks and headers can have the form of a unified diff. docs/patches.md has the rules.
//
// # Matching
//
// Hunks have no line numbers. Each is searched after the previous one, and after the line that its @@ names. Lines
// are compared exactly at first. If nothing matches, the comparison ignores trailing white space, then all
// surrounding white space, then the difference between typographic and ASCII dashes, quotes and spaces, then the form
// of Unicode. The last comparison must match at one place only. If a hunk has the numbers of a unified diff, they
// choose between several places.
//
// # Names
//
// A file with exactly the name of the patch comes first. If there is none, a name without quotes, with slashes
// for backslashes, or in another form of Unicode counts, if one such file exists. Names are checked after that.
//
// # Encodings and line endings
//
// A file is text in UTF-8, in UTF-16 with a byte order mark, or in an unknown encoding that contains ASCII. Lines
// that a patch does not change keep their bytes. A byte order mark is not part of the first line. A line that
// replaces another gets its ending; other added lines get that of the line before. The file ends with a newline if it
// did so before. A hunk of added lines only applies at the end of the file.
//
// # Decisions
//
// The package accepts the patches that the reference implementation accepts, except new files with a backslash in
// their name. It rejects a patch with which that one would lose a file. It accepts more, where a patch has one
// meaning.
//
// A patch without its end mark can be the beginning of a longer one. It is applied if the model has ended the answer
// itself, and the last line is complete and can be the last one. Otherwise it is rejected, because half of a patch
// is worse than none.
//
// Lines are added to a file of unknown encoding in ASCII only. A wrong guess of the encoding would write wrong
// characters without an error.
//
// An error shows the most similar lines of the file, so that the model can correct the patch
// without another read.
package patch
