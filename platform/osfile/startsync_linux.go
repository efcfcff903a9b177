package osfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// StartSync makes the system begin to store a part of a file, so that a later sync takes less time.
// It makes nothing durable, and returns before the part is stored.
func StartSync(file *os.File, offset, size int64) {
	_ = unix.SyncFileRange(int(file.Fd()), offset, size, unix.SYNC_FILE_RANGE_WRITE) // the sync returns the error
}
