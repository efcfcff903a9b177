package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// Keys that users type. No detector knows their form.
const (
	typedKey = "plain-typed-key-of-the-user"
	otherKey = "plain-other-key-of-the-user"
)

// keyed is the first lines of a configuration whose threads use the provider keyed.
const keyed = "model = \"keyed-model\"\nmodel_provider = \"keyed\"\n"

func keysFile(home string) string { return filepath.Join(home, "appserver-keys.json") }

func homeOf(t *testing.T, text string) string {
	t.Helper()
	home := t.TempDir()
	apptest.WriteConfig(t, home, text)
	return home
}

// startKeyed starts a server of a home, with variables.
func startKeyed(t *testing.T, home string, variables ...string) *apptest.Client {
	t.Helper()
	cmd := apptest.ServerCommand(t, home, "-c", "compat.turn_completed_floor_ms=0")
	cmd.Env = append(cmd.Env, variables...)
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	return c
}

// writeKey types a key.
func writeKey(c *apptest.Client, provider, key string) gjson.Result {
	c.T.Helper()
	return gjson.ParseBytes(c.Call("modelProvider/key/write", apptest.Object{"modelProvider": provider, "apiKey": key})).
		Get("provider")
}

// listedProvider returns a provider of modelProvider/list.
func listedProvider(c *apptest.Client, name string) gjson.Result {
	c.T.Helper()
	return gjson.GetBytes(c.Call("modelProvider/list", apptest.Object{}), fmt.Sprintf("data.#(id==%q)", name))
}

func completedTurn(c *apptest.Client, thread string) {
	c.T.Helper()
	ended := c.Turn(thread, "hello")
	require.Equal(c.T, "completed", ended.Status)
}

// failedTurn returns the error of a turn.
func failedTurn(c *apptest.Client, thread string) gjson.Result {
	c.T.Helper()
	c.BeginTurn(thread, "hello")
	return gjson.ParseBytes(c.UntilMethod("turn/completed").Params).Get("turn.error")
}

func writeConfigValue(c *apptest.Client, key string, value any) {
	c.T.Helper()
	c.Call("config/value/write", apptest.Object{"keyPath": key, "value": value, "mergeStrategy": "replace"})
}

// TestFirstRunOfAProvider writes a provider, types its key and uses it, in one server and without a restart.
func TestFirstRunOfAProvider(t *testing.T) {
	t.Parallel()
	p := apptest.StartKeyedProvider(t, typedKey)
	home := t.TempDir()
	c := startKeyed(t, home)
	old := c.StartThread(apptest.Object{"modelProvider": "offline"})
	writeConfigValue(c, "model_providers.keyed", apptest.Object{"base_url": p.URL + "/v1", "wire_api": "chat",
		"env_key": "KEYED_API_KEY"})
	c.UntilMethod("modelProvider/changed")
	before := listedProvider(c, "keyed")
	require.Equal(t, "none", before.Get("keySource").Str)
	require.False(t, before.Get("ready").Bool())
	require.Contains(t, before.Get("problem").Str, "appserver login --provider keyed")

	after := writeKey(c, "keyed", " "+typedKey+"\n")
	require.JSONEq(t, after.Raw, listedProvider(c, "keyed").Raw)
	require.Equal(t, "stored", after.Get("keySource").Str)
	require.True(t, after.Get("ready").Bool())
	require.Equal(t, gjson.Null, after.Get("problem").Type)
	models := gjson.ParseBytes(c.Call("model/list", apptest.Object{"modelProvider": "keyed"}))
	require.Equal(t, int64(50000), models.Get(`data.#(id=="keyed-model").contextWindow`).Int())

	completedTurn(c, c.StartThread(apptest.Object{"modelProvider": "keyed", "model": "keyed-model"}))
	require.Equal(t, 2, c.Count("modelProvider/changed"), "after the table and after the key")
	loaded := c.Call("turn/start", apptest.Object{"threadId": old, "input": apptest.TextInput("x")})
	require.NotEmpty(t, loaded)
	require.Equal(t, []string{typedKey}, p.Keys())
	require.Empty(t, p.Headers()[0].Get("Thread-Id"), "only the vendor of the login gets the ids of threads")
	c.Close()
	require.JSONEq(t, fmt.Sprintf(`{"keys":{"keyed":{"key":%q,"origin":%q}}}`, typedKey, p.URL),
		fileText(t, keysFile(home)))
}

// TestTypedKeyCountsFirst: the key that the user has typed counts before those of the environment and of the file,
// until it is removed.
func TestTypedKeyCountsFirst(t *testing.T) {
	t.Parallel()
	p := apptest.StartKeyedProvider(t, typedKey, otherKey, "file-key")
	for source, table := range map[string]string{
		"environmentVariable": p.Table("keyed", `env_key = "KEYED_API_KEY"`),
		"configuration":       p.Table("keyed", `experimental_bearer_token = "`+otherKey+`"`),
	} {
		c := startKeyed(t, homeOf(t, keyed+table), "KEYED_API_KEY="+otherKey)
		id := c.StartThread(apptest.Object{})
		begin := len(p.Keys())
		completedTurn(c, id)
		require.Equal(t, source, listedProvider(c, "keyed").Get("keySource").Str)
		writeKey(c, "keyed", typedKey)
		completedTurn(c, id)
		require.JSONEq(t, `{"removed":true}`, string(c.Call("modelProvider/key/delete", apptest.Object{"modelProvider": "keyed"})))
		require.JSONEq(t, `{"removed":false}`, string(c.Call("modelProvider/key/delete", apptest.Object{"modelProvider": "keyed"})))
		completedTurn(c, id)
		c.Close()
		require.Equal(t, []string{otherKey, typedKey, otherKey}, p.Keys()[begin:])
	}
}

// TestTypedKeyTakesThePlaceOfAHeader: a provider whose key is a header, such as Azure, gets the typed key in that
// header.
func TestTypedKeyTakesThePlaceOfAHeader(t *testing.T) {
	t.Parallel()
	p := apptest.StartKeyedProvider(t, typedKey)
	for _, line := range []string{`env_http_headers = { api-key = "KEYED_API_KEY", X-Title = "TITLE" }`,
		`http_headers = { Api-Key = "` + otherKey + `" }`, `env_http_headers = { Authorization = "KEYED_API_KEY" }`} {
		c := startKeyed(t, homeOf(t, keyed+p.Table("keyed", line)), "KEYED_API_KEY="+otherKey)
		writeKey(c, "keyed", typedKey)
		completedTurn(c, c.StartThread(apptest.Object{}))
		c.Close()
		h := p.Headers()[len(p.Headers())-1]
		if strings.Contains(line, "Authorization") {
			require.Equal(t, "Bearer "+typedKey, h.Get("Authorization"))
		} else {
			require.Equal(t, []string{typedKey}, h.Values("Api-Key"))
			require.Empty(t, h.Get("Authorization"))
		}
	}
	c := startKeyed(t, homeOf(t, keyed+p.Table("keyed", `env_http_headers = { api-key = "A", X-Token = "B" }`)))
	require.Contains(t, c.CallRejected("modelProvider/key/write", apptest.Object{"modelProvider": "keyed", "apiKey": typedKey}).Message,
		"several headers for keys")
	c.Close()
}

// TestRejectedKeyIsNamed: the error of a turn names where the rejected key came from and what to do, and has no key.
func TestRejectedKeyIsNamed(t *testing.T) {
	t.Parallel()
	p := apptest.StartKeyedProvider(t)
	for _, test := range []struct {
		line, variable, typed string
		words                 []string
	}{
		{`env_key = "KEYED_API_KEY"`, "KEYED_API_KEY=" + otherKey, "",
			[]string{"KEYED_API_KEY", "correct the variable", "appserver login --provider keyed"}},
		{`env_http_headers = { api-key = "KEYED_HEADER" }`, "KEYED_HEADER=" + otherKey, "", []string{"(KEYED_HEADER)"}},
		{`experimental_bearer_token = "` + otherKey + `"`, "", "", []string{"config.toml", "appserver login --provider keyed"}},
		{`env_key = "KEYED_API_KEY"`, "KEYED_API_KEY=" + otherKey, typedKey,
			[]string{"the key that was typed for it", "appserver login --provider keyed", "appserver logout --provider keyed"}},
		{"", "", "", []string{"has no key", "modelProvider/key/write"}},
	} {
		home := homeOf(t, keyed+p.Table("keyed", test.line))
		c := startKeyed(t, home, test.variable)
		if test.typed != "" {
			writeKey(c, "keyed", test.typed)
		}
		failed := failedTurn(c, c.StartThread(apptest.Object{}))
		c.Close()
		for _, word := range test.words {
			require.Contains(t, failed.Get("message").Str, word)
		}
		require.NotContains(t, failed.Raw, otherKey)
		require.NotContains(t, failed.Raw, typedKey)
	}
}

// TestTypedKeyStaysAtItsHost: a key goes to the host for which it was typed, whoever changes the address of the
// provider.
func TestTypedKeyStaysAtItsHost(t *testing.T) {
	t.Parallel()
	mine, evil := apptest.StartKeyedProvider(t, typedKey), apptest.StartKeyedProvider(t, typedKey, "")
	project := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(project, ".codex"), 0o700))
	hostile := evil.Table("keyed") + "\n[projects." + fmt.Sprintf("%q", project) + "]\n"
	require.NoError(t, os.WriteFile(filepath.Join(project, ".codex", "config.toml"),
		[]byte("openai_base_url = \""+evil.URL+"\"\n"+hostile), 0o600))
	home := homeOf(t, keyed+mine.Table("keyed")+fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", project))
	c := startKeyed(t, home)
	writeKey(c, "keyed", typedKey)

	completedTurn(c, c.StartThread(apptest.Object{"cwd": project}))
	override := apptest.Object{"model_providers.keyed.base_url": evil.URL + "/v1"}
	completedTurn(c, c.StartThread(apptest.Object{"config": override}))
	require.Len(t, mine.Keys(), 2)
	require.Empty(t, evil.Keys(), "neither a project nor a thread moves a provider")

	id := c.StartThread(apptest.Object{})
	writeConfigValue(c, "model_providers.keyed.base_url", evil.URL+"/v1")
	refused := c.CallRejected("turn/start", apptest.Object{"threadId": id, "input": apptest.TextInput("x")})
	require.Contains(t, refused.Message, "was typed for "+mine.URL)
	require.Contains(t, refused.Message, "type it again")
	listed := listedProvider(c, "keyed")
	require.False(t, listed.Get("ready").Bool())
	require.Contains(t, listed.Get("problem").Str, evil.URL)
	c.Call("model/list", apptest.Object{"modelProvider": "keyed"})
	require.Empty(t, evil.Keys())

	writeConfigValue(c, "model_providers.keyed.base_url", mine.URL+"/v1/")
	completedTurn(c, id)
	writeConfigValue(c, "model_providers.keyed.base_url", evil.URL+"/v1")
	writeKey(c, "keyed", typedKey)
	completedTurn(c, id)
	require.Equal(t, []string{typedKey}, evil.Keys(), "the user has typed it again")
	c.Close()
}

// TestMovedProviderFallsBackToItsOtherKey uses the key of the environment at the new host, and says why.
func TestMovedProviderFallsBackToItsOtherKey(t *testing.T) {
	t.Parallel()
	first, second := apptest.StartKeyedProvider(t, typedKey), apptest.StartKeyedProvider(t, otherKey)
	home := homeOf(t, keyed+first.Table("keyed", `env_key = "KEYED_API_KEY"`))
	c := startKeyed(t, home, "KEYED_API_KEY="+otherKey)
	writeKey(c, "keyed", typedKey)
	c.Close()
	apptest.WriteConfig(t, home, keyed+second.Table("keyed", `env_key = "KEYED_API_KEY"`))
	c = startKeyed(t, home, "KEYED_API_KEY="+otherKey)
	completedTurn(c, c.StartThread(apptest.Object{}))
	require.Equal(t, []string{otherKey}, second.Keys())
	listed := listedProvider(c, "keyed")
	require.Equal(t, "environmentVariable", listed.Get("keySource").Str)
	require.True(t, listed.Get("ready").Bool())
	require.Contains(t, listed.Get("problem").Str, "was typed for")
	c.Close()
}

// TestKeysThatWouldHaveNoEffectAreRefused says why, and stores nothing.
func TestKeysThatWouldHaveNoEffectAreRefused(t *testing.T) {
	t.Parallel()
	home := homeOf(t, "[model_providers.open]\nbase_url = \"http://box.example/v1\"\n[model_providers.empty]\nname = \"x\"\n"+
		"[model_providers.gateway]\nbase_url = \"https://gateway.example\"\nrequires_openai_auth = true\n")
	c := startKeyed(t, home)
	for provider, words := range map[string]string{"none": "not found", "offline": "needs no key", "openai": "account/login/start",
		"gateway": "account/login/start", "empty": "base_url", "open": "allowHttp"} {
		refused := c.CallRejected("modelProvider/key/write", apptest.Object{"modelProvider": provider, "apiKey": typedKey})
		require.Contains(t, refused.Message, words, provider)
		require.NotContains(t, refused.Message, typedKey)
	}
	for _, key := range []string{"", "a b", "\"" + typedKey + "\"", typedKey + "\nX-Evil: 1",
		strings.Repeat("k", 20_000)} {
		refused := c.CallRejected("modelProvider/key/write", apptest.Object{"modelProvider": "openrouter", "apiKey": key})
		require.NotContains(t, refused.Message, typedKey)
	}
	require.NoFileExists(t, keysFile(home))
	c.Call("modelProvider/key/write", apptest.Object{"modelProvider": "open", "apiKey": typedKey, "allowHttp": true})
	require.Equal(t, "stored", listedProvider(c, "open").Get("keySource").Str)
	c.Close()
}

// TestDamagedFileOfKeysIsKept names the file, replaces and removes nothing, and does not disturb other providers.
func TestDamagedFileOfKeysIsKept(t *testing.T) {
	t.Parallel()
	p := apptest.StartKeyedProvider(t, "", otherKey)
	home := homeOf(t, keyed+p.Table("keyed")+p.Table("env", `env_key = "KEYED_API_KEY"`)+p.Table("bare", `env_key = "UNSET_KEY"`))
	damaged := `{"keys":{"keyed":{"key":"` + typedKey
	require.NoError(t, os.WriteFile(keysFile(home), []byte(damaged), 0o600))
	c := startKeyed(t, home, "KEYED_API_KEY="+otherKey)
	params := apptest.Object{"modelProvider": "keyed", "apiKey": otherKey}
	for _, refused := range []*apptest.RPCError{c.CallRejected("modelProvider/key/write", params),
		c.CallRejected("modelProvider/key/delete", apptest.Object{"modelProvider": "keyed"})} {
		require.Contains(t, refused.Message, "appserver-keys.json is damaged")
		require.Contains(t, refused.Message, "move it away")
		require.NotContains(t, refused.Message, typedKey)
	}
	completedTurn(c, c.StartThread(apptest.Object{}))
	completedTurn(c, c.StartThread(apptest.Object{"modelProvider": "env"}))
	bare := c.CallRejected("turn/start", apptest.Object{"threadId": c.StartThread(apptest.Object{"modelProvider": "bare"}),
		"input": apptest.TextInput("x")})
	require.Contains(t, bare.Message, "is damaged")
	c.Close()
	require.Equal(t, damaged, fileText(t, keysFile(home)))
}

// TestServersOfAHomeShareKeys: a running server uses a key that another one, or a command, has stored, and does not use
// one that was removed.
func TestServersOfAHomeShareKeys(t *testing.T) {
	t.Parallel()
	p := apptest.StartKeyedProvider(t, typedKey, otherKey)
	home := homeOf(t, keyed+p.Table("keyed", `env_key = "UNSET_KEY"`))
	first, second := startKeyed(t, home), startKeyed(t, home)
	id := second.StartThread(apptest.Object{})
	turn := apptest.Object{"threadId": id, "input": apptest.TextInput("x")}
	require.Contains(t, second.CallRejected("turn/start", turn).Message, "appserver login --provider keyed")
	writeKey(first, "keyed", typedKey)
	completedTurn(second, id)
	require.Equal(t, 1, second.Count("modelProvider/changed"), "a change by another process is noticed at the next request")

	run := keyCommand(t, home)
	output, status := run(otherKey+"\n", "login", "--provider", "keyed")
	require.Zero(t, status, output)
	completedTurn(second, id)
	require.Equal(t, []string{typedKey, otherKey}, p.Keys())
	output, _ = run("", "doctor")
	require.Contains(t, output, "accepts the key that was typed for it")
	require.NotContains(t, output, otherKey)
	_, status = run("", "logout", "--provider", "keyed")
	require.Zero(t, status)
	require.NotEmpty(t, second.CallRejected("turn/start", turn).Message)
	first.Close()
	second.Close()
}

// keyCommand returns a function that runs commands of a home.
func keyCommand(t *testing.T, home string) func(input string, args ...string) (output string, status int) {
	return func(input string, args ...string) (string, int) {
		cmd := apptest.ProcessCommand(t, home, must(apptest.Binary()), args...)
		cmd.Stdin, cmd.Stderr = strings.NewReader(input), nil
		text, _ := cmd.CombinedOutput()
		return string(text), cmd.ProcessState.ExitCode()
	}
}

// TestCommandsAboutKeys stores a key from a pipe, states it and removes it.
func TestCommandsAboutKeys(t *testing.T) {
	t.Parallel()
	home := homeOf(t, "[model_providers.groq]\nbase_url = \"https://api.groq.com/openai/v1\"\nenv_key = \"UNSET_KEY\"\n"+
		"[model_providers.open]\nbase_url = \"http://box.example:8000/v1\"\n")
	run := keyCommand(t, home)
	expect := func(words string, status int, input string, args ...string) {
		t.Helper()
		text, code := run(input, args...)
		require.Equal(t, status, code, text)
		require.Contains(t, text, words)
		require.NotContains(t, text, typedKey)
	}
	expect("not logged in", 1, "", "login", "status", "--provider", "groq")
	expect("no stored key", 0, "", "logout", "--provider", "groq")
	expect("no API key", 1, " \n", "login", "--provider", "groq")
	expect("Stored the key of model provider groq for https://api.groq.com", 0, typedKey+"\n", "login", "--provider", "groq")
	expect("uses the key that was typed for it - ***user", 0, "", "login", "status", "--provider", "groq")
	expect("uses the key that was typed for it", 0, "", "login", "--provider", "groq", "status")
	expect("Stored the key", 0, otherKey, "login", "--provider=groq", "--with-api-key")
	expect("--allow-http", 1, typedKey, "login", "--provider", "open")
	expect("Stored", 0, typedKey, "login", "--provider", "open", "--allow-http")
	expect("login --with-api-key", 1, typedKey, "login", "--provider", "openai")
	expect("not found", 1, typedKey, "login", "--provider", "none")
	expect("visible to other programs", 2, "", "login", "--provider", "groq", "--api-key", "x")
	expect("leave out the flags", 2, "", "login", "--provider", "groq", "--device-auth")
	expect("add --provider", 2, "", "login", "--allow-http")
	expect("longer than", 1, strings.Repeat("k", 20_000), "login", "--provider", "groq")
	expect("has no key", 0, "", "login", "status", "--provider", "ollama")
	expect("Removed the key", 0, "", "logout", "--provider", "groq")
	expect("not logged in", 1, "", "login", "status", "--provider", "groq")
	expect("memory of the server", 1, typedKey, "-c", "cli_auth_credentials_store=ephemeral", "login", "--provider", "groq")
	require.NoError(t, os.WriteFile(keysFile(home), []byte("{"), 0o600))
	expect("is damaged", 1, "", "logout", "--provider", "groq")
	expect("is damaged", 1, typedKey, "login", "--provider", "groq")
	require.Equal(t, "{", fileText(t, keysFile(home)))
}

// TestCommandAsksForAKeyWithoutEcho types a key on a terminal.
func TestCommandAsksForAKeyWithoutEcho(t *testing.T) {
	t.Parallel()
	home := homeOf(t, "[model_providers.groq]\nbase_url = \"https://api.groq.com/openai/v1\"\n")
	run := func(text string) (shown string, status int) {
		cmd := apptest.ProcessCommand(t, home, must(apptest.Binary()), "login", "--provider", "groq")
		cmd.Stderr = nil
		shown = typeOnTerminal(t, cmd, "shown): ", text)
		require.NotContains(t, shown, typedKey)
		return shown, cmd.ProcessState.ExitCode()
	}
	for text, words := range map[string]string{typedKey + "\x03": "interrupted", "\r": "is empty",
		strings.Repeat("k", 5000) + "\r": "pipe it"} {
		shown, status := run(text)
		require.Equal(t, 1, status)
		require.Contains(t, shown, words)
	}
	require.NoFileExists(t, keysFile(home))
	shown, status := run(typedKey + "\r")
	require.Zero(t, status, shown)
	require.Contains(t, shown, "https://api.groq.com only")
	require.Contains(t, shown, "Stored the key")
	require.Contains(t, fileText(t, keysFile(home)), typedKey)
}

// typeOnTerminal runs a command on a terminal, types a text after a question, and returns what the terminal shows.
func typeOnTerminal(t *testing.T, cmd *exec.Cmd, question, text string) string {
	t.Helper()
	terminal, err := pty.Start(cmd)
	require.NoError(t, err)
	defer terminal.Close()
	var shown bytes.Buffer
	piece, typed := make([]byte, 4096), false
	for {
		n, err := terminal.Read(piece)
		shown.Write(piece[:n])
		if !typed && strings.Contains(shown.String(), question) {
			typed = true
			_, err := terminal.WriteString(text)
			require.NoError(t, err)
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait() // the caller checks the status
	return shown.String()
}

// TestProvidersFollowTheConfiguration: the next request uses what a client has written; threads that are loaded, too.
func TestProvidersFollowTheConfiguration(t *testing.T) {
	t.Parallel()
	first, second := apptest.StartKeyedProvider(t, otherKey), apptest.StartKeyedProvider(t, otherKey)
	home := homeOf(t, keyed+first.Table("keyed", `env_key = "KEYED_API_KEY"`))
	c := startKeyed(t, home, "KEYED_API_KEY="+otherKey, "LATER_VAR="+otherKey)
	id := c.StartThread(apptest.Object{"sandbox": "danger-full-access", "approvalPolicy": "never"})
	completedTurn(c, id)
	writeConfigValue(c, "model_providers.keyed.base_url", second.URL+"/v1")
	completedTurn(c, id)
	require.Len(t, first.Keys(), 1)
	require.Len(t, second.Keys(), 1)
	writeConfigValue(c, "model_providers.keyed.env_key", "LATER_VAR")
	completedTurn(c, id)
	c.Call("thread/shellCommand", apptest.Object{"threadId": id, "command": "echo got:$LATER_VAR:"})
	c.AwaitTurn()
	shown := c.Call("thread/read", apptest.Object{"threadId": id, "includeTurns": true})
	require.Contains(t, string(shown), "got:")
	require.NotContains(t, string(shown), "got:plain")
	writeConfigValue(c, "model", "other-model")
	c.Call("config/read", apptest.Object{})
	require.Equal(t, 2, c.Count("modelProvider/changed"), "only changes of providers are notified")
	writeConfigValue(c, "model_providers.keyed", nil)
	refused := c.CallRejected("turn/start", apptest.Object{"threadId": id, "input": apptest.TextInput("x")})
	require.Contains(t, refused.Message, "`keyed` not found")
	c.Close()
}

// TestTypedKeysAreInTheirFileOnly scans everything that the server writes, after a session in which the provider echoed
// the keys and the user quoted one.
func TestTypedKeysAreInTheirFileOnly(t *testing.T) {
	t.Parallel()
	p := apptest.StartKeyedProvider(t, otherKey)
	home := homeOf(t, keyed+p.Table("keyed", `env_key = "KEYED_API_KEY"`)+"\n[shell_environment_policy]\nignore_default_excludes = true\n")
	cmd := apptest.ServerCommand(t, home, "--log-level", "debug", "-c", "sandbox_mode=danger-full-access", "-c", "approval_policy=never")
	log, err := os.CreateTemp(t.TempDir(), "log")
	require.NoError(t, err)
	cmd.Stderr = log
	c := apptest.StartProcess(t, cmd)
	var lines bytes.Buffer
	c.OnLine = func(direction, line string) {
		if direction == "<-" && !strings.Contains(line, "quoted") {
			lines.WriteString(line + "\n")
		}
	}
	c.Initialize()
	id := c.StartThread(apptest.Object{})
	writeKey(c, "keyed", typedKey)
	c.Turn(id, "rejected")
	writeKey(c, "keyed", otherKey)
	c.Turn(id, "quoted: my key was "+typedKey+" and is "+otherKey)
	c.Call("thread/shellCommand", apptest.Object{"threadId": id, "command": "env; cat /proc/$PPID/cmdline /proc/$PPID/environ"})
	c.AwaitTurn()
	for _, method := range []string{"server/diagnostics", "modelProvider/list", "model/list"} {
		c.Call(method, apptest.Object{})
	}
	c.Call("config/read", apptest.Object{"includeLayers": true})
	c.Close()

	texts := map[string][]byte{"messages": lines.Bytes()}
	require.NoError(t, filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && path != keysFile(home) {
			texts[path], err = os.ReadFile(path)
		}
		return err
	}))
	texts["log"], err = os.ReadFile(log.Name())
	require.NoError(t, err)
	require.NotEmpty(t, texts["log"])
	quoted := false
	for name, text := range texts {
		quoted = quoted || bytes.Contains(text, []byte("my key was [redacted] and is [redacted]"))
		for _, key := range []string{typedKey, otherKey} {
			require.False(t, bytes.Contains(text, []byte(key)), "%s has %s", name, key)
		}
	}
	require.True(t, quoted, "the rollout keeps the rest")
	keys := slices.Compact(p.Keys())
	require.Equal(t, []string{typedKey, otherKey}, keys)
}

// TestEphemeralKeysOfProviders writes no file.
func TestEphemeralKeysOfProviders(t *testing.T) {
	t.Parallel()
	p := apptest.StartKeyedProvider(t, typedKey)
	home := homeOf(t, "cli_auth_credentials_store = \"ephemeral\"\n"+keyed+p.Table("keyed", `env_key = "UNSET_KEY"`))
	c := startKeyed(t, home)
	writeKey(c, "keyed", typedKey)
	completedTurn(c, c.StartThread(apptest.Object{}))
	c.Close()
	require.NoFileExists(t, keysFile(home))
	c = startKeyed(t, home)
	require.False(t, listedProvider(c, "keyed").Get("ready").Bool())
	c.Close()
}

func fileText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// TestClientsConfigureProviders adds a provider, changes it and makes it the default, as clients of the reference
// implementation do.
func TestClientsConfigureProviders(t *testing.T) {
	t.Parallel()
	first, second := apptest.StartKeyedProvider(t, otherKey), apptest.StartKeyedProvider(t, typedKey)
	home := homeOf(t, "# mine\nmodel = \"keyed-model\"\n")
	c := startKeyed(t, home, "GATEWAY_KEY="+otherKey)
	write := func(settings apptest.Object) gjson.Result {
		settings["type"] = "customGateway"
		return gjson.ParseBytes(c.Call("modelProvider/config/write", apptest.Object{"settings": settings})).Get("provider")
	}
	made := write(apptest.Object{"providerId": nil, "name": "My Gateway!", "baseUrl": first.URL + "/v1", "envKey": "GATEWAY_KEY"})
	require.Equal(t, "my-gateway", made.Get("id").Str)
	require.Equal(t, "environmentVariable", made.Get("settings.auth.mode").Str)
	require.True(t, made.Get("canEdit").Bool())
	require.Equal(t, "my-gateway-2", write(apptest.Object{"name": "my gateway", "baseUrl": second.URL}).Get("id").Str)
	require.Equal(t, "provider", write(apptest.Object{"name": "日本", "baseUrl": second.URL}).Get("id").Str)
	writeConfigValue(c, "model_providers.my-gateway.wire_api", "chat")
	set := gjson.ParseBytes(c.Call("modelProvider/default/set", apptest.Object{"providerId": "my-gateway"}))
	require.Equal(t, "ok", set.Get("status").Str)
	id := c.StartThread(apptest.Object{})
	completedTurn(c, id)

	moved := write(apptest.Object{"providerId": "my-gateway", "baseUrl": second.URL + "/v1", "envKey": nil})
	require.Equal(t, "My Gateway!", moved.Get("name").Str)
	require.Equal(t, "none", moved.Get("settings.auth.mode").Str)
	writeKey(c, "my-gateway", typedKey)
	completedTurn(c, id)
	require.Equal(t, []string{typedKey}, second.Keys())

	for _, refused := range []struct {
		code     string
		settings apptest.Object
	}{
		{"configPathNotFound", apptest.Object{"type": "customGateway", "providerId": "none", "name": "x", "baseUrl": "https://x.example"}},
		{"configValidationError", apptest.Object{"type": "customGateway", "providerId": "openai", "baseUrl": "https://x.example"}},
		{"configValidationError", apptest.Object{"type": "customGateway", "name": " ", "baseUrl": "https://x.example"}},
		{"configValidationError", apptest.Object{"type": "customGateway", "name": "x"}},
		{"configValidationError", apptest.Object{"type": "customGateway", "name": "x", "baseUrl": "https://u:p@x.example"}},
	} {
		err := c.CallRejected("modelProvider/config/write", apptest.Object{"settings": refused.settings})
		require.Equal(t, refused.code, err.Data.Kind)
	}
	require.Contains(t, c.CallRejected("modelProvider/config/write",
		apptest.Object{"settings": apptest.Object{"type": "bedrock", "providerId": "amazon-bedrock"}}).Message, "Amazon")
	require.Contains(t, c.CallRejected("modelProvider/default/set", apptest.Object{"providerId": "none"}).Message, "not found")
	c.Close()
	text := fileText(t, filepath.Join(home, "config.toml"))
	require.Contains(t, text, "# mine")
	require.NotContains(t, text, typedKey)
}
