package config

import (
	"fmt"
	"slices"

	"appserver/protocol"
)

// oldUnifiedExec is the deprecated name of features.unified_exec, which can also be a top-level
// key.
const oldUnifiedExec = "experimental_use_unified_exec_tool"

// renamedFeatures are deprecated keys of [features], with the keys that replace them. The table
// is from the reference implementation, version 0.169.0.
var renamedFeatures = map[string]string{
	"codex_hooks": "hooks", "collab": "multi_agent", "connectors": "apps",
	"enable_experimental_windows_sandbox": "experimental_windows_sandbox", oldUnifiedExec: "unified_exec",
	"memory_tool": "memories", "request_permissions": "exec_permission_approvals", "telepathy": "chronicle",
}

// retiredFeatures are deprecated keys of [features] that no other key of [features] replaces.
var retiredFeatures = []string{"transcript_v2", "use_legacy_landlock", "web_search", "web_search_cached",
	"web_search_request"}

// Deprecations returns a notice for each deprecated key that is set, sorted by key.
func (c *Config) Deprecations() (notices []protocol.DeprecationNoticeNotification) {
	for _, key := range slices.Sorted(slices.Values(append(sortedKeys(renamedFeatures), retiredFeatures...))) {
		if c.root.find("features", key) != nil || key == oldUnifiedExec && c.root.find(key) != nil {
			notices = append(notices, deprecation(key))
		}
	}
	return notices
}

func deprecation(key string) protocol.DeprecationNoticeNotification {
	summary := fmt.Sprintf("`[features].%s` is deprecated.", key)
	details := "It has no effect in this server. Remove it from the configuration."
	if next := renamedFeatures[key]; next != "" {
		summary += fmt.Sprintf(" Use `[features].%s`.", next)
		details = fmt.Sprintf("Neither key has an effect in this server. Other programs that read the configuration may use `%s`.", next)
	}
	if key == oldUnifiedExec {
		details = "The server uses its value unless `[features].unified_exec` is set."
	}
	return protocol.DeprecationNoticeNotification{Summary: summary, Details: &details}
}

// applyOldUnifiedExec sets Features.UnifiedExec by its deprecated names if it is not set by its
// own.
func (c *Config) applyOldUnifiedExec() {
	if c.root.find("features", "unified_exec") != nil {
		return
	}
	for _, n := range []*node{c.root.find("features", oldUnifiedExec), c.root.find(oldUnifiedExec)} {
		if n == nil {
			continue
		}
		if on, ok := n.value.(bool); ok {
			c.Features.UnifiedExec = on
			return
		}
	}
}

// searchSwitches are former names of web_search.
var searchSwitches = []string{"web_search", "web_search_cached", "web_search_request"}

// applyRestrictions obeys restrictions that another key of this server expresses.
func (c *Config) applyRestrictions() {
	if c.ThreadStore.Type == "in_memory" {
		c.History.SaveHistory = false
	}
	if c.WebSearch != nil {
		return
	}
	off := c.Tools.WebSearch.Off
	for _, key := range searchSwitches {
		n := c.root.find("features", key)
		off = off || n != nil && n.plain() == false
	}
	if off {
		c.WebSearch = new("disabled")
	}
}
