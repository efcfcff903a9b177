package e2e

import (
	"os/exec"
	"testing"

	"appserver/test/apptest"
)

// TestFirstAnswerOnATerminal gets from an empty home to an answer in each way, as a person does on a terminal.
func TestFirstAnswerOnATerminal(t *testing.T) {
	t.Parallel()
	answers := func(t *testing.T, home string, env []string, provider, text string) {
		t.Helper()
		p := startPane(t, home, 120, 24, env, "models", "test", provider)
		p.await("answer", text)
		p.awaitEnd(0)
	}
	t.Run("a login of the reference implementation", func(t *testing.T) {
		s := apptest.StartIssuer(t)
		home := s.Home(t)
		s.SignIn(t, home, nil)
		answers(t, home, issuerEnv(s), "openai", "hello")
	})
	t.Run("a login with a code", func(t *testing.T) {
		s := apptest.StartIssuer(t)
		home := s.Home(t)
		p := startPane(t, home, 120, 24, issuerEnv(s), "login", "--device-auth")
		p.await("ABCD-EFGH", "Successfully logged in")
		p.awaitEnd(0)
		answers(t, home, issuerEnv(s), "openai", "hello")
	})
	t.Run("a key in the environment", func(t *testing.T) {
		mine := apptest.StartKeyedProvider(t, "a-key-of-the-environment")
		home := homeOf(t, mine.Table("mine", `env_key = "MY_MODEL_KEY"`))
		answers(t, home, []string{"MY_MODEL_KEY=a-key-of-the-environment"}, "mine", "fine")
	})
	t.Run("a typed key", func(t *testing.T) {
		mine := apptest.StartKeyedProvider(t, "a-key-that-is-typed")
		home := homeOf(t, mine.Table("mine", `env_key = "MY_MODEL_KEY"`))
		p := startPane(t, home, 120, 24, nil, "login", "--provider", "mine")
		p.await("API key of model provider mine")
		p.write("a-key-that-is-typed")
		p.press("Enter")
		p.await("Stored the key")
		p.awaitEnd(0)
		answers(t, home, nil, "mine", "fine")
	})
	t.Run("a model server on this machine", func(t *testing.T) {
		ollama := newLocalServer(t, ollamaAnswers(), hello)
		home, env := localHome(t), []string{"OLLAMA_HOST=" + ollama.URL}
		apptest.WriteConfig(t, home, "") // OLLAMA_HOST names the server
		p := startPane(t, home, 120, 24, env, "models", "--find")
		p.await("ollama", "tiny-think")
		p.awaitEnd(0)
		answers(t, home, env, "ollama", "Hello.")
	})
	t.Run("nothing", func(t *testing.T) {
		answers(t, t.TempDir(), nil, "offline", "OK")
	})
}

// issuerEnv returns the variables that select an issuer.
func issuerEnv(s *apptest.Issuer) []string { return s.Env(&exec.Cmd{}).Env }
