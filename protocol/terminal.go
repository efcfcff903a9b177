package protocol

// ThreadShellCommandParams runs a script in the user's shell, in the thread's working directory and
// outside of the sandbox.
type ThreadShellCommandParams struct {
	ThreadID string `json:"threadId"`
	Command  string `json:"command"`
	// TimeoutMs is the time limit in milliseconds. The default is one hour. 0 ends the script at
	// once.
	TimeoutMs *int64 `json:"timeoutMs,omitempty"`
}

// ThreadBackgroundTerminalsListParams requests the background commands of a thread. Cursor and
// Limit have no effect: one page has all.
type ThreadBackgroundTerminalsListParams struct {
	ThreadID string  `json:"threadId"`
	Cursor   *string `json:"cursor,omitempty"`
	Limit    *uint32 `json:"limit,omitempty"`
}

// ThreadBackgroundTerminalsListResponse lists the background commands, the oldest first.
type ThreadBackgroundTerminalsListResponse struct {
	Data []ThreadBackgroundTerminal `json:"data"`
	// NextCursor is always null.
	NextCursor *string `json:"nextCursor"`
}

// ThreadBackgroundTerminal is a command that runs in the background. CPUPercent and RssKb are
// always null.
type ThreadBackgroundTerminal struct {
	// ItemID is the item that shows the command.
	ItemID string `json:"itemId"`
	// ProcessID is the id for thread/backgroundTerminals/terminate.
	ProcessID string `json:"processId"`
	Command   string `json:"command"`
	Cwd       string `json:"cwd"`
	// OsPid is the id of the operating system, or null before the command runs.
	OsPid      *uint32  `json:"osPid"`
	CPUPercent *float64 `json:"cpuPercent"`
	RssKb      *uint64  `json:"rssKb"`
}

// ThreadBackgroundTerminalsTerminateParams ends a background command.
type ThreadBackgroundTerminalsTerminateParams struct {
	ThreadID  string `json:"threadId"`
	ProcessID string `json:"processId"`
}

// ThreadBackgroundTerminalsTerminateResponse is the result of thread/backgroundTerminals/terminate.
type ThreadBackgroundTerminalsTerminateResponse struct {
	// Terminated is false if the command did not exist.
	Terminated bool `json:"terminated"`
}

// ThreadBackgroundTerminalsCleanParams ends all background commands of a thread.
type ThreadBackgroundTerminalsCleanParams struct {
	ThreadID string `json:"threadId"`
}

// TerminalInteractionNotification reports that the model typed into a background command, or waits
// for it.
type TerminalInteractionNotification struct {
	ThreadID string `json:"threadId"`
	// TurnID is the current turn, not the turn of the item.
	TurnID    string `json:"turnId"`
	ItemID    string `json:"itemId"`
	ProcessID string `json:"processId"`
	Stdin     string `json:"stdin"`
}

// NotificationMethod returns "item/commandExecution/terminalInteraction".
func (TerminalInteractionNotification) NotificationMethod() string {
	return "item/commandExecution/terminalInteraction"
}
