//go:build unix

package worktree

import "golang.org/x/sys/unix"

// stateOf returns the state of a file, without following a link.
func stateOf(name string) (fileState, error) {
	var st unix.Stat_t
	err := unix.Lstat(name, &st)
	return fileState{int64(st.Dev), int64(st.Ino), int64(st.Mode), st.Size, st.Mtim.Nano(), st.Ctim.Nano()}, err
}
