// Package faultfs provides file systems for tests of durability. [Mem] is a file system in
// memory that can simulate a crash. [Disk] makes chosen operations of another file system
// fail. Both are safe for concurrent use and start no goroutine.
package faultfs
