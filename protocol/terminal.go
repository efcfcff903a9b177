package protocol

// ThreadShellCommandParams runs a script in the user's shell, in the thread's working
// directory and outside of the sandbox. TimeoutMs ends it after so many milliseconds; an
// hour by default, 0 at once.
type ThreadShellCommandParams struct {
	ThreadID  string `json:"threadId"`
	Command   string `json:"command"`
	TimeoutMs *int64 `json:"timeoutMs,omitempty"`
}
