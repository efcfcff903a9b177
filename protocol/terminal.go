package protocol

// ThreadShellCommandParams runs a script in the user's shell, in the thread's working
// directory and outside of the sandbox. TimeoutMs ends it after so many milliseconds; an
// hour by default, 0 at once.
type ThreadShellCommandParams struct {
	ThreadID  string `json:"threadId"`
	Command   string `json:"command"`
	TimeoutMs *int64 `json:"timeoutMs,omitempty"`
}

// ThreadBackgroundTerminalsListParams requests the background commands of a thread. One page has all.
// Cursor and Limit have no effect.
type ThreadBackgroundTerminalsListParams struct {
	ThreadID string  `json:"threadId"`
	Cursor   *string `json:"cursor,omitempty"`
	Limit    *uint32 `json:"limit,omitempty"`
}

// ThreadBackgroundTerminalsListResponse is the list, the oldest first. NextCursor is always
// null.
type ThreadBackgroundTerminalsListResponse struct {
	Data       []ThreadBackgroundTerminal `json:"data"`
	NextCursor *string                    `json:"nextCursor"`
}

// ThreadBackgroundTerminal is a command that runs in the background, and the item that
// shows it. ProcessID names it here, OsPid in the operating system, null before it runs.
// CPUPercent and RssKb are always null.
type ThreadBackgroundTerminal struct {
	ItemID     string   `json:"itemId"`
	ProcessID  string   `json:"processId"`
	Command    string   `json:"command"`
	Cwd        string   `json:"cwd"`
	OsPid      *uint32  `json:"osPid"`
	CPUPercent *float64 `json:"cpuPercent"`
	RssKb      *uint64  `json:"rssKb"`
}

// ThreadBackgroundTerminalsTerminateParams ends one of them.
type ThreadBackgroundTerminalsTerminateParams struct {
	ThreadID  string `json:"threadId"`
	ProcessID string `json:"processId"`
}

// ThreadBackgroundTerminalsTerminateResponse reports whether the command existed.
type ThreadBackgroundTerminalsTerminateResponse struct {
	Terminated bool `json:"terminated"`
}

// ThreadBackgroundTerminalsCleanParams ends all of them.
type ThreadBackgroundTerminalsCleanParams struct {
	ThreadID string `json:"threadId"`
}

// TerminalInteractionNotification reports that the model typed into a background command, or waits for
// it. The turn is the current one, not the turn of the item.
type TerminalInteractionNotification struct {
	ThreadID  string `json:"threadId"`
	TurnID    string `json:"turnId"`
	ItemID    string `json:"itemId"`
	ProcessID string `json:"processId"`
	Stdin     string `json:"stdin"`
}

// NotificationMethod is the method.
func (TerminalInteractionNotification) NotificationMethod() string {
	return "item/commandExecution/terminalInteraction"
}
