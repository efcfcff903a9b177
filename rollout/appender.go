package rollout

import "io"

// appender writes lines at the end of a file that was opened with O_APPEND. Each append is all
// or nothing.
type appender struct {
	file File
	// validSize is the size without the bytes of failed appends.
	validSize int64
	// torn is set if the file may be longer than validSize.
	torn bool
	// unterminated is set if the last valid byte is not LF.
	unterminated bool
}

// append writes whole lines and then calls commit, which makes them durable. commit may be
// nil. After an error it truncates the file to validSize.
func (a *appender) append(lines []byte, commit func() error) error {
	if err := a.recover(); err != nil {
		return err
	}
	if a.unterminated {
		lines = append([]byte{'\n'}, lines...)
	}
	err := a.write(lines)
	if err == nil && commit != nil {
		err = commit()
	}
	if err != nil {
		a.torn = true
		_ = a.truncate() // the next append tries again
		return err
	}
	a.validSize += int64(len(lines))
	a.unterminated = false
	return nil
}

func (a *appender) write(lines []byte) error {
	n, err := a.file.Write(lines)
	if err == nil && n < len(lines) {
		err = io.ErrShortWrite
	}
	return err
}

// recover removes the bytes of a failed append. If the file cannot be truncated, it keeps
// them, and the next append terminates them with LF.
func (a *appender) recover() error {
	if !a.torn || a.truncate() == nil {
		return nil
	}
	info, err := a.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() > a.validSize {
		a.validSize, a.unterminated = info.Size(), true
	}
	a.torn = false
	return nil
}

func (a *appender) truncate() error {
	err := a.file.Truncate(a.validSize)
	if err == nil {
		a.torn = false
	}
	return err
}
