package config

import "appserver/core/compaction"

// Compaction says how contexts are compacted.
type Compaction struct {
	// Strategy is what is tried first.
	Strategy string `key:"strategy" oneof:"summary userMessages mask local"`
	// KeepTurns is how many of the last turns stay word for word.
	KeepTurns int `key:"keep_turns" min:"0"`
	// UserMessageTokens bounds what stays of the user's messages in older turns.
	UserMessageTokens int `key:"user_message_tokens" min:"0"`
	// LimitPercent and TargetPercent are of the context window: a request that would have
	// more than the former is made after a compaction to the latter.
	LimitPercent  int `key:"limit_percent" min:"1" max:"100"`
	TargetPercent int `key:"target_percent" min:"1" max:"100"`
}

func defaultCompaction() Compaction {
	return Compaction{Strategy: "summary", KeepTurns: 5, UserMessageTokens: 20_000, LimitPercent: 90, TargetPercent: 70}
}

// CompactionOf is the compaction of threads that use a model, of whose window the provider
// told (0 is nothing). Where its window is not
// known, and no limit is set, nothing is compacted unasked. The limit is within the window,
// and the target below the limit in the same proportion as without a limit that is set.
func (c *Config) CompactionOf(provider, model string, told int64) compaction.Rules {
	own := c.Compaction
	rules := compaction.Rules{Strategy: own.Strategy, KeepTurns: own.KeepTurns, UserTokens: int64(own.UserMessageTokens), Prompt: or(c.CompactPrompt, "")}
	window, set := c.ContextWindow(provider, model, told), c.ModelAutoCompactTokenLimit
	if window != nil {
		rules.Limit = *window * int64(own.LimitPercent) / 100
		rules.Target = *window * int64(own.TargetPercent) / 100
	}
	switch {
	case set == nil:
	case *set == 0:
		rules.Limit = 0
	case window == nil || *set < *window:
		rules.Limit = *set
	}
	if rules.Limit > 0 {
		below := rules.Limit * int64(own.TargetPercent) / int64(max(own.LimitPercent, own.TargetPercent))
		if rules.Target == 0 || below < rules.Target {
			rules.Target = max(below, 1)
		}
	}
	return rules
}
