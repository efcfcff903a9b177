// Package token counts the tokens of text like a model.
//
// # Contract
//
// A count is the length of the model's byte-pair encoding, o200k_base or cl100k_base, of the whole
// text. Special tokens are plain text: "<|endoftext|>" counts as its characters. Each byte that is not
// UTF-8 counts as U+FFFD, because providers receive that.
//
// One estimate remains. An unbroken run of letters, of signs or of white space of more than 16 KiB is
// counted in parts of at most 16 KiB, and each joint can change the count by a few tokens.
//
// The time is linear in the length of the text, for every text.
//
// # How
//
// An encoding first splits text by a pattern into matches, and then merges the bytes of each match
// into tokens. So the counts of the matches add up, and the counts of short matches are cached.
//
// The patterns need a lookahead, which package regexp does not have. A library for them is slower than the code of
// pattern.go, and takes 0.6 MB of the program. Tests compare both.
//
// The tokens are embedded as text by rank. The library tiktoken-go has them as map literals, which take four times the
// room in the program and twice the memory. Tests compare the counts with this library.
//
// # Memory
//
// The tables of an encoding, 3 MB for o200k_base and 2 MB for cl100k_base, are loaded on first use and
// stay for the life of the process. The counts that a [Counter] caches take at most 6 MB for each
// encoding.
//
// # Goroutines
//
// [Counter.CountAll] starts one, which blocks on the texts. It ends before CountAll returns, or soon after the texts
// have panicked.
package token
