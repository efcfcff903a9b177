package protocol

// CommandExecParams runs a command without a thread. The response follows the end of the command.
// The end of the connection ends the command.
type CommandExecParams struct {
	// Command is the program and its arguments.
	Command []string `json:"command"`
	// ProcessID is a name of the command, unique within the connection. It is required to stream
	// the output and to write to the input.
	ProcessID *string `json:"processId,omitempty"`
	// TTY runs the command on a terminal, with input and output streamed.
	TTY bool `json:"tty,omitempty"`
	// StreamStdin keeps the input open for command/exec/write. By default, the input is empty.
	StreamStdin bool `json:"streamStdin,omitempty"`
	// StreamStdoutStderr sends the output in notifications instead of the response.
	StreamStdoutStderr bool `json:"streamStdoutStderr,omitempty"`
	// OutputBytesCap is the maximum number of bytes of each stream to send. The default is 1 MiB.
	OutputBytesCap *uint64 `json:"outputBytesCap,omitempty"`
	// DisableOutputCap removes the limit of the output.
	DisableOutputCap bool `json:"disableOutputCap,omitempty"`
	// DisableTimeout removes the time limit.
	DisableTimeout bool `json:"disableTimeout,omitempty"`
	// TimeoutMs is the time limit in milliseconds. The default is 10,000.
	TimeoutMs *int64 `json:"timeoutMs,omitempty"`
	// Cwd is the working directory. The default is the server's own.
	Cwd *string `json:"cwd,omitempty"`
	// Env has variables to set in the environment of the command, or to remove if the value is
	// null.
	Env map[string]*string `json:"env,omitempty"`
	// Size is the size of the terminal.
	Size *CommandExecTerminalSize `json:"size,omitempty"`
	// SandboxPolicy limits the command. The default is the configured policy.
	SandboxPolicy *SandboxPolicy `json:"sandboxPolicy,omitempty"`
	// PermissionProfile is the id of a profile of permissionProfile/list, instead of SandboxPolicy.
	PermissionProfile *string `json:"permissionProfile,omitempty"`
}

// CommandExecTerminalSize is the size of a terminal in characters.
type CommandExecTerminalSize struct {
	Rows uint16 `json:"rows"`
	Cols uint16 `json:"cols"`
}

// CommandExecResponse is the result of a command. The output is empty if it was streamed.
type CommandExecResponse struct {
	// ExitCode is 124 after a timeout, and 128 plus the signal if a signal ended the command.
	ExitCode int32  `json:"exitCode"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
}

// CommandExecWriteParams writes to a command's input, closes it, or both.
type CommandExecWriteParams struct {
	ProcessID string `json:"processId"`
	// DeltaBase64 is the data to write, in base64.
	DeltaBase64 *string `json:"deltaBase64,omitempty"`
	// CloseStdin closes the input after the data.
	CloseStdin bool `json:"closeStdin,omitempty"`
}

// CommandExecResizeParams sets the size of a command's terminal.
type CommandExecResizeParams struct {
	ProcessID string                  `json:"processId"`
	Size      CommandExecTerminalSize `json:"size"`
}

// CommandExecTerminateParams ends a command.
type CommandExecTerminateParams struct {
	ProcessID string `json:"processId"`
}

// CommandExecOutputDeltaNotification has a piece of a command's output.
type CommandExecOutputDeltaNotification struct {
	ProcessID string `json:"processId"`
	// Stream is stdout for a command on a terminal.
	Stream string `json:"stream" oneof:"stdout stderr"`
	// DeltaBase64 is the piece, in base64.
	DeltaBase64 string `json:"deltaBase64"`
	// CapReached is set if the rest of the stream is not sent.
	CapReached bool `json:"capReached"`
}

// The values of CommandExecOutputDeltaNotification.Stream. A terminal has the first only.
const (
	StreamStdout = "stdout"
	StreamStderr = "stderr"
)

// NotificationMethod returns "command/exec/outputDelta".
func (CommandExecOutputDeltaNotification) NotificationMethod() string {
	return "command/exec/outputDelta"
}
