package server

import (
	"fmt"
	"io"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

const (
	maxLogBuffer = 256 << 10
	maxLogSync   = 100 * time.Millisecond
)

// NewLogger returns a logger that never blocks on w, which may be a pipe without a reader.
// Lines that do not fit in a buffer of 256 KiB are dropped, and a later line has their number.
//
// level is debug, info, warn, error or off. An empty level means info. An unknown level means
// info as well, with a warning. Sync waits at most 100 ms.
func NewLogger(w io.Writer, level string, json bool) *zap.Logger {
	parsed, off, err := parseLevel(level)
	if off {
		return zap.NewNop()
	}
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.ISO8601TimeEncoder
	sink := &dropWriter{w: w, droppedFormat: "%d log lines dropped\n"}
	encoder := zapcore.NewConsoleEncoder(config)
	if json {
		sink.droppedFormat = `{"level":"warn","msg":"%d log lines dropped"}` + "\n"
		encoder = zapcore.NewJSONEncoder(config)
	}
	log := zap.New(zapcore.NewCore(encoder, sink, parsed), zap.ErrorOutput(sink))
	if err != nil {
		log.Warn("unknown log level; using info", zap.String("level", level))
	}
	return log
}

func parseLevel(level string) (parsed zapcore.Level, off bool, err error) {
	switch level {
	case "off", "none":
		return 0, true, nil
	case "trace":
		return zapcore.DebugLevel, false, nil
	}
	parsed, err = zapcore.ParseLevel(level)
	if err != nil {
		parsed = zapcore.InfoLevel
	}
	return parsed, false, err
}

// dropWriter writes to w in a goroutine that runs only while there is output. It is safe for
// concurrent use.
type dropWriter struct {
	w             io.Writer
	droppedFormat string // format of the line with the number of dropped lines

	mu      sync.Mutex
	buf     []byte
	dropped int
	idle    chan struct{} // closed when the goroutine ends; nil if it is not running
}

// Write queues a whole line, or drops it if the buffer is full.
func (d *dropWriter) Write(line []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.buf)+len(line) > maxLogBuffer {
		d.dropped++
		return len(line), nil
	}
	if d.dropped > 0 {
		d.buf = fmt.Appendf(d.buf, d.droppedFormat, d.dropped)
		d.dropped = 0
	}
	d.buf = append(d.buf, line...)
	if d.idle == nil {
		d.idle = make(chan struct{})
		go d.flush()
	}
	return len(line), nil
}

// Sync waits until all queued lines are written, for at most maxLogSync.
func (d *dropWriter) Sync() error {
	d.mu.Lock()
	idle := d.idle
	d.mu.Unlock()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-time.After(maxLogSync):
		return fmt.Errorf("log: stderr is blocked")
	}
}

func (d *dropWriter) flush() {
	for {
		buf := d.swapBuffer()
		if len(buf) == 0 {
			return
		}
		_, _ = d.w.Write(buf) // an error of the log cannot be logged
	}
}

func (d *dropWriter) swapBuffer() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	buf := d.buf
	d.buf = nil
	if len(buf) == 0 {
		close(d.idle)
		d.idle = nil
	}
	return buf
}
