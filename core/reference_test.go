package core_test

import (
	"encoding/json"
	"os"
	"sync"

	"appserver/core"
	"appserver/schema/conform"
)

// reference returns the stable schema files of the reference implementation in the directory
// REFERENCE_SCHEMA, or nil if it is not set.
var reference = sync.OnceValues(func() (*conform.Schemas, error) {
	dir := os.Getenv("REFERENCE_SCHEMA")
	if dir == "" {
		return nil, nil
	}
	return conform.Load(os.DirFS(dir))
})

// referring is held while schemas are used, which are for one goroutine at a time.
var referring sync.Mutex

// checkReference validates a message with a method against the reference's schema.
func (w *checker) checkReference(message core.Message) {
	schemas, err := reference()
	if err != nil {
		w.report("the schema of the reference: %v", err)
	}
	if schemas == nil {
		return
	}
	said := map[string]any{}
	switch m := message.(type) {
	case core.Notice:
		said["method"], said["params"] = m.NotificationMethod(), m.Notification
	case core.Request:
		said["method"], said["params"] = m.Method, m.Params
	default:
		return
	}
	line, err := json.Marshal(said)
	if err != nil {
		w.report("%v: %v", said["method"], err)
		return
	}
	referring.Lock()
	defer referring.Unlock()
	for _, problem := range conform.ValidateTranscript(schemas,
		[]conform.Line{{Number: 1, FromServer: true, Message: line}}).Problems {
		w.report("%v\n%s", problem, line)
	}
}
