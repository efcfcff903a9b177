package app

import (
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"appserver/core/effects/config"
	"appserver/rollout"
	"appserver/rollout/index"
)

// RetentionOf returns the limits of the configuration for old threads.
func RetentionOf(h config.History) rollout.Retention {
	return rollout.Retention{MaxAge: time.Duration(h.MaxAge) * 24 * time.Hour, MaxBytes: h.MaxBytes,
		Delete: h.Retention == config.RetentionDelete}
}

// indexOf returns the index of the rollouts.
func indexOf(c config.Index, local *localHome) *index.Index {
	path := IndexPath(c, local.home)
	return index.New(index.Options{Store: local.rollouts, Path: path, Report: func(err error) {
		local.log.Warn("problem in the index of the rollouts", zap.String("path", path), zap.Error(err))
	}})
}

// IndexPath returns the path of the index. A relative path of the configuration is in the home.
func IndexPath(c config.Index, home string) string {
	if filepath.IsAbs(c.Path) {
		return c.Path
	}
	return filepath.Join(home, c.Path)
}

// copiesIn returns the folder of the copies of threads that a database keeps.
func copiesIn(home string) string { return filepath.Join(home, "appserver-cache", "copies") }
