package protocol

// ConfigReadParams asks for the configuration in force. Cwd makes no difference:
// there are no configuration files of projects.
type ConfigReadParams struct {
	IncludeLayers bool    `json:"includeLayers,omitempty"`
	Cwd           *string `json:"cwd,omitempty"`
}

// ConfigReadResponse is the configuration in force, where each value comes from
// (by dotted key), and the layers it is made of, the strongest first; null where
// they were not asked for.
type ConfigReadResponse struct {
	Config  map[string]any                 `json:"config"`
	Origins map[string]ConfigLayerMetadata `json:"origins"`
	Layers  []ConfigLayer                  `json:"layers"`
}

// ConfigLayerMetadata names a layer and its version, a hash of its content.
type ConfigLayerMetadata struct {
	Name    ConfigLayerSource `json:"name"`
	Version string            `json:"version"`
}

// ConfigLayer is one source of configuration. DisabledReason is null for a layer
// that is in force.
type ConfigLayer struct {
	Name           ConfigLayerSource `json:"name"`
	Version        string            `json:"version"`
	Config         map[string]any    `json:"config"`
	DisabledReason *string           `json:"disabledReason"`
}

// ConfigLayerSource is the user's file, or the flags of the command line.
type ConfigLayerSource struct {
	Type string
	File string
}

// The types of a ConfigLayerSource.
const (
	LayerUser         = "user"
	LayerSessionFlags = "sessionFlags"
)

// MarshalJSON writes the members of the layer's type.
func (s ConfigLayerSource) MarshalJSON() ([]byte, error) {
	if s.Type == LayerUser {
		return marshal(struct {
			Type    string  `json:"type"`
			File    string  `json:"file"`
			Profile *string `json:"profile"`
		}{s.Type, s.File, nil})
	}
	return marshal(map[string]string{"type": s.Type})
}
