package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"appserver/protocol"
)

var errNoKey = errors.New("expected KEY=VALUE, with a dotted key")

// flagLayer returns the layer of the command line, or nil if it sets nothing. Later overrides win
// over earlier ones, and provider over all.
func flagLayer(overrides []string, provider string) (*layer, error) {
	if len(overrides) == 0 && provider == "" {
		return nil, nil
	}
	l := newLayer(protocol.ConfigLayerSource{Type: protocol.LayerSessionFlags})
	for _, text := range overrides {
		path, value, err := parseOverride(text)
		if err == nil {
			err = l.add(path, value, overrideLabel(path, value, text))
		} else {
			err = &Error{Position: "-c " + text, Problem: err.Error()}
		}
		if err != nil {
			return nil, err
		}
	}
	if provider != "" {
		return l, l.add([]string{"model_provider"}, provider, "--model-provider "+provider)
	}
	return l, nil
}

// overrideLabel returns the override as it was written, without its value if that has a secret.
func overrideLabel(path []string, value any, text string) string {
	if secret(path) || !reflect.DeepEqual(conceal(path, value), value) {
		return "-c " + dotted(path)
	}
	return "-c " + text
}

func parseOverride(text string) (path []string, value any, err error) {
	i := equalSign(text)
	if i < 0 {
		return nil, nil, errNoKey
	}
	path, err = keyPath(text[:i])
	return path, overrideValue(text[i+1:]), err
}

// equalSign returns the index of the first = outside quotes, or -1.
func equalSign(text string) int {
	var quote rune
	for i, r := range text {
		switch {
		case quote == 0 && r == '=':
			return i
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
		case r == quote:
			quote = 0
		}
	}
	return strings.IndexByte(text, '=')
}

// overrideValue parses text as TOML, or returns it unchanged.
func overrideValue(text string) any {
	var doc map[string]any
	if err := toml.Unmarshal([]byte("value = "+text), &doc); err == nil && len(doc) == 1 {
		return doc["value"]
	}
	return strings.TrimSpace(text)
}

// keyPath splits a dotted key as TOML does, or at its dots if it is not TOML: clients use file
// paths as keys.
func keyPath(key string) ([]string, error) {
	if path, ok := tomlKey(key); ok {
		return path, nil
	}
	path := strings.Split(strings.TrimSpace(key), ".")
	if slices.Contains(path, "") {
		return nil, errNoKey
	}
	return path, nil
}

func tomlKey(key string) (path []string, ok bool) {
	var p unstable.Parser
	p.Reset([]byte(key + " = 0"))
	if !p.NextExpression() || p.Expression().Kind != unstable.KeyValue {
		return nil, false
	}
	for part := p.Expression().Key(); part.Next(); {
		path = append(path, string(part.Node().Data))
	}
	return path, !p.NextExpression() && p.Error() == nil
}

// decodeJSON decodes a value of a thread's overrides. Numbers without a fraction are integers.
func decodeJSON(raw json.RawMessage) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, err
	}
	return numbers(v), nil
}

func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return number(v)
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = numbers(v[key])
		}
	}
	return v
}

func number(n json.Number) any {
	if i, err := n.Int64(); err == nil {
		return i
	}
	if f, err := n.Float64(); err == nil {
		return f
	}
	return n.String()
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
