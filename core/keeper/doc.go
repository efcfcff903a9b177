// Package keeper keeps what left the contexts of threads in the memory, as summaries, and
// finds it again.
package keeper
