// Package faultfs has file systems for tests of durability: [Mem] forgets what was
// not synced when it crashes, and [Disk] lets chosen operations of another file
// system fail. Both may be used by several goroutines; neither starts any.
package faultfs
