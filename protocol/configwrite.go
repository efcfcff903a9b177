package protocol

import "encoding/json"

// ConfigValueWriteParams sets one value of the user's configuration. See ConfigEdit and
// ConfigBatchWriteParams.
type ConfigValueWriteParams struct {
	KeyPath         string          `json:"keyPath"`
	Value           json.RawMessage `json:"value"`
	MergeStrategy   string          `json:"mergeStrategy" oneof:"replace upsert"`
	FilePath        *string         `json:"filePath,omitempty"`
	ExpectedVersion *string         `json:"expectedVersion,omitempty"`
}

// ConfigBatchWriteParams sets values of the user's configuration, all or none.
type ConfigBatchWriteParams struct {
	Edits []ConfigEdit `json:"edits"`
	// FilePath must be the user's file. It can be omitted.
	FilePath *string `json:"filePath,omitempty"`
	// ExpectedVersion is the version of the layer from config/read. If the file has another
	// version, the server writes nothing.
	ExpectedVersion *string `json:"expectedVersion,omitempty"`
	// ReloadUserConfig has no effect: loaded threads keep the configuration with which they
	// started.
	ReloadUserConfig bool `json:"reloadUserConfig,omitempty"`
}

// ConfigEdit sets the value of a dotted key.
type ConfigEdit struct {
	KeyPath string `json:"keyPath"`
	// Value is a JSON value. Null removes the key.
	Value json.RawMessage `json:"value"`
	// MergeStrategy applies to tables: upsert sets the members one by one, replace sets the whole
	// table.
	MergeStrategy string `json:"mergeStrategy" oneof:"replace upsert"`
}

// MergeUpsert joins tables.
const MergeUpsert = "upsert"

// ConfigWriteResponse has the path of the written file and its version.
type ConfigWriteResponse struct {
	// Status is okOverridden if a layer of higher precedence hides a value that was set.
	Status   string `json:"status" oneof:"ok okOverridden"`
	Version  string `json:"version"`
	FilePath string `json:"filePath"`
	// OverriddenMetadata describes the layer that hides the value. It is null if the status is ok.
	OverriddenMetadata *OverriddenMetadata `json:"overriddenMetadata"`
}

// OverriddenMetadata has the layer that hides a value, and the effective value.
type OverriddenMetadata struct {
	Message         string              `json:"message"`
	OverridingLayer ConfigLayerMetadata `json:"overridingLayer"`
	EffectiveValue  any                 `json:"effectiveValue"`
}

// ConfigWriteError rejects a write of the configuration. The code is the one of the reference
// implementation.
func ConfigWriteError(kind Kind, message string) *Error {
	return &Error{CodeInvalidRequest, message, &ErrorData{Kind: kind, ConfigWriteErrorCode: string(kind)}}
}
