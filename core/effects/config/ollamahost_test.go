package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOllamaHost follows the rules of Ollama, whose envconfig/config_test.go has most of these values.
func TestOllamaHost(t *testing.T) {
	for value, want := range map[string]string{
		"":                           "http://127.0.0.1:11434/v1",
		"  ":                         "http://127.0.0.1:11434/v1",
		"1.2.3.4":                    "http://1.2.3.4:11434/v1",
		":1234":                      "http://127.0.0.1:1234/v1",
		"1.2.3.4:1234":               "http://1.2.3.4:1234/v1",
		"box":                        "http://box:11434/v1",
		"box:56789/":                 "http://box:56789/v1",
		"box:66000":                  "http://box:11434/v1",
		"box:-1":                     "http://box:11434/v1",
		"::1":                        "http://[::1]:11434/v1",
		"[::1]":                      "http://[::1]:11434/v1",
		"[::1]:1337":                 "http://[::1]:1337/v1",
		"0.0.0.0":                    "http://127.0.0.1:11434/v1",
		"0.0.0.0:5000":               "http://127.0.0.1:5000/v1",
		"[::]:5000":                  "http://[::1]:5000/v1",
		"http://1.2.3.4":             "http://1.2.3.4:80/v1",
		"http://1.2.3.4:4321":        "http://1.2.3.4:4321/v1",
		"https://1.2.3.4":            "https://1.2.3.4:443/v1",
		"https://box.example/ollama": "https://box.example:443/ollama/v1",
		"ollama.com":                 "https://ollama.com:443/v1",
		` "1.2.3.4" `:                "http://1.2.3.4:11434/v1",
		`'box:1'`:                    "http://box:1/v1",
	} {
		c, _ := loadWith(t, "", map[string]string{"OLLAMA_HOST": value})
		require.Equal(t, want, c.ModelProviders["ollama"].BaseURL, value)
		require.False(t, c.OllamaHostIgnored(), value)
	}
}

func TestOllamaHostThatIsNoAddressIsIgnored(t *testing.T) {
	for _, value := range []string{"ftp://box", "a\nb", "user:secret@box", "http://user:secret@box:1", "a b", "box?x=secret", "box#secret", "%zz"} {
		c, _ := loadWith(t, "", map[string]string{"OLLAMA_HOST": value})
		require.Equal(t, "http://127.0.0.1:11434/v1", c.ModelProviders["ollama"].BaseURL, value)
		require.True(t, c.OllamaHostIgnored(), value)
	}
}

// TestTheUsersAddressIsStrongerThanOllamaHost also if the variable is wrong.
func TestTheUsersAddressIsStrongerThanOllamaHost(t *testing.T) {
	for _, value := range []string{"box", "a b"} {
		c, _ := loadWith(t, "[model_providers.ollama]\nbase_url = \"http://mine:1/v1\"\n", map[string]string{"OLLAMA_HOST": value})
		require.Equal(t, "http://mine:1/v1", c.ModelProviders["ollama"].BaseURL)
		require.False(t, c.OllamaHostIgnored())
	}
}
