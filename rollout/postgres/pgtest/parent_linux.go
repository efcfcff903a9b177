package pgtest

import "syscall"

// endWithParent makes a process end with the thread that starts it.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGQUIT }
