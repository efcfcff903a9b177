package osfile

// Identity identifies a file, also among files that are created after it was removed: they can get its number, but have
// another time of birth, unless that was in the same step of the file system's clock.
type Identity struct {
	Disk, File uint64
	// Born is in Unix nanoseconds, or 0 if the file system keeps no times of birth.
	Born int64
}
