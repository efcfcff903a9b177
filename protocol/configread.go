package protocol

// ConfigReadParams asks for the configuration in force. With Cwd that is the one of the
// project which Cwd is in.
type ConfigReadParams struct {
	IncludeLayers bool    `json:"includeLayers,omitempty"`
	Cwd           *string `json:"cwd,omitempty"`
}

// ConfigReadResponse is the effective configuration and the origin of each value, by dotted key.
// Layers are its layers, the highest precedence first, or null if they were not requested.
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

// ConfigLayerSource is the machine's file, the user's, one of a project, or the flags of the
// command line. File is the file's path. A project's layer has the folder of the file in its
// place.
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
