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

// ConfigBatchWriteParams sets values of the user's configuration, all or none. FilePath can
// be left out, or is the user's file. ExpectedVersion is the version of the layer that
// config/read told; where the file has another one nothing is written. ReloadUserConfig has
// no effect on threads that are loaded: they keep the configuration that they began with.
type ConfigBatchWriteParams struct {
	Edits            []ConfigEdit `json:"edits"`
	FilePath         *string      `json:"filePath,omitempty"`
	ExpectedVersion  *string      `json:"expectedVersion,omitempty"`
	ReloadUserConfig bool         `json:"reloadUserConfig,omitempty"`
}

// ConfigEdit sets what is at a dotted key; null removes it. Where the value is a table,
// MergeStrategy upsert sets its members one by one, and replace the table as a whole.
type ConfigEdit struct {
	KeyPath       string          `json:"keyPath"`
	Value         json.RawMessage `json:"value"`
	MergeStrategy string          `json:"mergeStrategy" oneof:"replace upsert"`
}

// MergeUpsert joins tables.
const MergeUpsert = "upsert"

// ConfigWriteResponse tells of the file that was written, and its version. Status is
// okOverridden where a stronger layer hides a value that was set, which
// OverriddenMetadata tells of.
type ConfigWriteResponse struct {
	Status             string              `json:"status" oneof:"ok okOverridden"`
	Version            string              `json:"version"`
	FilePath           string              `json:"filePath"`
	OverriddenMetadata *OverriddenMetadata `json:"overriddenMetadata"`
}

// OverriddenMetadata tells which layer hides a value, and what is in force.
type OverriddenMetadata struct {
	Message         string              `json:"message"`
	OverridingLayer ConfigLayerMetadata `json:"overridingLayer"`
	EffectiveValue  any                 `json:"effectiveValue"`
}

// ConfigWriteError refuses a write of the configuration. The word is that of the reference
// implementation.
func ConfigWriteError(kind Kind, message string) *Error {
	return &Error{CodeInvalidRequest, message, &ErrorData{Kind: kind, ConfigWriteErrorCode: string(kind)}}
}
