package config

import (
	"appserver/core"
	"appserver/protocol"
)

// Economy configures edits of the context that save tokens.
type Economy struct {
	// Mode is off, suggest, or auto.
	Mode string `key:"mode" oneof:"off suggest auto"`
	// MinSavedPercent is the least share of the next request that an edit must save.
	MinSavedPercent int `key:"min_saved_percent" min:"0" max:"100"`
	// KeepLastOutputs is the number of the last tool outputs that stay.
	KeepLastOutputs int `key:"keep_last_outputs" min:"1" max:"1000"`
}

func defaultEconomy() Economy {
	return Economy{Mode: protocol.EconomyOff, MinSavedPercent: 5, KeepLastOutputs: 10}
}

// Rules returns the rules for threads.
func (e Economy) Rules() core.EconomyRules {
	return core.EconomyRules{Mode: e.Mode, MinPercent: e.MinSavedPercent, KeepOutputs: e.KeepLastOutputs}
}
