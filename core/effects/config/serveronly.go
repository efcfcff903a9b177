package config

import (
	"fmt"
	"strings"
)

// serverKeys are the keys that have no effect on a thread, with the reasons. providerKeysOfThreads are read for each
// thread.
var serverKeys = []struct{ key, reason string }{
	{"model_providers.*.*", "model providers are the same for all threads; set it in config.toml"},
	{"checkpoints.max_files", "the server reads it only when it starts"},
	{"checkpoints.max_bytes", "the server reads it only when it starts"},
	{"history.maxAge", "the server reads its limits for old threads only when it starts"},
	{"history.maxBytes", "the server reads its limits for old threads only when it starts"},
	{"history.retention", "the server reads its limits for old threads only when it starts"},
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
	for _, s := range serverKeys {
		for _, key := range l.root.matching(strings.Split(s.key, ".")) {
			if !providerKeysOfThreads[key[len(key)-1]] {
				warnings = append(warnings, fmt.Sprintf("config.%s has no effect on a thread: %s", strings.Join(key, "."),
					s.reason))
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
