package host

import (
	"context"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"appserver/core"
	"appserver/core/effects/tool"
	"appserver/protocol"
)

const (
	// defaultTimeout and defaultCap apply unless the command names others.
	defaultTimeout = 10 * time.Second
	defaultCap     = 1 << 20
	// maxKept is the maximum number of bytes of a stream in a response, also without a cap.
	maxKept = 16 << 20
	// maxCommands is the maximum number of running commands of a connection.
	maxCommands = 64
	// maxTyped is the maximum number of bytes that wait to be read by a command.
	maxTyped = 16 << 20
)

// command is a command that runs or is about to run.
type command struct {
	conn *connection
	id   string // the client's, or one of our own that no client can have
	// cancel ends it.
	cancel context.CancelFunc
	// hasInput is set if the client may write to the command.
	hasInput, tty, streamed bool
	out, err                capture
	// begun is closed when input is set, or it has ended.
	begun chan struct{}

	mu    sync.Mutex
	input *tool.Input
	ended bool
	// typed has the writes that wait for earlier ones, in all of so many bytes.
	typed   []func()
	waiting int
	typing  bool
}

// capture is one stream of a command's output: the kept bytes, or the number of bytes still to send.
type capture struct {
	name string
	// left is the number of bytes that may still be kept or sent, or -1 without a limit.
	left int64
	kept []byte
}

// CommandExec runs a command.
func (h *Host) CommandExec(to protocol.Caller, p *protocol.CommandExecParams) error {
	d, err := h.connection(to.Conn)
	if err != nil {
		return err
	}
	if err := checkExec(p); err != nil {
		return err
	}
	e, err := h.exec(p)
	if err != nil {
		return err
	}
	c := &command{
		conn: d, hasInput: p.StreamStdin || p.TTY, tty: p.TTY, streamed: p.StreamStdoutStderr || p.TTY,
		begun: make(chan struct{}),
		out:   newCapture(protocol.StreamStdout, p), err: newCapture(protocol.StreamStderr, p),
	}
	e.Output = c.output
	ctx, err := d.admit(c, to, p.ProcessID)
	if err != nil {
		return err
	}
	err = h.run(func() {
		exit := h.Runner.Exec(ctx, e, c.start)
		h.answer(to, c.end(exit), failure(exit))
	})
	if err != nil {
		c.end(tool.Exit{})
	}
	return err
}

func failure(exit tool.Exit) error {
	if exit.Failure == "" {
		return nil
	}
	return protocol.Internal(protocol.KindCommand, "failed to spawn command: %s", exit.Failure)
}

// checkExec rejects params that exclude each other.
func checkExec(p *protocol.CommandExecParams) error {
	streams := p.TTY || p.StreamStdin || p.StreamStdoutStderr
	switch {
	case len(p.Command) == 0:
		return protocol.InvalidParams("command", "command must not be empty")
	case streams && p.ProcessID == nil:
		return protocol.InvalidParams("processId", "command/exec tty or streaming requires a client-supplied processId")
	case p.OutputBytesCap != nil && p.DisableOutputCap:
		return protocol.InvalidParams("outputBytesCap", "command/exec cannot set both outputBytesCap and disableOutputCap")
	case p.TimeoutMs != nil && p.DisableTimeout:
		return protocol.InvalidParams("timeoutMs", "command/exec cannot set both timeoutMs and disableTimeout")
	case p.TimeoutMs != nil && *p.TimeoutMs < 0:
		return protocol.InvalidParams("timeoutMs", "command/exec timeoutMs must be non-negative, got %d", *p.TimeoutMs)
	case p.Size != nil && !p.TTY:
		return protocol.InvalidParams("size", "command/exec size requires tty: true")
	case p.Size != nil:
		return checkSize(*p.Size)
	}
	for name := range p.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return protocol.InvalidParams("env", "%q is no name of a variable", name)
		}
	}
	return nil
}

func checkSize(s protocol.CommandExecTerminalSize) error {
	if s.Rows == 0 || s.Cols == 0 {
		return protocol.InvalidParams("size", "command/exec size rows and cols must be greater than 0")
	}
	return nil
}

// exec returns the command for the runner.
func (h *Host) exec(p *protocol.CommandExecParams) (tool.Exec, error) {
	cwd := h.Cwd
	if p.Cwd != nil {
		if cwd = *p.Cwd; !filepath.IsAbs(cwd) {
			cwd = filepath.Join(h.Cwd, cwd)
		}
	}
	policy, err := h.policy(p, filepath.Clean(cwd))
	if err == nil {
		err = h.checkPolicy(policy)
	}
	if err == nil && h.CheckCwd != nil {
		err = h.CheckCwd(filepath.Clean(cwd))
	}
	if err != nil {
		return tool.Exec{}, err
	}
	e := tool.Exec{
		Command: core.Command{
			Argv: p.Command, Cwd: cwd, Workspace: cwd, Timeout: timeout(p), Sandbox: policy, Environment: h.Environment(),
			TTY: p.TTY,
		},
		Env: p.Env, Input: p.StreamStdin,
	}
	if p.Size != nil {
		e.Size = tool.Size(*p.Size)
	}
	return e, nil
}

// policy returns the sandbox policy of a command in cwd.
func (h *Host) policy(p *protocol.CommandExecParams, cwd string) (protocol.SandboxPolicy, error) {
	switch {
	case p.SandboxPolicy != nil && p.PermissionProfile != nil:
		return protocol.SandboxPolicy{},
			protocol.InvalidParams("permissionProfile", "`permissionProfile` cannot be combined with `sandboxPolicy`")
	case p.SandboxPolicy != nil:
		return *p.SandboxPolicy, nil
	case p.PermissionProfile == nil:
		return h.Policy(), nil
	}
	policy, err := h.Profile(*p.PermissionProfile, cwd)
	if err != nil {
		return policy, protocol.InvalidParams("permissionProfile", "`permissionProfile`: %v", err)
	}
	return policy, nil
}

// checkPolicy rejects a policy that cannot be enforced, because nobody can be asked for approval.
func (h *Host) checkPolicy(policy protocol.SandboxPolicy) error {
	if h.Runner == nil {
		return protocol.Refuse(protocol.KindCommand, "this server runs no commands")
	}
	if h.Permits != nil {
		if err := h.Permits(policy); err != nil {
			return err
		}
	}
	switch policy.SandboxPolicyVariant.(type) {
	case *protocol.DangerFullAccess, *protocol.ExternalSandbox:
		return nil
	}
	if h.Confined() {
		return nil
	}
	return protocol.Refuse(protocol.KindNotConfined,
		"commands are not confined here, so this one was not run: pass sandboxPolicy {\"type\":\"dangerFullAccess\"} to run it all the same; server/diagnostics tells why")
}

func timeout(p *protocol.CommandExecParams) time.Duration {
	switch {
	case p.DisableTimeout:
		return 0
	case p.TimeoutMs == nil:
		return defaultTimeout
	}
	ms := min(*p.TimeoutMs, int64(time.Duration(1<<62)/time.Millisecond))
	return max(time.Duration(ms)*time.Millisecond, 1) // 0 would be none
}

func newCapture(name string, p *protocol.CommandExecParams) capture {
	c := capture{name: name, left: defaultCap}
	switch {
	case p.OutputBytesCap != nil:
		c.left = int64(min(*p.OutputBytesCap, 1<<62))
	case p.DisableOutputCap:
		c.left = -1
	}
	if !p.StreamStdoutStderr && !p.TTY && (c.left < 0 || c.left > maxKept) {
		c.left = maxKept
	}
	return c
}

// admit registers a command under its name, and returns a context that ends with the connection.
func (d *connection) admit(c *command, to protocol.Caller, id *string) (context.Context, error) {
	c.id = fmt.Sprintf("\xff%d", to.Request) // no JSON has it: it is not UTF-8
	if id != nil {
		c.id = *id
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.commands[c.id] != nil:
		return nil, protocol.Refuse(protocol.KindCommandExists, "duplicate active command/exec process id: %q", c.id)
	case len(d.commands) >= maxCommands:
		return nil, overloaded("%d commands run: end one with command/exec/terminate", maxCommands)
	}
	d.commands[c.id] = c
	ctx, cancel := context.WithCancel(d.ctx)
	c.cancel = cancel
	return ctx, nil
}

func (c *command) start(input *tool.Input) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.input = input
	close(c.begun)
}

// output keeps a piece of output, or sends it when the client has room. Each stream has its own
// capture.
func (c *command) output(stderr bool, piece []byte) {
	stream := &c.out
	if stderr {
		stream = &c.err
	}
	if stream.left == 0 {
		return
	}
	full := stream.left > 0 && int64(len(piece)) >= stream.left
	if full {
		piece = piece[:stream.left]
	}
	if stream.left > 0 {
		stream.left -= int64(len(piece))
	}
	if !c.streamed {
		c.keep(stream, piece)
		return
	}
	c.conn.awaitRoom()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.conn.host.Outbox.Notify(c.conn.conn, protocol.CommandExecOutputDeltaNotification{
			ProcessID: c.id, Stream: stream.name, DeltaBase64: base64.StdEncoding.EncodeToString(piece), CapReached: full,
		})
	}
}

func (c *command) keep(stream *capture, piece []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		stream.kept = append(stream.kept, piece...)
	}
}

// end removes a command, and returns the response.
func (c *command) end(exit tool.Exit) protocol.CommandExecResponse {
	c.cancel()
	c.conn.mu.Lock()
	delete(c.conn.commands, c.id)
	c.conn.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.input == nil {
		close(c.begun)
	}
	return protocol.CommandExecResponse{ExitCode: int32(exit.Code), Stdout: text(c.out.kept), Stderr: text(c.err.kept)}
}

// text returns the output as text, with U+FFFD for bytes that are not UTF-8.
func text(kept []byte) string { return strings.ToValidUTF8(string(kept), "\uFFFD") }
