package engine

import (
	"errors"

	"go.uber.org/zap"

	"appserver/protocol"
	"appserver/rollout"
)

// RolloutCompress starts the compression of old rollouts in the background. Threads that are loaded are left as they
// are. The response is sent before it begins.
func (e *Engine) RolloutCompress(to protocol.Caller, _ *protocol.RolloutCompressParams) error {
	if !e.parts.Threads.HasFiles() {
		return protocol.Refuse(protocol.KindInvalidRequest,
			"rollout/compress: the threads are in a database (store.kind), not in files: the database compresses them itself")
	}
	return e.goReader(to.Conn, func() {
		e.answer(to, func() (any, error) { return protocol.Empty{}, nil })
		e.work.Go(func() { e.catchPanic(e.compressOld) })
	})
}

// compressOld compresses old rollouts, unless that was done lately, and logs the result.
func (e *Engine) compressOld() {
	ctx, cancel := e.untilClosed()
	defer cancel()
	e.tidied.Do(e.tidy) // otherwise both forms of a file that a kill has left would stay
	done, err := e.parts.Threads.CompressOld(ctx, func(t rollout.Compressible) (c rollout.CompressedThread, err error) {
		failed := e.ifUnloaded(t.ID, func() error {
			c, err = e.parts.Threads.CompressThread(t)
			return err
		})
		return c, failed
	})
	var lately *rollout.CompressedLatelyError
	switch {
	case errors.As(err, &lately):
		e.parts.Log.Info("rollouts are not compressed", zap.String("reason", err.Error()))
		return
	case err != nil:
		e.parts.Log.Warn("rollouts cannot be compressed", zap.Error(err))
		return
	}
	for _, t := range done.Kept {
		e.parts.Log.Info("a rollout is not compressed", zap.String("thread", t.ID), zap.String("reason", t.Reason))
	}
	for _, text := range done.Unread {
		e.parts.Log.Info("a rollout cannot be examined", zap.String("reason", text))
	}
	e.parts.Log.Info("rollouts were compressed", zap.Int("threads", len(done.Compressed)),
		zap.Int64("bytesBefore", done.Before), zap.Int64("bytesAfter", done.After))
}
