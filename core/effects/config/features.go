package config

import (
	"path/filepath"
	"reflect"

	"appserver/protocol"
)

// FeatureList returns the switches that have an effect here.
func (c *Config) FeatureList() []protocol.ExperimentalFeature {
	list, standard := []protocol.ExperimentalFeature{}, encode(reflect.ValueOf(defaults().Features))
	now := encode(reflect.ValueOf(c.Features))
	for _, name := range sortedKeys(now) {
		enabled, byDefault := isSwitchedOn(now[name]), isSwitchedOn(standard[name])
		stage := "underDevelopment"
		if byDefault {
			stage = "stable"
		}
		list = append(list, protocol.ExperimentalFeature{Name: name, Stage: stage, Enabled: enabled,
			DefaultEnabled: byDefault})
	}
	return list
}

// isSwitchedOn reports whether a switch is on.
func isSwitchedOn(value any) bool {
	v := reflect.ValueOf(value)
	return v.Kind() == reflect.Bool && v.Bool()
}

// SkillEnabled returns false for a skill that [[skills.config]] disables, by its path or its name.
// Of several rows, the last one counts.
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
