package app

import (
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"appserver/core/config"
	"appserver/rollout"
	"appserver/rollout/files"
	"appserver/rollout/index"
	"appserver/rollout/store"
)

// RetentionOf returns the limits of the configuration for old threads.
func RetentionOf(h config.History) rollout.Retention {
	return rollout.Retention{MaxAge: time.Duration(h.MaxAge) * 24 * time.Hour, MaxBytes: h.MaxBytes,
		Delete: h.Retention == config.RetentionDelete}
}

// indexOf returns the index of the rollouts, or nil if the configuration disables it.
func indexOf(c config.Index, own *setup) *index.Index {
	if !c.Enabled {
		return nil
	}
	path := IndexPath(c, own.home)
	return index.New(index.Options{Store: own.rollouts, Path: path, Report: func(err error) {
		own.log.Warn("problem in the index of the rollouts", zap.String("path", path), zap.Error(err))
	}})
}

// threadsOf returns the threads in the home. The index may be nil.
func threadsOf(own *setup, ix *index.Index) store.Threads {
	report := func(err error) { own.log.Warn("problem in the stored threads", zap.Error(err)) }
	if ix == nil {
		return files.New(own.rollouts, nil, report)
	}
	return files.New(own.rollouts, ix, report)
}

// IndexPath returns the path of the index. A relative path of the configuration is in the home.
func IndexPath(c config.Index, home string) string {
	if filepath.IsAbs(c.Path) {
		return c.Path
	}
	return filepath.Join(home, c.Path)
}
