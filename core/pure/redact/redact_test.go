package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"appserver/core/pure/redact"
	"appserver/protocol"
	"appserver/test/sample"
)

// fill returns n characters of a set, the same at each call. Keys are put together here, so that
// no file of this repository has one.
func fill(set string, n int) string {
	chance := rand.New(rand.NewPCG(7, uint64(n)))
	out := make([]byte, n)
	for i := range out {
		out[i] = set[chance.IntN(len(set))]
	}
	out[n/2] = set[len(set)-1] // a digit
	return string(out)
}

const (
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	alnum  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	lowHex = "abcdef0123456789"
)

func pem(kind string) string {
	return "-----BEGIN " + kind + "-----\n" + fill(alnum, 64) + "\n" + fill(alnum, 40) + "==\n-----END " + kind + "-----"
}

// secrets returns texts by detector, with {…} around each secret.
func secrets() map[string][]string {
	jwt := "eyJ" + fill(alnum, 20) + ".eyJ" + fill(alnum, 40) + "." + fill(alnum, 43)
	return map[string][]string{
		"AWS access key id": {"id {AKIA" + fill(upper, 16) + "}.", "export AWS_ACCESS_KEY_ID={ASIA" +
			fill(upper, 16) + "}"},
		"AWS secret key": {"aws_secret_access_key = {" + fill(alnum, 40) + "}", `"SecretAccessKey": "{` +
			fill(alnum, 40) + `}"`, "AWS_SESSION_TOKEN='{" + fill(alnum, 200) + "}'"},
		"Anthropic key":     {"ANTHROPIC_API_KEY={sk-ant-api03-" + fill(alnum, 93) + "AA}"},
		"Azure storage key": {"AccountName=x;AccountKey={" + fill(alnum, 86) + "==};EndpointSuffix=y"},
		"bearer token": {"Authorization: Bearer {" + fill(alnum, 40) + "}", "curl -H 'authorization: bearer {" +
			fill(alnum, 20) + "}'"},
		"basic credentials":  {"Authorization: Basic {dXNlcjpwYXNzd29yZA==}"},
		"DigitalOcean token": {"{dop_v1_" + fill(lowHex, 64) + "}"},
		"GitHub token": {"git clone https://x:{ghp_" + fill(alnum, 36) + "}@github.com/a/b", "GH_TOKEN={gho_" +
			fill(alnum, 36) + "}"},
		"GitHub fine-grained token": {"{github_pat_" + fill(alnum, 82) + "}"},
		"GitLab token":              {"{glpat-" + fill(alnum, 20) + "}"},
		"Google API key":            {"key={AIza" + fill(alnum, 35) + "}&x=1"},
		"Hugging Face token":        {"{hf_" + fill(alnum, 34) + "}"},
		"JSON Web Token":            {"cookie: session={" + jwt + "}; path=/"},
		"npm token":                 {"//registry.npmjs.org/:_authToken={npm_" + fill(alnum, 36) + "}"},
		"OpenAI key": {"OPENAI_API_KEY={sk-proj-" + fill(alnum, 120) + "}", "{sk-" + fill(alnum, 48) + "}",
			"{sk-or-v1-" + fill(lowHex, 64) + "}"},
		"password in a URL": {"postgres://app:{hunter2x}@db.local:5432/main", "redis://:{hunter2x}@cache"},
		"private key": {"a {" + pem("RSA PRIVATE KEY") + "} b", "{" + pem("OPENSSH PRIVATE KEY") + "}", "{" +
			strings.ReplaceAll(pem("PRIVATE KEY"), "\n", `\n`) + "}", "{-----BEGIN PRIVATE KEY-----\n" + fill(alnum, 64) + "\n" +
			fill(alnum, 64) + "} (cut"},
		"PyPI token":     {"{pypi-AgEIcHlwaS5vcmc" + fill(alnum, 60) + "}"},
		"SendGrid key":   {"{SG." + fill(alnum, 22) + "." + fill(alnum, 43) + "}"},
		"Slack token":    {"{xoxb-" + fill("0123456789", 12) + "-" + fill(alnum, 24) + "}"},
		"Slack webhook":  {"https://hooks.slack.com/services/{T0123/B0123/" + fill(alnum, 24) + "}"},
		"webhook secret": {"{whsec_" + fill(alnum, 32) + "}"},
		"Stripe key":     {"{sk_live_" + fill(alnum, 24) + "}"},
	}
}

var braces = strings.NewReplacer("{", "", "}", "")

// marked returns a text with the mark in place of each text in braces.
func marked(text string) string {
	before, rest, _ := strings.Cut(text, "{")
	_, after, _ := strings.Cut(rest, "}")
	return before + "[redacted]" + after
}

var githubToken = "ghp_" + fill(alnum, 36)

func detecting(t testing.TB, patterns ...string) *redact.Redactor {
	t.Helper()
	r, err := redact.New(patterns, true)
	require.NoError(t, err)
	return r
}

func TestEveryDetectorFindsItsSecret(t *testing.T) {
	all := secrets()
	for _, d := range redact.Detectors() {
		require.NotEmpty(t, all[d.Name], "%s has no example", d.Name)
		for _, text := range all[d.Name] {
			require.Equal(t, marked(text), detecting(t).Text(braces.Replace(text)), d.Name)
		}
	}
	require.Len(t, all, len(redact.Detectors()))
}

// TestASecretIsFoundAtEachIndex moves each secret by one byte after the other.
func TestASecretIsFoundAtEachIndex(t *testing.T) {
	r := detecting(t)
	for name, texts := range secrets() {
		for _, text := range texts {
			for n := range 17 {
				before := strings.Repeat("·", n/2) + strings.Repeat(" ", n%2)
				require.Equal(t, before+marked(text), r.Text(before+braces.Replace(text)), "%s at %d", name, n)
			}
		}
	}
}

// innocent returns texts without secrets that resemble secrets.
func innocent() []string {
	image := make([]byte, 300<<10)
	chance := rand.New(rand.NewPCG(1, 1))
	for i := range image {
		image[i] = byte(chance.Uint32())
	}
	return []string{
		"commit " + hex.EncodeToString(image[:20]), "sha256:" + hex.EncodeToString(image[:32]),
		"0190a6f8-1111-7aaa-8bbb-00000000000a",
		base64.StdEncoding.EncodeToString(image), base64.RawURLEncoding.EncodeToString(image), hex.EncodeToString(image),
		"data:image/png;base64," + base64.StdEncoding.EncodeToString(image[:1000]),
		"integrity sha512-" + base64.StdEncoding.EncodeToString(image[:64]),
		"Authorization: Bearer $OPENAI_API_KEY", "curl -H 'Authorization: Bearer YOUR_API_KEY_GOES_HERE'",
		"bearer authentication-is-described-below",
		".sk-loading-spinner-container-large { color: red }", "sk-fading-circle sk-circle-indicator-of-the-page", "a task-" +
			fill("abcdefghij", 40),
		"AKIA is how access key ids begin", "ghp_ and github_pat_ are prefixes", "https://example.com:8080/a@b",
		"http://user@host/", "ssh://git@github.com/a/b",
		"https://user:${PASSWORD}@host",
		`if strings.HasPrefix(s, "-----BEGIN PRIVATE KEY-----") && strings.HasSuffix(s, "-----END PRIVATE KEY-----") {`,
		"-----BEGIN CERTIFICATE-----\n" + fill(alnum, 64) + "\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\n" +
			fill(alnum, 64),
		"const secret_access_key = os.Getenv(\"AWS_SECRET_ACCESS_KEY\")", "eyJ is how {\" begins",
		"npm_config_registry=https://registry.npmjs.org", "xox-files and hf_hub_download_of_a_file_with_a_long_name",
		"go.sum h1:" + base64.StdEncoding.EncodeToString(image[:32]) + "=", "whsec_ sk_live_ rk_test_", "SG.1 and SG.2",
	}
}

func TestDetectorsKeepOtherText(t *testing.T) {
	for _, text := range innocent() {
		require.Equal(t, text, detecting(t).Text(text))
	}
}

// TestTimeIsLinear repeats what could make each detector look at the same text again and again:
// with a quadratic one this would take minutes.
func TestTimeIsLinear(t *testing.T) {
	r := detecting(t)
	for _, texts := range secrets() {
		for _, text := range texts {
			text = braces.Replace(text)
			for _, part := range []string{text[:len(text)/4+1], text[:len(text)/2], text[:len(text)*3/4],
				text[:min(4, len(text))]} {
				long := strings.Repeat(part, 1<<18/len(part))
				require.NotEmpty(t, r.Text(long))
			}
		}
	}
}

func TestPatterns(t *testing.T) {
	r, err := redact.New([]string{"password", `emp-\d+`, `pin is (\d+)`, "", "blue bird"}, false)
	require.NoError(t, err)
	for text, want := range map[string]string{
		"password=hunter2 and more":         "[redacted]=[redacted] and more",
		`{"password": "hunter2", "a": 1}`:   `{"[redacted]": "[redacted]", "a": 1}`,
		"PASSWORD_FILE: /x":                 "[redacted]_FILE: [redacted]",
		"my password is long":               "my [redacted] is long",
		"EMP-12 emp-12, emp-":               "EMP-12 [redacted], emp-",
		"the pin is 1234.":                  "the pin is [redacted].",
		"operation Blue Bird":               "operation [redacted]",
		"sk-proj-" + fill(alnum, 120) + ".": "sk-proj-" + fill(alnum, 120) + ".",
	} {
		require.Equal(t, want, r.Text(text))
	}
	none, err := redact.New(nil, false)
	require.NoError(t, err)
	require.Nil(t, none)
	require.Equal(t, "password", none.Text("password"))
	_, err = redact.New([]string{"("}, true)
	require.Error(t, err)
}

func TestLinesKeepOtherValues(t *testing.T) {
	r := detecting(t, "secret", "r12", "shell", "call_1", "user", "never")
	for _, c := range []struct{ kind, payload, want string }{
		{"response_item", `{"type":"message", "role":"user","id":"secret","content":[{"type":"input_text","text":"the secret"}]}`,
			`{"type":"message", "role":"user","id":"secret","content":[{"type":"input_text","text":"the [redacted]"}]}`},
		{"response_item", `{"type":"function_call","name":"shell","call_id":"call_1","arguments":"{\"command\":[\"cat\",\"secret\"]}"}`,
			`{"type":"function_call","name":"shell","call_id":"call_1","arguments":"{\"command\":[\"cat\",\"[redacted]\"]}"}`},
		{"response_item", `{"type":"function_call","call_id":"c","provider_echo":{"model_provider":"secret","model":"secret","reasoning_details":[{"type":"reasoning.text","text":"the secret","signature":"EqoB"}]}}`,
			`{"type":"function_call","call_id":"c","provider_echo":{"model_provider":"secret","model":"secret","reasoning_details":[{"type":"reasoning.text","text":"the [redacted]","signature":"EqoB"}]}}`},
		{"response_item", `{"type":"reasoning","encrypted_content":"secret","n":1.50,"x":null}`,
			`{"type":"reasoning","encrypted_content":"secret","n":1.50,"x":null}`},
		{"response_item", `{"content":[{"image_url":"data:image/png;base64,secret"},"secret"]}`,
			`{"content":[{"image_url":"data:image/png;base64,secret"},"[redacted]"]}`},
		{"response_item", `{"output":"data: secret\ndata:text/plain;base64, secret","b":"data:image/png;base64,a secret"}`,
			`{"output":"data: [redacted]\ndata:text/plain;base64, [redacted]","b":"data:image/png;base64,a [redacted]"}`},
		{"event_msg", `{"type":"item_completed","item":{"tool":"secret","arguments":{"name":"` + githubToken +
			`","status":"secret"}}}`,
			`{"type":"item_completed","item":{"tool":"secret","arguments":{"name":"[redacted]","status":"secret"}}}`},
		{"session_meta", `{"id":"secret","cwd":"/secret","base_instructions":{"text":"secret"},"source":"secret"}`,
			`{"id":"secret","cwd":"/secret","base_instructions":{"text":"[redacted]"},"source":"secret"}`},
		{"turn_context", `{"cwd":"/secret","approval_policy":"never","user_instructions":"secret","sandbox_policy":{"writable_roots":["/secret"]}}`,
			`{"cwd":"/secret","approval_policy":"never","user_instructions":"[redacted]","sandbox_policy":{"writable_roots":["/secret"]}}`},
		{"context_edit", `{"op":"replace","ids":["r12"],"text":"a secret"}`,
			`{"op":"replace","ids":["r12"],"text":"a [redacted]"}`},
		{"trim_point", `{"id":"secret","kept":["r12"],"keep_from":"r12","summary":"r12"}`,
			`{"id":"secret","kept":["r12"],"keep_from":"r12","summary":"[redacted]"}`},
		{"compacted", `{"message":"secret","trim_point":{"kept":["r12"],"keep_from":"r12"}}`,
			`{"message":"[redacted]","trim_point":{"kept":["r12"],"keep_from":"r12"}}`},
		{"context_backup", `{"bytes":1,"crc32c":2,"x":"secret"}`, `{"bytes":1,"crc32c":2,"x":"secret"}`},
		{"event_msg", `{"type":"thread_settings_applied","approval_policy":"never","developer_instructions":"never"}`,
			`{"type":"thread_settings_applied","approval_policy":"never","developer_instructions":"[redacted]"}`},
		{"event_msg", `{"type":"item_completed","thread_id":"secret","item":{"id":"call_1","aggregated_output":"secret\n\u001b"}}`,
			`{"type":"item_completed","thread_id":"secret","item":{"id":"call_1","aggregated_output":"[redacted]\n\u001b"}}`},
		{"later", `{"secret":"secret","deep":[[{"a":"secret"}]]}`, `{"secret":"[redacted]","deep":[[{"a":"[redacted]"}]]}`},
		{"event_msg", `"secret"`, `"[redacted]"`},
	} {
		given := protocol.RolloutLine{Timestamp: "secret", Ordinal: new(int64(7)), Type: c.kind,
			Payload: json.RawMessage(c.payload)}
		got := r.Line(given)
		require.Equal(t, c.want, string(got.Payload))
		require.Equal(t, c.payload, string(given.Payload), "the line that was given stays")
		got.Payload = given.Payload
		require.Equal(t, given, got)
	}
}

func TestJSONInATextStaysJSON(t *testing.T) {
	r, err := redact.New([]string{`(?s)key.*`}, false)
	require.NoError(t, err)
	got := r.Line(protocol.RolloutLine{Type: "response_item",
		Payload: json.RawMessage(`{"arguments":"{\"a\":\"the key is 1\",\"b\":\"and more\"}"}`)})
	require.JSONEq(t, `{"arguments":"{\"a\":\"the [redacted]\",\"b\":\"and more\"}"}`, string(got.Payload))
}

// TestAnyLineStaysALine draws payloads, valid and not.
func TestAnyLineStaysALine(t *testing.T) {
	all := []string{"plain", "\n\"\\", "\u2028é\x7f", "ключ"}
	for _, texts := range secrets() {
		all = append(all, braces.Replace(texts[0]))
	}
	r := detecting(t, "plain", `e.*`)
	sample.Check(t, func(rt *rapid.T) {
		var value func(depth int) any
		value = func(depth int) any {
			switch rapid.IntRange(0, 4+min(0, 2-depth)).Draw(rt, "kind") {
			case 0:
				return rapid.Float64Range(-1e9, 1e9).Draw(rt, "number")
			case 1, 2:
				return rapid.SampledFrom(all).Draw(rt, "text")
			case 3:
				list := []any{}
				for range rapid.IntRange(0, 3).Draw(rt, "size") {
					list = append(list, value(depth+1))
				}
				return list
			}
			return map[string]any{rapid.SampledFrom(all).Draw(rt, "name"): value(depth + 1),
				"id": rapid.SampledFrom(all).Draw(rt, "id")}
		}
		payload, err := json.Marshal(value(0))
		require.NoError(rt, err)
		got := r.Line(protocol.RolloutLine{Type: "response_item", Payload: payload}).Payload
		require.True(rt, json.Valid(got), string(got))
		require.NotContains(rt, string(got), "\n")
		require.Equal(rt, shape(rt, payload), shape(rt, got))
		cut := payload[:rapid.IntRange(0, len(payload)).Draw(rt, "cut")]
		broken := r.Line(protocol.RolloutLine{Type: "response_item", Payload: cut}).Payload
		require.Equal(rt, json.Valid(cut), json.Valid(broken))
	})
}

// shape returns JSON without its texts, except ids and names.
func shape(t require.TestingT, raw []byte) any {
	var v any
	require.NoError(t, json.Unmarshal(raw, &v))
	var plain func(v any) any
	plain = func(v any) any {
		switch v := v.(type) {
		case string:
			return ""
		case []any:
			for i := range v {
				v[i] = plain(v[i])
			}
		case map[string]any:
			for name := range v {
				if name != "id" {
					v[name] = plain(v[name])
				}
			}
		}
		return v
	}
	return plain(v)
}

func FuzzLine(f *testing.F) {
	f.Add(`{"text":"password=1","id":"x"}`)
	f.Add(`[[[[{"a":"\ud800"}`)
	f.Fuzz(func(t *testing.T, payload string) {
		r := detecting(t, "password", "[a-c]+")
		got := r.Line(protocol.RolloutLine{Type: "event_msg", Payload: json.RawMessage(payload)})
		require.Equal(t, json.Valid([]byte(payload)), json.Valid(got.Payload))
	})
}

func BenchmarkLine(b *testing.B) {
	text := strings.Repeat("func main() { fmt.Println(https://example.com/a?b=c, 12) } // the year bearer\n", 400)
	item := func(text string) json.RawMessage {
		payload, _ := protocol.Marshal(map[string]any{"type": "function_call_output", "call_id": "c", "output": text})
		return payload
	}
	for name, c := range map[string]struct {
		payload  json.RawMessage
		patterns []string
	}{
		"small":        {item("hello"), nil},
		"30KB":         {item(strings.ReplaceAll(text, "://", ":/")), nil},
		"30KB suspect": {item(text), nil},
		"30KB secret":  {item(text + "ghp_" + fill(alnum, 36)), nil},
		"30KB words":   {item(text), []string{"password", "api_key"}},
	} {
		b.Run(name, func(b *testing.B) {
			r := detecting(b, c.patterns...)
			line := protocol.RolloutLine{Type: "response_item", Payload: c.payload}
			b.SetBytes(int64(len(c.payload)))
			for b.Loop() {
				_ = r.Line(line)
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		_ = detecting(b, "password")
	}
}

// TestSecretsInEscapedJSONAreRedacted: behind escapes, in members that are named so, and in texts
// that happen to be JSON.
func TestSecretsInEscapedJSONAreRedacted(t *testing.T) {
	r, err := redact.New([]string{"password"}, true)
	require.NoError(t, err)
	token := "ghp_" + strings.Repeat("a1B2", 10)
	for payload, secret := range map[string]string{
		`{"type":"function_call","arguments":"{\"command\":\"cat >f <<EOF\\n` + token +
			`\\nEOF\"}"}`: token,
		`{"type":"function_call","arguments":"{\"password\":\"hunter3xyz\",\"password_min_length\":8}"}`:   "hunter3xyz",
		`{"type":"message","content":[{"type":"input_text","text":"{\"password\": 12345678, \"x\": 1}"}]}`: "12345678",
		`{"type":"message","content":[{"type":"input_text","text":"https:\/\/u:hunter9pw@host\/x"}]}`:      "hunter9pw",
		`{"type":"message","content":[{"type":"input_text","text":"\u001b[1m \u0067` + token[1:] + `"}]}`:  token[4:],
		`{"type":"message","content":[{"type":"input_text","text":"\u001b[1m ` + token + `\u001b[0m"}]}`:   token[4:],
		`{"type":"function_call","arguments":"{\"command\":\"\\u0067` + token[1:] + `\"}"}`:                token[4:],
		`{"type":"message","content":[{"type":"input_text","text":"------BEGIN RSA PRIVATE KEY-----\n-MIIEow` +
			strings.Repeat("IBAAKCAQ", 9) + `\n------END RSA PRIVATE KEY-----"}]}`: "MIIEow",
	} {
		got := r.Line(protocol.RolloutLine{Type: protocol.LineResponseItem, Payload: json.RawMessage(payload)}).Payload
		require.NotContains(t, string(got), secret)
		require.True(t, json.Valid(got), string(got))
		if arguments := gjson.GetBytes(got, "arguments"); arguments.Exists() {
			require.True(t, gjson.Valid(arguments.Str), "arguments stay JSON: %s", arguments.Str)
		}
	}
}

// TestKnownSecretsAreRemoved: a key without a known form is removed if the server knows it, from the moment on in which
// it knows it.
func TestKnownSecretsAreRemoved(t *testing.T) {
	var keys []string
	r, err := redact.New(nil, true)
	require.NoError(t, err)
	r = r.Knowing(func() []string { return keys })
	const key = "plain-words-for-a-key/+="
	line := protocol.RolloutLine{Type: "response_item", Payload: []byte(`{"id":"a","content":[{"text":"use ` + key + ` here"}],` +
		`"arguments":"{\"k\":\"` + key + `\"}","output":"plain-words-for-a-key\/+="}`)}
	require.Contains(t, string(r.Line(line).Payload), key)
	keys = []string{"lm-studio", key, `with"quote-and-more`}
	got := string(r.Line(line).Payload)
	require.NotContains(t, got, "plain-words")
	require.Contains(t, got, "use [redacted] here")
	require.Equal(t, "lm-studio at [redacted]", r.Text("lm-studio at "+key), "a short key may be a word")
	quoted := protocol.RolloutLine{Type: "response_item", Payload: []byte(`{"text":"with\"quote-and-more"}`)}
	require.JSONEq(t, `{"text":"[redacted]"}`, string(r.Line(quoted).Payload))

	off, err := redact.New([]string{"other"}, false)
	require.NoError(t, err)
	require.Contains(t, off.Knowing(func() []string { return keys }).Text(key), key, "the user keeps secrets")
}
