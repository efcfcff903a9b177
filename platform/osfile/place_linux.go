package osfile

import (
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// kernelDisks are the types of file systems whose files the kernel makes up.
var kernelDisks = []int64{unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC,
	unix.SECURITYFS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.BPF_FS_MAGIC, unix.EFIVARFS_MAGIC,
	unix.SELINUX_MAGIC, unix.DEVPTS_SUPER_MAGIC}

func isKernelFile(f *os.File) bool {
	var st unix.Statfs_t
	err := unix.Fstatfs(int(f.Fd()), &st)
	return err != nil || slices.Contains(kernelDisks, int64(st.Type))
}

// pathOf returns the path of an open file, without links.
func pathOf(f *os.File) (string, error) {
	return os.Readlink("/proc/self/fd/" + strconv.Itoa(int(f.Fd())))
}
