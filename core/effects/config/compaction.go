package config

import "appserver/core"

// Compaction configures how contexts are compacted.
type Compaction struct {
	// Strategy is the first strategy to try.
	Strategy string `key:"strategy" oneof:"summary userMessages mask local"`
	// KeepTurns is the number of last turns that are not changed.
	KeepTurns int `key:"keep_turns" min:"0"`
	// UserMessageTokens bounds the user's messages that are kept of older turns.
	UserMessageTokens int `key:"user_message_tokens" min:"0"`
	// LimitPercent and TargetPercent are shares of the context window. A request above the limit is
	// sent after a compaction to the target.
	LimitPercent  int `key:"limit_percent" min:"1" max:"100"`
	TargetPercent int `key:"target_percent" min:"1" max:"100"`
}

func defaultCompaction() Compaction {
	return Compaction{Strategy: "summary", KeepTurns: 5, UserMessageTokens: 20_000, LimitPercent: 90, TargetPercent: 70}
}

// CompactionOf returns the rules of compaction for threads with a model. reported is the context window
// that the provider reports, or 0. If the window is not known and no limit is set, there is no
// automatic compaction. The limit is at most the window. The target is below the limit, in the same
// proportion as the defaults.
func (c *Config) CompactionOf(provider, model string, reported int64) core.CompactionRules {
	own := c.Compaction
	rules := core.CompactionRules{Strategy: own.Strategy, KeepTurns: own.KeepTurns,
		UserTokens: int64(own.UserMessageTokens), Prompt: or(c.CompactPrompt, "")}
	rules.Shares = core.CompactionShares{Limit: own.LimitPercent, Target: own.TargetPercent,
		Most: c.ModelAutoCompactTokenLimit}
	rules.Limit, rules.Target = rules.Shares.In(c.ContextWindow(provider, model, reported))
	return rules
}
