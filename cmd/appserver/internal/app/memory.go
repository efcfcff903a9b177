package app

import (
	"context"
	"fmt"

	"appserver/core/effects/config"
	"appserver/core/effects/find"
	"appserver/core/effects/memory"
	"appserver/core/effects/model"
	"appserver/core/engine"
	"appserver/core/engine/recall"
	"appserver/platform/httpclient"
)

// memoryOf returns the memory in the home. The first use opens its files.
func memoryOf(c *config.Config, home string, network *httpclient.Environment, models recall.Streamer) *recall.Service {
	k := &recall.Service{Models: models}
	o := memory.Options{
		Home: home, QueryTimeout: c.Memory.Embeddings.QueryTimeout,
		Warn: func(message string) { k.Warn(message) },
	}
	if r := c.Redactor(); r != nil {
		o.Redact = r.Text
	}
	if e := c.Memory.Embeddings; e.BaseURL != "" && e.Model != "" {
		key, err := c.APIKey(config.Provider{EnvKey: e.EnvKey})
		endpoint := model.Endpoint{Name: "memory.embeddings", BaseURL: e.BaseURL, APIKey: key,
			Transport: network.Transport(), Problem: err}
		embeddings := model.NewEmbeddings(endpoint, e.Model, e.Dimensions)
		o.Embedder, k.Ended = embeddings, embeddings.Close
	}
	k.Store = memory.Open(o)
	return k
}

// joinMemory connects the memory with the engine. If the configuration enables it, the memory also indexes
// the files of repositories.
func joinMemory(k *recall.Service, c *config.Config, home string, finder *find.Finder, e *engine.Engine) {
	k.Warn = e.MemoryWarning
	if c.Memory.IndexCode {
		k.Code = newCodeReader(c.Memory, home, k.Store, finder, e)
	}
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
