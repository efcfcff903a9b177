// Package filechanges computes with the changes that tool calls and reverts made to the files of
// worktrees. [Net] returns their net effect, [Inverse] the changes that undo them, and [Conflicts]
// the files that something else changed in between.
//
// # Decisions
//
// The package reads no disk. A file is named by the root of its worktree and a path below it, and
// its content by a hash. So two states are equal if their values are, and the results are the same
// when a rollout is loaded again.
package filechanges
