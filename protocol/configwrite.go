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

// ConfigBatchWriteParams sets values of the user's configuration, all or none. FilePath is the user's
// file, and may be omitted. ExpectedVersion is the version of the layer from config/read. If the file
// has another version, the server writes nothing. ReloadUserConfig has no effect: loaded threads keep
// the configuration with which they began.
type ConfigBatchWriteParams struct {
	Edits            []ConfigEdit `json:"edits"`
	FilePath         *string      `json:"filePath,omitempty"`
	ExpectedVersion  *string      `json:"expectedVersion,omitempty"`
	ReloadUserConfig bool         `json:"reloadUserConfig,omitempty"`
}

// ConfigEdit sets the value of a dotted key. Null removes it. If the value is a table, the merge
// strategy upsert sets its members one by one, and replace sets the whole table.
type ConfigEdit struct {
	KeyPath       string          `json:"keyPath"`
	Value         json.RawMessage `json:"value"`
	MergeStrategy string          `json:"mergeStrategy" oneof:"replace upsert"`
}

// MergeUpsert joins tables.
const MergeUpsert = "upsert"

// ConfigWriteResponse has the path of the written file and its version. Status is okOverridden if a
// layer of higher precedence hides a value that was set. OverriddenMetadata describes that layer.
type ConfigWriteResponse struct {
	Status             string              `json:"status" oneof:"ok okOverridden"`
	Version            string              `json:"version"`
	FilePath           string              `json:"filePath"`
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
