package app

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"appserver/core/effects/config"
	"appserver/protocol"
)

// WriteProvider implements server.Catalog. Its errors are those of the reference implementation.
func (c catalog) WriteProvider(p *protocol.ModelProviderConfigWriteParams) (
	answer protocol.ModelProviderConfigWriteResponse, then func(), err error) {
	patch := p.Settings
	if patch.Type != protocol.ProviderCustom {
		return answer, nil, protocol.InvalidParams("settings.type",
			"`settings.type`: this program has no providers of Amazon and Google; add a customGateway with a compatible API")
	}
	id, edits, err := c.providerEdits(patch)
	if err != nil {
		return answer, nil, err
	}
	if _, then, err = c.Write(&protocol.ConfigBatchWriteParams{Edits: edits}); err != nil {
		return answer, nil, err
	}
	answer.Provider, err = c.Current().Summary(id)
	return answer, then, err
}

// providerEdits returns the name of the provider of a patch, and the edits of the configuration.
func (c catalog) providerEdits(patch protocol.ProviderSettingsPatch) (
	id string, edits []protocol.ConfigEdit, err error) {
	id, err = c.patched(patch)
	if err != nil {
		return "", nil, err
	}
	wire := (*string)(nil)
	if patch.ProviderID == nil {
		wire = new(config.WireResponses)
	}
	table, err := protocol.Marshal(id)
	if err != nil {
		return "", nil, err
	}
	for _, set := range []struct {
		key   string
		value *string
	}{{"name", patch.Name}, {"base_url", patch.BaseURL}, {"env_key", patch.EnvKey}, {"wire_api", wire}} {
		if set.value == nil {
			continue
		}
		value, err := protocol.Marshal(protocol.OrNil(strings.TrimSpace(*set.value)))
		if err != nil {
			return "", nil, err
		}
		edits = append(edits, protocol.ConfigEdit{KeyPath: fmt.Sprintf("model_providers.%s.%s", table, set.key),
			Value: value, MergeStrategy: "replace"})
	}
	return id, edits, nil
}

// patched returns the name of the provider that a patch changes or adds.
func (c catalog) patched(patch protocol.ProviderSettingsPatch) (string, error) {
	now := c.Current()
	named := patch.Name != nil && strings.TrimSpace(*patch.Name) != ""
	addressed := patch.BaseURL != nil && strings.TrimSpace(*patch.BaseURL) != ""
	switch {
	case addressed && !isPlainAddress(strings.TrimSpace(*patch.BaseURL)):
		return "", invalidProvider("enter a base URL of http or https without credentials, a query and a fragment")
	case patch.ProviderID == nil && !named, patch.Name != nil && !named:
		return "", invalidProvider("enter a name for the provider")
	case patch.ProviderID == nil && !addressed:
		return "", invalidProvider("a new provider needs a base URL")
	case patch.ProviderID == nil:
		return freeName(now, *patch.Name), nil
	case config.IsBuiltIn(*patch.ProviderID):
		return "", invalidProvider("a provider that is built in cannot be a gateway: change its table with config/value/write")
	case now.ModelProviders[*patch.ProviderID].ID == "":
		return "", protocol.ConfigWriteError(protocol.KindConfigPath, "unknown provider: "+*patch.ProviderID)
	}
	return *patch.ProviderID, nil
}

func invalidProvider(message string) error {
	return protocol.ConfigWriteError(protocol.KindConfigValidation, "Invalid provider: "+message)
}

// isPlainAddress reports whether an address has a host and a path only.
func isPlainAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil &&
		u.RawQuery == "" && u.Fragment == ""
}

// maxProviderName bounds the name of a provider that is made from a text, in bytes.
const maxProviderName = 64

// freeName returns a name for a new provider, made from a text for people.
func freeName(c *config.Config, text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	base := strings.Join(words, "-")
	base = strings.Trim(cmp.Or(base[:min(len(base), maxProviderName)], "provider"), "-")
	name := base
	for n := 2; c.ModelProviders[name].ID != "" || config.IsBuiltIn(name); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name
}

// SetDefaultProvider implements server.Catalog.
func (c catalog) SetDefaultProvider(name string) (protocol.ConfigWriteResponse, func(), error) {
	if _, err := c.Current().Provider(name); err != nil {
		return protocol.ConfigWriteResponse{}, nil, protocol.ConfigWriteError(protocol.KindConfigValidation, err.Error())
	}
	value, err := protocol.Marshal(name)
	if err != nil {
		return protocol.ConfigWriteResponse{}, nil, err
	}
	return c.Write(&protocol.ConfigBatchWriteParams{Edits: []protocol.ConfigEdit{
		{KeyPath: "model_provider", Value: value, MergeStrategy: "replace"}}})
}
