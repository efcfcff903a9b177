// Package token counts the tokens of text as a model would.
//
// # Contract
//
// A count is that of the model's byte-pair encoding, o200k_base or cl100k_base,
// over the whole text. Text is text: "<|endoftext|>" counts as the characters it
// is written with, never as the special token. Each byte that is not UTF-8 counts as
// U+FFFD, which is what a provider gets to see of it. Each U+007F counts as one.
//
// The counts are those of the library over the whole text, which are the models' but
// for one thing: a line of nothing but blanks, between line ends, counts as if each
// line end were the last of the white space, which is a token or so too many.
//
// Two estimates are left. An unbroken run, of letters, of signs or of white space,
// of more than 16 KiB is counted in parts of at most 16 KiB, and each joint can
// change the count by a few tokens. Text that the library refuses, of which no case
// is known, counts as a token for each four bytes begun.
//
// The time is linear in the length of the text, whatever the text.
//
// # How
//
// An encoding first splits text by a pattern into matches, and then merges the bytes
// of each match into tokens, so the counts of the matches add up. The library's
// pattern matcher is slow. So text is cut where every text has an end of a match
// (file boundary.go tells where, and why), and the counts of short chunks are kept.
//
// # Memory
//
// The tables of an encoding, 7 MB for o200k_base and 4 MB for cl100k_base, are loaded
// when they are first needed and stay for the life of the process. The counts that a
// [Counter] keeps take at most 6 MB for each encoding.
//
// # Goroutines
//
// The package starts none.
package token
