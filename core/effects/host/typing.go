package host

import (
	"encoding/base64"

	"appserver/core/effects/tool"
	"appserver/protocol"
)

// command returns a running command of a connection.
func (h *Host) command(to protocol.Caller, id string) (*command, error) {
	d, err := h.connection(to.Conn)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.commands[id]; c != nil {
		return c, nil
	}
	return nil, noCommand(id)
}

func noCommand(id string) error {
	return protocol.Refuse(protocol.KindCommandNotFound, "no active command/exec for process id %q", id)
}

// CommandExecWrite writes to a command. The response follows when the system has accepted the
// bytes, so that a client that waits writes no faster than the command reads.
func (h *Host) CommandExecWrite(to protocol.Caller, p *protocol.CommandExecWriteParams) error {
	if p.DeltaBase64 == nil && !p.CloseStdin {
		return protocol.InvalidParams("deltaBase64", "command/exec/write requires deltaBase64 or closeStdin")
	}
	var data []byte
	if p.DeltaBase64 != nil {
		var err error
		if data, err = base64.StdEncoding.Strict().DecodeString(*p.DeltaBase64); err != nil {
			return protocol.InvalidParams("deltaBase64", "invalid deltaBase64: %v", err)
		}
	}
	c, err := h.command(to, p.ProcessID)
	if err != nil {
		return err
	}
	if !c.hasInput {
		return protocol.Refuse(protocol.KindCommand, "stdin streaming is not enabled for this command/exec")
	}
	return c.later(len(data), func() { h.answer(to, protocol.Empty{}, c.write(data, p.CloseStdin)) })
}

// write writes when the command runs.
func (c *command) write(data []byte, end bool) error {
	input := c.awaitInput()
	if input == nil {
		return noCommand(c.id)
	}
	var err error
	if len(data) > 0 {
		_, err = input.Write(data)
	}
	if err == nil && end {
		err = input.Close()
	}
	if err != nil {
		return protocol.Refuse(protocol.KindCommand, "command %q does not read any more: %v", c.id, err)
	}
	return nil
}

// awaitInput waits until the command runs. It returns nil if the command has ended or never ran.
func (c *command) awaitInput() *tool.Input {
	<-c.begun
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.input
}

// later queues an operation that may block after the earlier ones.
func (c *command) later(bytes int, do func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting > 0 && c.waiting+bytes > maxTyped {
		return overloaded("command %q has not read %d bytes yet: wait for the answers to command/exec/write", c.id, c.waiting)
	}
	c.waiting += bytes
	c.typed = append(c.typed, func() {
		do()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.waiting -= bytes
	})
	if c.typing {
		return nil
	}
	c.typing = true
	return c.conn.host.run(c.catchUp)
}

// catchUp runs the queued operations.
func (c *command) catchUp() {
	for {
		c.mu.Lock()
		if len(c.typed) == 0 {
			c.typing = false
			c.mu.Unlock()
			return
		}
		do := c.typed[0]
		c.typed[0] = nil // it holds what was typed
		c.typed = c.typed[1:]
		c.mu.Unlock()
		do()
	}
}

// CommandExecResize sets the size of a command's terminal.
func (h *Host) CommandExecResize(to protocol.Caller, p *protocol.CommandExecResizeParams) error {
	if err := checkSize(p.Size); err != nil {
		return err
	}
	c, err := h.command(to, p.ProcessID)
	if err != nil {
		return err
	}
	if !c.tty {
		return protocol.Refuse(protocol.KindCommand, "failed to resize PTY: process is not attached to a PTY")
	}
	resize := func() { h.answer(to, protocol.Empty{}, c.resize(tool.Size(p.Size))) }
	select {
	case <-c.begun: // what is typed may wait long
		resize()
		return nil
	default:
		return c.later(0, resize)
	}
}

func (c *command) resize(s tool.Size) error {
	input := c.awaitInput()
	if input == nil {
		return noCommand(c.id)
	}
	if err := input.Resize(s); err != nil {
		return protocol.Refuse(protocol.KindCommand, "failed to resize PTY: %v", err)
	}
	return nil
}

// CommandExecTerminate ends a command. The answer does not wait for its end.
func (h *Host) CommandExecTerminate(to protocol.Caller, p *protocol.CommandExecTerminateParams) error {
	c, err := h.command(to, p.ProcessID)
	if err != nil {
		return err
	}
	c.cancel()
	h.Outbox.Reply(to, protocol.Empty{})
	return nil
}
