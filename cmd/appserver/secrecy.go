package main

import "golang.org/x/sys/unix"

// keepSecrets closes this process's environment, which holds keys of providers, and
// its memory to other processes of the same user, the agent's commands among them.
// Processes of root are not kept out.
func keepSecrets() {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // fails on no kernel that knows it
}
