package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

// withCode adds the code and the kind to an error.
func withCode(err error) *protocol.Error {
	var ready *protocol.Error
	var missing *rollout.NotFoundError
	var locked *rollout.LockedError
	var cursor *rollout.CursorError
	var disk *rollout.DiskError
	var special *rollout.KindError
	var name *rollout.NameError
	var backup *rollout.BackupError
	var used *rollout.InUseError
	var archived *store.ArchivedError
	var unavailable *store.UnavailableError
	switch {
	case errors.As(err, &ready):
		return ready
	case errors.Is(err, rollout.ErrNoIndex):
		return protocol.Refuse(protocol.KindIndexUnavailable, "%v", err)
	case rollout.IsShortage(err), errors.As(err, &unavailable):
		return errStorage(err)
	case errors.As(err, &missing):
		return protocol.Refuse(protocol.KindThreadNotFound, "%v", err)
	case errors.As(err, &locked):
		return errLocked(err, "%v", err)
	case errors.As(err, &archived):
		return errArchived(archived.ID)
	case errors.As(err, &used):
		return protocol.Refuse(protocol.KindThreadInUse, "%v", err)
	case errors.As(err, &cursor):
		return protocol.InvalidParams("cursor", "%v", err)
	case errors.As(err, &backup) && backup.Err == nil:
		return protocol.Refuse(protocol.KindBackupMismatch, "%v", err)
	case errors.As(err, &backup):
		return protocol.Refuse(protocol.KindRolloutUnreadable, "%v", err)
	case errors.As(err, &disk), errors.As(err, &special), errors.As(err, &name):
		return protocol.Refuse(protocol.KindRolloutUnreadable, "%v", err)
	}
	return protocol.Internal(protocol.KindInternal, "%v", err)
}

// errLocked returns the error of a thread with another writer. If that is a node to which requests can be
// forwarded, a client can send the request again.
func errLocked(err error, format string, args ...any) *protocol.Error {
	var owned *store.OwnedError
	if !errors.As(err, &owned) || owned.Address == "" {
		return protocol.Refuse(protocol.KindThreadLocked, format, args...)
	}
	stale := protocol.Refuse(protocol.KindStaleOwner, "%v; send the request again", err)
	stale.Code = protocol.CodeOverloaded
	return stale
}

// errFault is the error of a step that found its thread in a wrong state.
var errFault = errors.New("internal error; details are in the server's log")

// errStorage returns the error for a step whose lines could not be appended.
func errStorage(cause error) *protocol.Error {
	if errors.Is(cause, errFault) {
		return protocol.Internal(protocol.KindInternal, "%v", cause)
	}
	return protocol.Internal(protocol.KindStorage, "%v", cause)
}

func errShuttingDown() *protocol.Error {
	return protocol.Refuse(protocol.KindShuttingDown, "the server is shutting down")
}

func errArchived(id string) *protocol.Error {
	return protocol.Refuse(protocol.KindThreadArchived, "%v", &store.ArchivedError{ID: id})
}

func errBehind() *protocol.Error {
	return &protocol.Error{Code: protocol.CodeOverloaded,
		Message: "Server overloaded; read the pending responses, then retry",
		Data:    &protocol.ErrorData{Kind: protocol.KindOverloaded}}
}

func errNotLoaded(id string) *protocol.Error {
	return protocol.Refuse(protocol.KindThreadNotFound, "thread not found: %s", id)
}

func errUnloaded(id string) *protocol.Error {
	return protocol.Refuse(protocol.KindThreadNotLoaded, "thread %s was unloaded before the request completed", id)
}

func errTaken(id string) *protocol.Error {
	err := protocol.Refuse(protocol.KindInvalidRequest, "newThreadId: thread %s exists; use another id, or omit it", id)
	err.Data.Field = "newThreadId"
	return err
}

// notLoaded converts the error of a missing rollout to that of the reference implementation for
// thread/read.
func notLoaded(id string, err error) error {
	var missing *rollout.NotFoundError
	if errors.As(err, &missing) {
		return protocol.Refuse(protocol.KindThreadNotLoaded, "thread not loaded: %s", id)
	}
	return err
}

func notReady(err error) bool {
	var refusal *protocol.Error
	return errors.As(err, &refusal) && refusal.Data != nil && refusal.Data.Kind == protocol.KindProviderNotReady
}

// errCheckpointsOff returns the error of requests that need checkpoints.
func errCheckpointsOff() *protocol.Error {
	return protocol.Refuse(protocol.KindCheckpointsOff,
		"checkpoints are off; set checkpoints.enabled in config.toml to get them for new turns")
}

// checkID returns an error unless id is a UUID in lower case.
func checkID(words, id string) error {
	if _, err := uuid.Parse(id); err != nil || len(id) != 36 || id != strings.ToLower(id) {
		return &protocol.Error{Code: protocol.CodeInvalidRequest, Message: words + ": `" + id + "` is not a UUID",
			Data: &protocol.ErrorData{Kind: protocol.KindInvalidThreadID, Field: "threadId"}}
	}
	return nil
}

func statusNotLoaded(id string) protocol.Notification {
	return protocol.ThreadStatusChangedNotification{ThreadID: id,
		Status: protocol.ThreadStatus{ThreadStatusVariant: &protocol.StatusNotLoaded{}}}
}

// archiveError converts an error of the archive to one with a code and a kind.
func archiveError(err error) *protocol.Error {
	var missing *rollout.NotArchivedError
	var disk *rollout.DiskError
	switch {
	case errors.As(err, &missing):
		return protocol.Refuse(protocol.KindThreadNotFound, "%v", err)
	case errors.As(err, &disk):
		return errStorage(err)
	}
	return withCode(err)
}

func errStalePath(a *actor, path string) *protocol.Error {
	return protocol.Refuse(protocol.KindInvalidRequest,
		"cannot resume running thread %s with stale path: requested `%s`, active `%s`", a.id, path, a.at.Path)
}

// worktreeError adds the kind to an error of a worktree.
func worktreeError(err error) error {
	var ready *protocol.Error
	if err == nil || errors.As(err, &ready) {
		return err
	}
	return protocol.Internal(protocol.KindWorktree, "%v", err)
}

// serverFailure converts an error of a server to a response.
func serverFailure(err error) error {
	var known *protocol.Error
	if errors.As(err, &known) {
		return known
	}
	return protocol.Internal(protocol.KindMcpServer, "%v", err)
}

func modelError(err error) *core.ModelError {
	var m *core.ModelError
	if errors.As(err, &m) {
		return m
	}
	return &core.ModelError{Message: fmt.Sprintf("the model request failed: %v", err),
		Info: protocol.CodexErrorInfo{Kind: protocol.ErrorOther}}
}

// refNamed returns the log that the params of a request name: that of a thread, or a file, which has precedence.
func refNamed(thread string, path *string) (at store.Ref, err error) {
	at.ID = thread
	if path != nil {
		at.ID, at.Path = rollout.Named(*path)
	}
	return at, checkID("invalid session id", at.ID)
}
