package account

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHostsThatGetTheLogin(t *testing.T) {
	hosts := Hosts{"gateway.example:8443", "plain.example", "127.0.0.1:8080", "[::1]:9"}
	for address, permitted := range map[string]bool{
		"https://api.openai.com/v1": true, "https://chatgpt.com/backend-api": true, "https://auth.openai.com": true,
		"https://us.api.openai.com/v1": true, "https://API.OpenAI.com:443/": true, "https://chatgpt.com./x": true,
		"http://api.openai.com/v1": false, "https://api.openai.com:8443/": false, "https://openai.com.evil.example/": false,
		"https://evil-openai.com/": false, "https://u:p@api.openai.com/": false, "https://api.openai.com@evil.example/": false,
		"https://gateway.example:8443/v1": true, "https://gateway.example/v1": false, "http://gateway.example:8443/": false,
		"https://plain.example": true, "https://plain.example:444": false, "https://sub.plain.example": false,
		"http://127.0.0.1:8080/v1": true, "http://127.0.0.1:8081/v1": false, "https://127.0.0.1:8080": true,
		"http://[::1]:9/": true, "http://localhost/": false, "ftp://api.openai.com/": false, "": false,
	} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		err = hosts.check(u)
		require.Equal(t, permitted, err == nil, "%s: %v", address, err)
		if err != nil {
			require.NotContains(t, err.Error(), "u:p")
		}
	}
}

func TestProxiesThatPassTheLoginOn(t *testing.T) {
	hosts := Hosts{"proxy.example:3128", "other.example:80"}
	for proxy, permitted := range map[string]bool{"": true, "proxy.example:3128": true, "proxy.example:3129": false,
		"other.example:80": true, "other.example:443": false, "chatgpt.com:3128": false} {
		err := hosts.checkProxy(proxy, "HTTPS_PROXY")
		require.Equal(t, permitted, err == nil, "%s: %v", proxy, err)
		if err != nil {
			require.ErrorContains(t, err, Setting)
		}
	}
}
