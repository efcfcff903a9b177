package config

import (
	"reflect"
	"slices"

	"appserver/protocol"
)

// nullUnlessSet are keys whose default config/read does not return: clients treat a value as the
// user's own choice.
var nullUnlessSet = []string{
	"approval_policy", "approvals_reviewer", "sandbox_mode", "sandbox_workspace_write", "shell_environment_policy",
	"tools", "agents", "skills", "allow_login_shell", "tool_output_token_limit", "include_environment_context",
	"include_environment_context_time", "experimental_thread_store",
	"notify", "projects", "project_root_markers", "model_prices",
}

// View returns the response to config/read: the effective values in the shape of the reference
// implementation, their origins, and on request the layers. Secrets are redacted. Unknown top-level
// keys are in the layers only.
func (c *Config) View(includeLayers bool) protocol.ConfigReadResponse {
	view := protocol.ConfigReadResponse{Config: c.values(), Origins: c.origins()}
	if includeLayers {
		view.Layers = c.layerViews()
	}
	return view
}

func (c *Config) values() map[string]any {
	set := encode(reflect.ValueOf(c).Elem())
	set["model_providers"] = c.configuredProviders()
	set["mcp_servers"] = c.configuredServers()
	set["projects"], set["model_prices"] = nil, nil // the configured values are the effective ones
	out := map[string]any{}
	for _, key := range stableKeys {
		out[key] = nil
	}
	for key, n := range c.root.table {
		if _, used := set[key]; used || ignoredKeys()[key] {
			out[key] = n.plain()
		}
	}
	for _, key := range nullUnlessSet {
		if out[key] == nil {
			delete(set, key)
		}
	}
	overlay(out, set)
	return conceal(nil, out).(map[string]any)
}

// overlay copies the values of over to base, table by table; null changes nothing.
func overlay(base, over map[string]any) {
	for key, value := range over {
		below, isTable := base[key].(map[string]any)
		table, overTable := value.(map[string]any)
		switch {
		case isTable && overTable:
			overlay(below, table)
		case value != nil || base[key] == nil:
			base[key] = value
		}
	}
}

// configuredProviders returns the providers without unchanged built-in ones.
func (c *Config) configuredProviders() map[string]any {
	out := map[string]any{}
	if n := c.root.find("model_providers"); n != nil {
		for name := range n.table {
			out[name] = encode(reflect.ValueOf(c.ModelProviders[name]))
		}
	}
	return out
}

// configuredServers returns the MCP servers as configured.
func (c *Config) configuredServers() map[string]any {
	out := map[string]any{}
	if n := c.root.find("mcp_servers"); n != nil {
		out, _ = n.plain().(map[string]any)
	}
	return out
}

// ServerTable returns the table of an MCP server as it is written, with its secrets, or nil.
func (c *Config) ServerTable(name string) map[string]any {
	table, _ := c.configuredServers()[name].(map[string]any)
	return table
}

// UserHasServer reports whether the user's file has an MCP server.
func (c *Config) UserHasServer(name string) bool {
	return slices.ContainsFunc(c.layers, func(l *layer) bool {
		return l.name.Type == protocol.LayerUser && l.root.find("mcp_servers", name) != nil
	})
}

func (c *Config) origins() map[string]protocol.ConfigLayerMetadata {
	versions := map[*layer]protocol.ConfigLayerMetadata{}
	for _, l := range c.layers {
		versions[l] = l.metadata()
	}
	out := map[string]protocol.ConfigLayerMetadata{}
	c.root.values(nil, func(path []string, at position) {
		out[dotted(path)] = versions[at.layer]
	})
	return out
}

func (c *Config) layerViews() []protocol.ConfigLayer {
	var out []protocol.ConfigLayer
	for _, l := range slices.Backward(c.layers) {
		shown := protocol.ConfigLayer{
			Name: l.name, Version: l.version(), Config: conceal(nil, l.root.plain()).(map[string]any),
		}
		if l.disabled != "" {
			shown.DisabledReason = &l.disabled
		}
		out = append(out, shown)
	}
	return out
}
