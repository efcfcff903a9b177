package protocol

import "fmt"

// Error codes of JSON-RPC 2.0, and one of the reference implementation.
const (
	CodeParseError     = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternalError  = -32603
	CodeOverloaded     = -32001
)

// Kind is the stable machine word of an error, in error.data.kind.
type Kind string

// The kinds of errors.
const (
	KindParseError         Kind = "parseError"
	KindInvalidRequest     Kind = "invalidRequest"
	KindMethodNotFound     Kind = "methodNotFound"
	KindInvalidParams      Kind = "invalidParams"
	KindInputTooLarge      Kind = "inputTooLarge"
	KindInternal           Kind = "internal"
	KindOverloaded         Kind = "overloaded"
	KindNotInitialized     Kind = "notInitialized"
	KindAlreadyInitialized Kind = "alreadyInitialized"
	KindShuttingDown       Kind = "shuttingDown"
	KindNotExperimental    Kind = "experimentalApiRequired"
	KindInvalidThreadID    Kind = "invalidThreadId"
	KindThreadNotFound     Kind = "threadNotFound"
	KindThreadNotLoaded    Kind = "threadNotLoaded"
	KindThreadLocked       Kind = "threadLocked"
	KindThreadArchived     Kind = "threadArchived"
	KindThreadInUse        Kind = "threadInUse"
	KindStaleOwner         Kind = "staleOwner"
	KindOwnerLost          Kind = "ownerLost"
	KindNoActiveTurn       Kind = "noActiveTurn"
	KindTurnMismatch       Kind = "turnMismatch"
	KindStaleTurn          Kind = "staleTurn"
	KindTurnActive         Kind = "turnActive"
	KindTurnNotFound       Kind = "turnNotFound"
	KindRolloutCorrupt     Kind = "rolloutCorrupt"
	KindRolloutUnreadable  Kind = "rolloutUnreadable"
	KindStorage            Kind = "storage"
	KindProviderNotFound   Kind = "providerNotFound"
	KindProviderNotReady   Kind = "providerNotReady"
	KindConfig             Kind = "config"
	KindPermissions        Kind = "permissions"
	KindConfigVersion      Kind = "configVersionConflict"
	KindConfigValidation   Kind = "configValidationError"
	KindConfigReadonly     Kind = "configLayerReadonly"
	KindConfigPath         Kind = "configPathNotFound"
	KindCwdNotFound        Kind = "cwdNotFound"
	KindStaleRevision      Kind = "staleRevision"
	KindItemNotFound       Kind = "itemNotFound"
	KindNotReplaceable     Kind = "notReplaceable"
	KindNotReturnable      Kind = "notReturnable"
	KindNothingToUndo      Kind = "nothingToUndo"
	KindNothingToRedo      Kind = "nothingToRedo"
	KindRequestNotFound    Kind = "requestNotFound"
	KindRevisionNotFound   Kind = "revisionNotFound"
	KindRevertBarrier      Kind = "revertBarrier"
	KindBackupMismatch     Kind = "backupMismatch"
	KindTrimPointNotFound  Kind = "trimPointNotFound"
	KindNothingToCompact   Kind = "nothingToCompact"
	KindDraftExpired       Kind = "draftExpired"
	KindDraftCancelled     Kind = "draftCancelled"
	KindSlashCommand       Kind = "slashCommand"
	KindIndexUnavailable   Kind = "indexUnavailable"
	KindMcpServer          Kind = "mcpServer"
	KindAccount            Kind = "account"
	KindCheckpointNotFound Kind = "checkpointNotFound"
	KindCheckpointConflict Kind = "checkpointConflict"
	KindCheckpointsOff     Kind = "checkpointsOff"
	KindWorktree           Kind = "worktree"
	KindMemoryUnavailable  Kind = "memoryUnavailable"
	KindFileNotFound       Kind = "fileNotFound"
	KindFileExists         Kind = "fileExists"
	KindFileType           Kind = "fileType"
	KindFileTooLarge       Kind = "fileTooLarge"
	KindFileAccess         Kind = "fileAccess"
	KindFile               Kind = "file"
	KindWatchExists        Kind = "watchExists"
	KindSearchNotFound     Kind = "searchNotFound"
	KindCommand            Kind = "command"
	KindCommandExists      Kind = "commandExists"
	KindCommandNotFound    Kind = "commandNotFound"
	KindNotConfined        Kind = "notConfined"
)

// Error is the error of a response: {"code": ..., "message": ..., "data": {"kind": ...}}.
type Error struct {
	// Code is a code of JSON-RPC 2.0, or -32001.
	Code int `json:"code"`
	// Message is a text for people. Clients of the reference implementation match the beginnings of
	// some messages.
	Message string     `json:"message"`
	Data    *ErrorData `json:"data,omitempty"`
}

// ErrorData identifies errors for programs, which must not depend on the words of messages.
type ErrorData struct {
	Kind Kind `json:"kind"`
	// Field is the dotted path of the wrong member: "clientInfo.version", "input.0.text". It is
	// absent if the params as a whole are wrong.
	Field string `json:"field,omitempty"`
	// TurnID is the active turn, the expected turn, or the last turn of the thread.
	TurnID string `json:"turnId,omitempty"`
	// CodexErrorInfo describes a turn that accepts no input.
	CodexErrorInfo *CodexErrorInfo `json:"codexErrorInfo,omitempty"`
	// InputErrorCode is input_too_large if the text of an input has more characters (ActualChars)
	// than the maximum (MaxChars).
	InputErrorCode string `json:"input_error_code,omitempty"`
	MaxChars       int    `json:"max_chars,omitempty"`
	ActualChars    int    `json:"actual_chars,omitempty"`
	// Revision is the current revision of the thread's context.
	Revision *int64 `json:"revision,omitempty"`
	// ConfigWriteErrorCode is the reason why the configuration was not written.
	ConfigWriteErrorCode string `json:"config_write_error_code,omitempty"`
	// Method is the method of a rejected slash command.
	Method string `json:"method,omitempty"`
	// Paths are the absolute paths of files that another program has changed.
	Paths []string `json:"paths,omitempty"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Refuse returns the error for a well-formed request that cannot be served in this state.
func Refuse(kind Kind, format string, args ...any) *Error {
	return &Error{CodeInvalidRequest, fmt.Sprintf(format, args...), &ErrorData{Kind: kind}}
}

// InvalidParams returns an error that names the wrong member. The message begins with "Invalid
// request: ", as in the reference implementation.
func InvalidParams(field, format string, args ...any) *Error {
	return &Error{CodeInvalidParams, "Invalid request: " + fmt.Sprintf(format, args...),
		&ErrorData{Kind: KindInvalidParams, Field: field}}
}

// InputTooLarge returns the error for an input with too much text.
func InputTooLarge(limit, actual int) *Error {
	return &Error{CodeInvalidParams, fmt.Sprintf("Input exceeds the maximum length of %d characters.", limit),
		&ErrorData{Kind: KindInputTooLarge, Field: "input", InputErrorCode: "input_too_large", MaxChars: limit,
			ActualChars: actual}}
}

// Internal returns the error for a fault of the server or of its machine.
func Internal(kind Kind, format string, args ...any) *Error {
	return &Error{CodeInternalError, fmt.Sprintf(format, args...), &ErrorData{Kind: kind}}
}
