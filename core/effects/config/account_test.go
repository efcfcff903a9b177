package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/account"
	"appserver/core/effects/config"
	"appserver/protocol"
)

// TestRulesOfLoginsAreThoseOfTheUserAndTheAdministrator combines both: a login must be permitted by both.
func TestRulesOfLoginsAreThoseOfTheUserAndTheAdministrator(t *testing.T) {
	for _, test := range []struct {
		user, admin string
		api, chat   bool
		workspaces  []string
	}{
		{"", "", true, true, nil},
		{`forced_login_method = "api"`, "", true, false, nil},
		{"", `allowed_login_methods = ["chatgpt"]`, false, true, nil},
		{`forced_login_method = "api"`, `allowed_login_methods = ["chatgpt"]`, false, false, nil},
		{`forced_chatgpt_workspace_id = "a"`, `allowed_chatgpt_workspaces = ["a", "b"]`, true, true, []string{"a"}},
		{`forced_chatgpt_workspace_id = ["c"]`, `allowed_chatgpt_workspaces = ["a", "b"]`, true, true, []string{}},
	} {
		home, system := t.TempDir(), t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(test.user), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(system, "requirements.toml"), []byte(test.admin), 0o600))
		c, err := config.Load(config.Source{Home: home, System: filepath.Join(system, "config.toml")})
		require.NoError(t, err)
		methods, workspaces := c.PermittedLogins()
		rules := account.Rules{Methods: methods}
		require.Equal(t, test.api, rules.PermitsMethod(account.ForceAPI), test)
		require.Equal(t, test.chat, rules.PermitsMethod(account.ForceChatGPT), test)
		require.Equal(t, test.workspaces, workspaces, test)
	}
}

func TestSettingsOfTheAccountAreChecked(t *testing.T) {
	for text, problem := range map[string]string{
		`account_hosts = ["https://h"]`:            "without a scheme",
		`account_hosts = [""]`:                     "without a scheme",
		`account_hosts = ["h/v1"]`:                 "without a scheme",
		`account_hosts = ["u@h"]`:                  "without a scheme",
		`forced_chatgpt_workspace_id = []`:         "at least one workspace",
		`forced_chatgpt_workspace_id = 5`:          "a string or a list",
		`forced_login_method = "x"`:                "`api`, `chatgpt`",
		`cli_auth_credentials_store = "elsewhere"`: "`ephemeral`",
		`chatgpt_base_url = "ftp://h"`:             "expected an address",
	} {
		home := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600))
		_, err := config.Load(config.Source{Home: home})
		require.ErrorContains(t, err, problem, text)
	}
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"),
		[]byte(`account_hosts = ["h", "H.example:8443", "[::1]:80", "127.0.0.1:1"]`), 0o600))
	c, err := config.Load(config.Source{Home: home})
	require.NoError(t, err)
	require.Len(t, c.AccountHosts, 4)
}

// TestLoginMakesTheProviderReady distinguishes no login, one that cannot be used, and a damaged one.
func TestLoginMakesTheProviderReady(t *testing.T) {
	key := func(name string) string { return map[string]string{"OPENAI_API_KEY": "sk-x"}[name] }
	unusable := &account.SignInError{}
	for _, test := range []struct {
		signedIn bool
		err      error
		getenv   func(string) string
		ready    bool
	}{
		{true, nil, nil, true}, {false, nil, nil, false}, {false, nil, key, true},
		{false, unusable, nil, false}, {false, unusable, key, true}, {false, os.ErrInvalid, key, false},
	} {
		c, err := config.Load(config.Source{Getenv: test.getenv,
			Ports: config.Ports{Login: func() (bool, error) { return test.signedIn, test.err }}})
		require.NoError(t, err)
		for _, of := range []func() error{
			func() error { return c.Ready("openai") },
			func() error { // a thread has the same login
				thread, err := c.With(map[string]json.RawMessage{"model": json.RawMessage(`"m"`)})
				require.NoError(t, err)
				return thread.Ready("openai")
			},
		} {
			err := of()
			require.Equal(t, test.ready, err == nil, "%v: %v", test, err)
			if err != nil {
				requireKind(t, err, protocol.KindProviderNotReady)
			}
		}
	}
}
