package disk

import "io"

// Appender writes lines at the end of a file that was opened with O_APPEND. Each append is all
// or nothing.
type Appender struct {
	File File
	// Size is the size in bytes without those of failed appends.
	Size int64
	// Torn is set if the file may be longer than Size.
	Torn bool
	// Unterminated is set if the last byte before Size is not LF.
	Unterminated bool
}

// Append writes whole lines and then calls commit, which makes them durable. commit may be
// nil. After an error it truncates the file to Size.
func (a *Appender) Append(lines []byte, commit func() error) error {
	if err := a.recover(); err != nil {
		return err
	}
	if a.Unterminated {
		lines = append([]byte{'\n'}, lines...)
	}
	err := a.write(lines)
	if err == nil && commit != nil {
		err = commit()
	}
	if err != nil {
		a.Torn = true
		_ = a.Truncate() // the next append tries again
		return err
	}
	a.Size += int64(len(lines))
	a.Unterminated = false
	return nil
}

func (a *Appender) write(lines []byte) error {
	n, err := a.File.Write(lines)
	if err == nil && n < len(lines) {
		err = io.ErrShortWrite
	}
	return err
}

// recover removes the bytes of a failed append. If the file cannot be truncated, it keeps
// them, and the next append terminates them with LF.
func (a *Appender) recover() error {
	if !a.Torn || a.Truncate() == nil {
		return nil
	}
	info, err := a.File.Stat()
	if err != nil {
		return err
	}
	if info.Size() > a.Size {
		a.Size, a.Unterminated = info.Size(), true
	}
	a.Torn = false
	return nil
}

// Truncate removes bytes after Size.
func (a *Appender) Truncate() error {
	err := a.File.Truncate(a.Size)
	if err == nil {
		a.Torn = false
	}
	return err
}
