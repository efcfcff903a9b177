package server

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

func TestLoggerLevels(t *testing.T) {
	for _, c := range []struct {
		level string
		want  []string
	}{
		{"", []string{"i", "w", "e"}},
		{"trace", []string{"d", "i", "w", "e"}},
		{"debug", []string{"d", "i", "w", "e"}},
		{"warn", []string{"w", "e"}},
		{"error", []string{"e"}},
		{"ERROR", []string{"e"}},
		{"off", nil},
		{"loud", []string{"unknown log level; using info", "i", "w", "e"}},
	} {
		var out syncBuffer
		log := NewLogger(&out, c.level, true)
		log.Debug("d")
		log.Info("i")
		log.Warn("w")
		log.Error("e")
		require.NoError(t, log.Sync())
		var got []string
		for line := range strings.Lines(out.String()) {
			var entry struct{ Msg, Level, TS string }
			require.NoError(t, json.Unmarshal([]byte(line), &entry), line)
			require.NotEmpty(t, entry.Level)
			_, err := time.Parse("2006-01-02T15:04:05.000Z0700", entry.TS)
			require.NoError(t, err)
			got = append(got, entry.Msg)
		}
		require.Equal(t, c.want, got, c.level)
	}
}

func TestLoggerForPeople(t *testing.T) {
	var out syncBuffer
	log := NewLogger(&out, "info", false)
	log.Info("hello", zap.Int("n", 1))
	require.NoError(t, log.Sync())
	require.Regexp(t, `^\d{4}-\S+\tinfo\thello\t{"n": 1}\n$`, out.String())
}

// TestLoggerNeverWaits logs to a full pipe and then reads it.
func TestLoggerNeverWaits(t *testing.T) {
	for _, json := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			r, w := io.Pipe()
			log := NewLogger(w, "info", json)
			for range 1000 {
				log.Info("x", zap.String("s", strings.Repeat("x", 1000)))
			}
			start := time.Now()
			require.Error(t, log.Sync(), "Sync gives up")
			require.Equal(t, maxLogSync, time.Since(start))

			var out syncBuffer
			copied := make(chan struct{})
			go func() { defer close(copied); _, _ = io.Copy(&out, r) }()
			synctest.Wait()
			require.Less(t, len(out.String()), 2*maxLogBuffer)
			log.Info("again")
			require.NoError(t, log.Sync())
			synctest.Wait() // a pipe's Write returns before the reader has stored what it read
			require.Contains(t, out.String(), "again")
			require.Regexp(t, `\d{3} log lines dropped`, out.String())
			require.NoError(t, w.Close())
			<-copied
		})
	}
}

// TestLoggerOutlivesItsReader checks that a closed stderr has no effect.
func TestLoggerOutlivesItsReader(t *testing.T) {
	r, w := io.Pipe()
	require.NoError(t, r.Close())
	log := NewLogger(w, "", false)
	log.Info("x")
	require.NoError(t, log.Sync())
}
