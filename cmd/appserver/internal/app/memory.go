package app

import (
	"context"
	"fmt"
	"sync"

	"appserver/core/effects/config"
	"appserver/core/effects/find"
	"appserver/core/effects/memory"
	"appserver/core/effects/model"
	"appserver/core/engine/recall"
	"appserver/platform/httpclient"
	"appserver/protocol"
	"appserver/server"
)

// memoryNotices sends notifications about the memory to all clients.
type memoryNotices struct {
	server *server.Server

	mu   sync.Mutex
	sent map[string]bool // warnings
}

// warn warns a client of a problem of the memory, once.
func (n *memoryNotices) warn(message string) {
	message = "memory: " + message
	for _, conn := range n.server.Clients() {
		if n.isNew(message) {
			n.server.Notify(conn, protocol.WarningNotification{Message: message})
		}
	}
}

// isNew reports whether a warning was not sent before, and notes it as sent.
func (n *memoryNotices) isNew(message string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.sent[message] {
		return false
	}
	if n.sent == nil {
		n.sent = map[string]bool{}
	}
	n.sent[message] = true
	return true
}

// progress notifies all clients of the indexing of a repository.
func (n *memoryNotices) progress(p protocol.MemoryCodeIndex) {
	for _, conn := range n.server.Clients() {
		n.server.Notify(conn, protocol.MemoryIndexProgressNotification{MemoryCodeIndex: p})
	}
}

// openMemory returns the memory in the home. The first use opens its files. If the configuration enables it, the memory
// also indexes the files of repositories.
func openMemory(c *config.Config, home string, network *httpclient.Environment, models recall.Streamer,
	finder *find.Finder, notices *memoryNotices) *recall.Service {
	o := memory.Options{Home: home, QueryTimeout: c.Memory.Embeddings.QueryTimeout, Warn: notices.warn}
	if r := c.Redactor(); r != nil {
		o.Redact = r.Text
	}
	k := &recall.Service{Models: models, Warn: notices.warn}
	if e := c.Memory.Embeddings; e.BaseURL != "" && e.Model != "" {
		key, err := c.APIKey(config.Provider{EnvKey: e.EnvKey})
		endpoint := model.Endpoint{Name: "memory.embeddings", BaseURL: e.BaseURL, APIKey: key,
			Transport: network.Transport(), Problem: err}
		embeddings := model.NewEmbeddings(endpoint, e.Model, e.Dimensions)
		o.Embedder, k.Ended = embeddings, embeddings.Close
	}
	k.Store = memory.Open(o)
	if c.Memory.IndexCode {
		k.Code = newCodeReader(c.Memory, home, k.Store, finder, notices)
	}
	return k
}

// closeMemory closes the memory. It returns an error when ctx is done, because an endpoint for embeddings
// or another server that writes to the memory may be slow.
func (p *process) closeMemory(ctx context.Context) error {
	if p.memory == nil {
		return nil
	}
	closed := make(chan error, 1)
	go func() { closed <- p.memory.Close() }()
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
		return fmt.Errorf("the memory was not closed in time: %w", ctx.Err())
	}
}
