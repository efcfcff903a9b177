package config

import (
	"strings"
	"sync"
)

// stableKeys are the members that config/read always returns, null if they are not set.
var stableKeys = []string{
	"analytics", "approval_policy", "approvals_reviewer", "browser_use",
	"client_search_provider", "compact_prompt", "computer_use", "desktop",
	"developer_instructions", "forced_chatgpt_workspace_id", "forced_login_method",
	"instructions", "model", "model_auto_compact_token_limit",
	"model_auto_compact_token_limit_scope", "model_context_window", "model_provider",
	"model_reasoning_effort", "model_reasoning_summary", "model_verbosity",
	"review_model", "sandbox_mode", "sandbox_workspace_write", "service_tier", "tools",
	"web_search",
}

// ignoredKeys are keys of the reference implementation, version 0.169.0, that have no effect here. A
// table includes all keys below it; * is any name.
var ignoredKeys = sync.OnceValue(func() map[string]bool { return keySet(stableKeys, otherIgnoredKeys) })

// otherIgnoredKeys are the ignored keys that are not stable.
var otherIgnoredKeys = []string{
	"allow_symlinked_codex_home", "apps",
	"apps_mcp_product_sku", "audio", "auto_review", "background_terminal_max_timeout",
	"check_for_update_on_startup",
	"daybreak", "disable_paste_burst",
	"experimental_compact_prompt_file", "experimental_realtime_start_instructions",
	"experimental_realtime_webrtc_call_base_url",
	"experimental_realtime_ws_backend_prompt", "experimental_realtime_ws_base_url",
	"experimental_realtime_ws_model", "experimental_realtime_ws_startup_context",
	"experimental_thread_store.id", "experimental_thread_store_endpoint",
	"experimental_use_unified_exec_tool", "feedback", "file_opener",
	"ghost_snapshot", "goals", "hide_agent_reasoning", "history.max_bytes",
	"history.persistence", "hooks", "include_apps_instructions",
	"include_collaboration_mode_instructions", "include_permissions_instructions",
	"js_repl_node_module_dirs", "js_repl_node_path", "log_dir", "marketplaces",
	"mcp_enterprise_managed_auth", "mcp_servers.*.environment_id",
	"mcp_servers.*.experimental_environment", "mcp_servers.*.name",
	"memories", "model_catalog_json", "model_post_turn_compact_threshold_percent",
	"model_providers.*.auth", "model_providers.*.aws", "model_providers.*.capabilities",
	"model_providers.*.credential_file", "model_providers.*.gateway_oauth",
	"model_providers.*.location", "model_providers.*.model_catalog_url",
	"model_providers.*.project_id",
	"model_providers.*.supports_standalone_web_search",
	"model_providers.*.supports_websockets",
	"model_providers.*.websocket_connect_timeout_ms", "notice",
	"orchestrator", "oss_provider", "otel", "personality",
	"plan_mode_reasoning_effort", "plugins", "profile", "profiles",
	"realtime",
	"responses_api_metadata", "show_raw_agent_reasoning",
	"skills.config", "skills.bundled", "sqlite_home", "suppress_unstable_features_warning",
	"tool_suggest", "tools.client_search_provider", "tui", "cloud", "code_mode", "responses", "rollout_trace",
	"mcp_servers.*.auth", "mcp_servers.*.http_headers_helper", "mcp_servers.*.tools.*.output_token_limit",
	"windows",
}

// featureNames are the names in ignoredFeatures.
var featureNames = sync.OnceValue(func() map[string]bool { return keySet(strings.Fields(ignoredFeatures)) })

func keySet(lists ...[]string) map[string]bool {
	set := map[string]bool{}
	for _, list := range lists {
		for _, key := range list {
			set[key] = true
		}
	}
	return set
}

// isIgnored reports whether the key at path is known and has no effect.
func isIgnored(path []string) bool {
	if len(path) == 3 && (path[0] == "model_providers" || path[0] == "mcp_servers") {
		path = []string{path[0], "*", path[2]}
	}
	if len(path) == 5 && path[0] == "mcp_servers" && path[2] == "tools" {
		path = []string{path[0], "*", path[2], "*", path[4]}
	}
	if len(path) == 2 && path[0] == "features" {
		return featureNames()[path[1]]
	}
	return ignoredKeys()[dotted(path)]
}

// redacted replaces a secret.
const redacted = "[redacted]"

// secretWords are parts of names of settings, headers and variables with secrets.
var secretWords = []string{"authorization", "cookie", "password", "secret", "token", "credential", "signature"}

// secret reports whether the text at path must not be shown.
func secret(path []string) bool {
	name := strings.ToLower(path[len(path)-1])
	// The settings *_credentials_store name a place.
	namesVariable := name == "env_key" || strings.HasSuffix(name, "_credentials_store") ||
		strings.HasSuffix(name, "_env_var") || strings.HasSuffix(name, "_env") ||
		len(path) > 1 && path[len(path)-2] == "env_http_headers"
	if namesVariable {
		return false
	}
	for _, word := range secretWords {
		if strings.Contains(name, word) {
			return true
		}
	}
	return strings.HasSuffix(name, "key") || name == "sig"
}
