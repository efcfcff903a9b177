package config

import (
	"fmt"
	"strings"
)

// startOnly are the keys that the server reads only when it starts, and what they set. providerKeysOfThreads are read
// for each thread.
var startOnly = []struct{ key, what string }{
	{"model_providers.*.*", "model providers"},
	{"checkpoints.max_files", "it"},
	{"checkpoints.max_bytes", "it"},
	{"history.maxAge", "its limits for old threads"},
	{"history.maxBytes", "its limits for old threads"},
	{"history.retention", "its limits for old threads"},
}

var providerKeysOfThreads = map[string]bool{"cached_price_ratio": true, "cache_retention_secs": true, "model": true,
	"web_search": true}

// readAtStart returns a warning for each key of a thread's overrides that has no effect on a thread.
func (l *layer) readAtStart() (warnings []string) {
	if l == nil {
		return nil
	}
	for _, key := range accountKeys {
		if l.root.find(key...) != nil {
			warnings = append(warnings, fmt.Sprintf(
				"config.%s has no effect on a thread: the login is the same for all threads; set it in config.toml",
				strings.Join(key, ".")))
		}
	}
	for _, s := range startOnly {
		for _, key := range l.root.matching(strings.Split(s.key, ".")) {
			if !providerKeysOfThreads[key[len(key)-1]] {
				warnings = append(warnings, fmt.Sprintf(
					"config.%s has no effect on a thread: the server reads %s only when it starts", strings.Join(key, "."), s.what))
			}
		}
	}
	return warnings
}

// matching returns the paths of nodes below n, in order. A "*" in the pattern is any key.
func (n *node) matching(pattern []string) (paths [][]string) {
	if len(pattern) == 0 {
		return [][]string{nil}
	}
	for _, key := range sortedKeys(n.table) {
		if pattern[0] != key && pattern[0] != "*" {
			continue
		}
		for _, rest := range n.table[key].matching(pattern[1:]) {
			paths = append(paths, append([]string{key}, rest...))
		}
	}
	return paths
}
