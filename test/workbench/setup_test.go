package workbench

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// serveNew starts the page of a server without a provider that can be used. Nothing is found on this machine, unless
// OLLAMA_HOST names a server.
func serveNew(t *testing.T, home string, change func(cmd *exec.Cmd)) *workbench {
	t.Helper()
	needChromium(t)
	cmd := apptest.ServerCommand(t, home, "web", "--no-open", "--listen", "127.0.0.1:0",
		"-c", "compat.turn_completed_floor_ms=0")
	for _, provider := range []string{"lmstudio", "llamacpp", "vllm"} {
		cmd.Args = append(cmd.Args, "-c", "model_providers."+provider+`.base_url="http://127.0.0.1:9/v1"`)
	}
	cmd.Env = append(cmd.Env, "OLLAMA_HOST=127.0.0.1:9")
	if change != nil {
		change(cmd)
	}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	s := &server{home: home, cmd: cmd}
	t.Cleanup(s.stop)
	s.url, s.file = readAddress(t, out)
	return s.open(t)
}

// firstAnswer starts a thread from the page and waits for an answer.
func (w *workbench) firstAnswer(text string) {
	w.t.Helper()
	w.clickIn(".offer-used button, .empty button", "New thread")
	w.see("dialog .trust input:checked")
	w.clickIn("dialog button", "Start")
	w.gone("dialog")
	w.send("hello")
	w.seeText(".message.agent", text)
	w.requireNoProblems()
}

// TestFirstAnswerOfALocalModel needs three clicks from an empty home: use the model, a new thread, start.
func TestFirstAnswerOfALocalModel(t *testing.T) {
	t.Parallel()
	model := apptest.StartKeyedProvider(t, "") // needs no key
	home := t.TempDir()
	w := serveNew(t, home, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "OLLAMA_HOST="+model.URL) })
	w.seeText(".welcome", "cannot be used yet")
	w.seeText(".offer", "Ollama")
	w.accessible("setup")
	w.shot("setup")
	w.clickIn(".offer button", "Test and use")
	w.seeText(".offer-used", "keyed-model answered in")
	w.shot("setup-used")
	w.firstAnswer("fine")
	w.click(`button[aria-label="Model of the next turn"]`)
	w.seeText(".model-list [aria-selected=true]", "keyed-model")
	w.accessible("models")
	w.shot("models")
	config, err := os.ReadFile(filepath.Join(home, "config.toml"))
	require.NoError(t, err)
	require.Contains(t, string(config), `model_provider = "ollama"`)
}

// TestFirstAnswerWithATypedKey writes the address of a provider that the server does not know, and its key into the
// file for keys.
func TestFirstAnswerWithATypedKey(t *testing.T) {
	t.Parallel()
	model := apptest.StartKeyedProvider(t, "a-secret-key-of-the-user")
	home := t.TempDir()
	w := serveNew(t, home, nil)
	w.seeText(".setup", "No model server answers")
	w.choose(`select[aria-label="Provider of the key"]`, "custom")
	w.fill(`input[aria-label="Address of the provider"]`, model.URL+"/v1")
	w.fill(`input[aria-label="Key"]`, "a-secret-key-of-the-user")
	w.clickText("Save, test and use")
	w.seeText(".offer-used", "answered in")
	w.firstAnswer("fine")
	config, err := os.ReadFile(filepath.Join(home, "config.toml"))
	require.NoError(t, err)
	require.NotContains(t, string(config), "a-secret-key-of-the-user")
}

// TestFirstAnswerWithAKeyOfTheEnvironment uses the key of another provider than the one of new threads.
func TestFirstAnswerWithAKeyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	model := apptest.StartKeyedProvider(t, "from-the-environment")
	home := t.TempDir()
	apptest.WriteConfig(t, home, model.Table("mine", `env_key = "MY_MODEL_KEY"`))
	w := serveNew(t, home, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "MY_MODEL_KEY=from-the-environment") })
	w.seeText(".offer", "The key in MY_MODEL_KEY")
	w.clickIn(".offer:has(.offer-name) button", "Test and use")
	w.seeText(".offer-used", "answered in")
	w.firstAnswer("fine")
}

// TestFirstAnswerOfTheDemo needs neither a model nor a key.
func TestFirstAnswerOfTheDemo(t *testing.T) {
	t.Parallel()
	w := serveNew(t, t.TempDir(), nil)
	w.clickText("Use the demo")
	w.seeText(".offer-used", "New threads use it")
	w.firstAnswer("hello")
}

// TestSignedInUserNeedsNoSetup uses the login of the reference implementation.
func TestSignedInUserNeedsNoSetup(t *testing.T) {
	t.Parallel()
	issuer := apptest.StartIssuer(t)
	home := issuer.Home(t)
	issuer.SignIn(t, home, nil)
	w := serveNew(t, home, func(cmd *exec.Cmd) { issuer.Env(cmd) })
	w.seeText(".empty", "No thread is open")
	require.Zero(t, w.count(".setup"))
	w.clickIn(".empty button", "New thread")
	w.see("dialog .trust input:checked")
	w.clickIn("dialog button", "Start")
	w.gone("dialog")
	w.send("hello")
	w.see(".message.agent")
	w.requireNoProblems()
}

// TestFirstAnswerOfAnAccount signs in with a browser, and leaves the page open meanwhile.
func TestFirstAnswerOfAnAccount(t *testing.T) {
	t.Parallel()
	issuer := apptest.StartIssuer(t)
	issuer.Pending = 1000 // the code is not entered
	w := serveNew(t, issuer.Home(t), func(cmd *exec.Cmd) { issuer.Env(cmd) })
	w.clickText("Sign in with a code")
	w.seeText(".login .code", "ABCD-EFGH")
	w.shot("setup-code")
	w.clickIn(".login button", "Cancel")
	w.clickText("Sign in with ChatGPT")
	w.see(".login a")
	response, err := http.Get(eval[string](w, `document.querySelector(".login a").href`))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	w.seeText(".offer-used", "answered in")
	w.shot("setup-account")
	w.firstAnswer("")
}

// TestSetupSaysWhatFailed tests a model that is not there, and keeps the choice of the user as it is.
func TestSetupSaysWhatFailed(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	w := serveNew(t, home, nil)
	w.seeText(".setup", "No model server answers")
	w.choose(`select[aria-label="Provider of the key"]`, "custom")
	w.fill(`input[aria-label="Address of the provider"]`, "http://127.0.0.1:9/v1")
	w.fill(`input[aria-label="Key"]`, "a-secret-key-of-the-user")
	w.clickText("Save, test and use")
	w.seeText(".setup [role=alert]", "nothing listens on 127.0.0.1:9")
	w.shot("setup-failed")
	config, err := os.ReadFile(filepath.Join(home, "config.toml"))
	require.NoError(t, err)
	require.NotContains(t, string(config), "model_provider =")
}
