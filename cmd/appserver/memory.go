package main

import (
	"path/filepath"

	"appserver/core/config"
	"appserver/core/engine"
	"appserver/core/find"
	"appserver/core/keeper"
	"appserver/core/memory"
	"appserver/core/model"
)

// memoryOf is the memory in the home folder. It opens nothing before it is used.
func memoryOf(c *config.Config, home string, models keeper.Streamer) *keeper.Keeper {
	k := &keeper.Keeper{Models: models}
	o := memory.Options{
		Home: home, QueryTimeout: c.Memory.Embeddings.QueryTimeout,
		Warn: func(message string) { k.Warn(message) },
	}
	if r := c.Redactor(); r != nil {
		o.Redact = r.Text
	}
	if e := c.Memory.Embeddings; e.BaseURL != "" && e.Model != "" {
		endpoint := model.Endpoint{Name: "memory.embeddings", BaseURL: e.BaseURL, APIKey: c.APIKey(config.Provider{EnvKey: e.EnvKey})}
		o.Embedder = model.NewEmbeddings(endpoint, e.Model, e.Dimensions)
	}
	k.Store = memory.Open(o)
	return k
}

// joinMemory has clients told of the memory, and the files of repositories be read where that
// is wanted.
func joinMemory(k *keeper.Keeper, c *config.Config, home string, finder *find.Finder, e *engine.Engine) {
	k.Warn = e.MemoryWarning
	if c.Memory.IndexCode {
		k.Code = keeper.NewCode(keeper.CodeOptions{
			Store: k.Store, Finder: finder, Locks: filepath.Join(home, "appserver-code-locks"),
			Share: float64(c.Memory.IndexShare) / 100, Tell: e.MemoryProgress, Warn: e.MemoryWarning,
		})
	}
}
