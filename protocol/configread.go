package protocol

// ConfigReadParams requests the configuration in force.
type ConfigReadParams struct {
	// IncludeLayers requests the layers as well.
	IncludeLayers bool `json:"includeLayers,omitempty"`
	// Cwd selects the configuration of the project that contains the directory.
	Cwd *string `json:"cwd,omitempty"`
}

// ConfigReadResponse is the effective configuration.
type ConfigReadResponse struct {
	Config map[string]any `json:"config"`
	// Origins has the layer of each value, by dotted key.
	Origins map[string]ConfigLayerMetadata `json:"origins"`
	// Layers has the layers, the highest precedence first. It is null if it was not requested.
	Layers []ConfigLayer `json:"layers"`
}

// ConfigLayerMetadata identifies a layer.
type ConfigLayerMetadata struct {
	Name ConfigLayerSource `json:"name"`
	// Version is a hash of the content.
	Version string `json:"version"`
}

// ConfigLayer is one source of configuration.
type ConfigLayer struct {
	Name    ConfigLayerSource `json:"name"`
	Version string            `json:"version"`
	Config  map[string]any    `json:"config"`
	// DisabledReason is null for a layer in force.
	DisabledReason *string `json:"disabledReason"`
}

// ConfigLayerSource is the machine's file, the user's file, a project's file, or the flags of the
// command line. The member file is the path of the file, or for a project's layer the folder of the
// file.
type ConfigLayerSource struct {
	Type           string
	File           string
	DotCodexFolder string
}

// The types of a ConfigLayerSource.
const (
	LayerSystem       = "system"
	LayerUser         = "user"
	LayerProject      = "project"
	LayerSessionFlags = "sessionFlags"
)

// MarshalJSON writes the members of the layer's type.
func (s ConfigLayerSource) MarshalJSON() ([]byte, error) {
	switch s.Type {
	case LayerUser:
		return marshal(struct {
			Type    string  `json:"type"`
			File    string  `json:"file"`
			Profile *string `json:"profile"`
		}{s.Type, s.File, nil})
	case LayerSystem:
		return marshal(map[string]string{"type": s.Type, "file": s.File})
	case LayerProject:
		return marshal(map[string]string{"type": s.Type, "dotCodexFolder": s.DotCodexFolder})
	}
	return marshal(map[string]string{"type": s.Type})
}
