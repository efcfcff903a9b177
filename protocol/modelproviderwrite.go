package protocol

import (
	"reflect"

	"github.com/tidwall/gjson"
)

// ModelProviderConfigWriteParams adds a provider to the user's configuration, or changes one.
type ModelProviderConfigWriteParams struct {
	Settings ProviderSettingsPatch `json:"settings"`
}

// ProviderSettingsPatch has the settings of a provider to change. Absent ones stay; null clears BaseURL and EnvKey.
type ProviderSettingsPatch struct {
	// Type is customGateway; the others are rejected.
	Type string `json:"type" oneof:"customGateway bedrock gcp"`
	// ProviderID is the name of a configured provider. Without it a provider is added, with a name made from Name.
	ProviderID *string `json:"providerId,omitempty"`
	Name       *string `json:"name,omitempty"`
	BaseURL    *string `json:"baseUrl,omitempty"`
	// EnvKey is the variable of the server's environment with the key.
	EnvKey *string `json:"envKey,omitempty"`
}

// UnmarshalJSON makes an empty text of null, to distinguish it from an absent member.
func (p *ProviderSettingsPatch) UnmarshalJSON(b []byte) error {
	members, err := objectMembers(gjson.ParseBytes(b))
	if err != nil {
		return err
	}
	if err := decodeFields(members, reflect.ValueOf(p).Elem()); err != nil {
		return err
	}
	for name, value := range map[string]**string{"baseUrl": &p.BaseURL, "envKey": &p.EnvKey} {
		if in, found := members[name]; found && in.Type == gjson.Null {
			*value = new(string)
		}
	}
	return nil
}

// ModelProviderConfigWriteResponse has the provider after the change.
type ModelProviderConfigWriteResponse struct {
	Provider ModelProviderSummary `json:"provider"`
}

// ModelProviderDefaultSetParams sets the provider of new threads in the user's configuration. The response is a
// ConfigWriteResponse.
type ModelProviderDefaultSetParams struct {
	ProviderID string `json:"providerId"`
}
