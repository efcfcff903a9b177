package config

import (
	"net/url"
	"strings"
)

// conceal returns a copy of v, found at path, without its secrets.
func conceal(path []string, v any) any {
	switch v := v.(type) {
	case string:
		return redactText(path, v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = conceal(path, v[i])
		}
		return out
	case map[string]string:
		return redactTable(path, v)
	case map[string]any:
		return redactTable(path, v)
	}
	return v
}

func redactTable[V any](path []string, table map[string]V) map[string]any {
	out := make(map[string]any, len(table))
	for key, value := range table {
		out[key] = conceal(below(path, key), value)
	}
	return out
}

// redactText also removes the password and secret parameters from addresses.
func redactText(path []string, text string) string {
	if text != "" && secret(path) {
		return redacted
	}
	if !strings.HasPrefix(text, "http://") && !strings.HasPrefix(text, "https://") {
		return text
	}
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	query := redactQuery(u.RawQuery)
	if u.User == nil && query == u.RawQuery {
		return text
	}
	u.RawQuery = query
	return u.Redacted()
}

func redactQuery(query string) string {
	parts := strings.Split(query, "&")
	for i, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); value != "" && (err != nil || secret([]string{plain})) {
			parts[i] = name + "=" + redacted
		}
	}
	return strings.Join(parts, "&")
}
