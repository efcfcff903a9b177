package rollout

import "io"

// appender writes records at the end of a file opened with O_APPEND, each call's all
// or none.
type appender struct {
	file File
	// good is the length that stands; a failed append goes back to it.
	validSize int64
	// torn is set while the file may hold more than good bytes.
	torn bool
	// open is set while the last of the good bytes is not LF.
	unterminated bool
}

// append writes whole lines and then, unless it is nil, calls commit to make them
// durable.
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

// heal makes the end of the file one that an append can follow.
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
