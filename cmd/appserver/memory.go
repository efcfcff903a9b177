package main

import (
	"appserver/core/config"
	"appserver/core/keeper"
	"appserver/core/memory"
)

// memoryOf is the memory in the home folder. It opens nothing before it is used.
func memoryOf(c *config.Config, home string, models keeper.Streamer) *keeper.Keeper {
	k := &keeper.Keeper{Models: models}
	k.Store = memory.Open(memory.Options{
		Home: home, QueryTimeout: c.Memory.Embeddings.QueryTimeout,
		Warn: func(message string) { k.Warn(message) },
	})
	return k
}
