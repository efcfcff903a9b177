package config

import (
	"path/filepath"

	"appserver/protocol"
)

// The switches that have an effect here: features.NAME.
const (
	// FeatureUserInput lets the model ask the user in turns that are not in plan mode.
	FeatureUserInput = "default_mode_request_user_input"
)

// feature is a switch as it is without configuration.
type feature struct {
	name, title, description string
	enabled                  bool
}

func features() []feature {
	return []feature{
		{FeatureUserInput, "Questions to the user", "Lets the model ask the user to choose, in any turn and not in plan mode only.", false},
	}
}

// Feature tells whether a switch is on.
func (c *Config) Feature(name string) bool {
	if n := c.root.find("features", name); n != nil {
		if on, ok := n.value.(bool); ok {
			return on
		}
	}
	for _, f := range features() {
		if f.name == name {
			return f.enabled
		}
	}
	return false
}

// FeatureList is the switches that have an effect.
func (c *Config) FeatureList() []protocol.ExperimentalFeature {
	list := []protocol.ExperimentalFeature{}
	for _, f := range features() {
		list = append(list, protocol.ExperimentalFeature{
			Name: f.name, Stage: "beta", DisplayName: &f.title, Description: &f.description, Announcement: new(""),
			Enabled: c.Feature(f.name), DefaultEnabled: f.enabled,
		})
	}
	return list
}

// SkillEnabled is false for a skill that [[skills.config]] disables, by its path or by its
// name. Of several rows the last counts.
func (c *Config) SkillEnabled(name, path string) bool {
	enabled := true
	n := c.root.find("skills", "config")
	if n == nil {
		return true
	}
	rows, _ := n.plain().([]any)
	for _, row := range rows {
		table, _ := row.(map[string]any)
		rowPath, _ := table["path"].(string)
		on, isSet := table["enabled"].(bool)
		if isSet && (table["name"] == name && name != "" || rowPath != "" && filepath.Clean(rowPath) == path) {
			enabled = on
		}
	}
	return enabled
}
