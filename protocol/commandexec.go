package protocol

// CommandExecParams runs a command, an argument vector, without a thread. The response follows the end
// of the command. The end of the connection ends the command.
type CommandExecParams struct {
	Command []string `json:"command"`
	// ProcessID is the connection's own name for it. Without one it can neither be
	// streamed nor be written to.
	ProcessID *string `json:"processId,omitempty"`
	// TTY runs it on a terminal, with both streams.
	TTY bool `json:"tty,omitempty"`
	// StreamStdin lets it read what command/exec/write writes; else its input is empty.
	StreamStdin bool `json:"streamStdin,omitempty"`
	// StreamStdoutStderr sends the output in notifications, and not in the response.
	StreamStdoutStderr bool `json:"streamStdoutStderr,omitempty"`
	// OutputBytesCap is the maximum number of bytes of each stream to send. The default is 1 MiB.
	OutputBytesCap   *uint64 `json:"outputBytesCap,omitempty"`
	DisableOutputCap bool    `json:"disableOutputCap,omitempty"`
	DisableTimeout   bool    `json:"disableTimeout,omitempty"`
	// TimeoutMs ends it, after ten seconds by default.
	TimeoutMs *int64 `json:"timeoutMs,omitempty"`
	// Cwd is the server's own by default.
	Cwd *string `json:"cwd,omitempty"`
	// Env are variables to set, or with null to leave out.
	Env map[string]*string `json:"env,omitempty"`
	// Size is the size of the terminal.
	Size *CommandExecTerminalSize `json:"size,omitempty"`
	// SandboxPolicy is the configured one by default.
	SandboxPolicy *SandboxPolicy `json:"sandboxPolicy,omitempty"`
	// PermissionProfile names one of permissionProfile/list in its place.
	PermissionProfile *string `json:"permissionProfile,omitempty"`
}

// CommandExecTerminalSize is in characters.
type CommandExecTerminalSize struct {
	Rows uint16 `json:"rows"`
	Cols uint16 `json:"cols"`
}

// CommandExecResponse is the result of a command. The exit code is 124 after a timeout, and 128 plus
// the signal if a signal ended the command. The output is empty if it was streamed.
type CommandExecResponse struct {
	ExitCode int32  `json:"exitCode"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
}

// CommandExecWriteParams writes to a command's input, in base64, closes it, or both.
type CommandExecWriteParams struct {
	ProcessID   string  `json:"processId"`
	DeltaBase64 *string `json:"deltaBase64,omitempty"`
	CloseStdin  bool    `json:"closeStdin,omitempty"`
}

// CommandExecResizeParams gives a command's terminal another size.
type CommandExecResizeParams struct {
	ProcessID string                  `json:"processId"`
	Size      CommandExecTerminalSize `json:"size"`
}

// CommandExecTerminateParams ends a command.
type CommandExecTerminateParams struct {
	ProcessID string `json:"processId"`
}

// CommandExecOutputDeltaNotification is a piece of a command's output, in base64.
type CommandExecOutputDeltaNotification struct {
	ProcessID   string `json:"processId"`
	Stream      string `json:"stream" oneof:"stdout stderr"`
	DeltaBase64 string `json:"deltaBase64"`
	// CapReached is set if the rest of the stream is not sent.
	CapReached bool `json:"capReached"`
}

// The values of CommandExecOutputDeltaNotification.Stream. A terminal has the first only.
const (
	StreamStdout = "stdout"
	StreamStderr = "stderr"
)

// NotificationMethod is command/exec/outputDelta.
func (CommandExecOutputDeltaNotification) NotificationMethod() string {
	return "command/exec/outputDelta"
}
