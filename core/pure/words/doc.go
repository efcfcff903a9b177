// Package words takes texts apart into words, so that what is about the same has the same:
// identifiers and prose, and scripts without spaces.
package words
