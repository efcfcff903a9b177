package workbench

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestControlsOfModelServers looks again when a server has started, and uses its second model.
func TestControlsOfModelServers(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	address := apptest.FreeAddress(t)
	w := serveNew(t, t.TempDir(), func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "OLLAMA_HOST="+address) })
	w.clickIn(".welcome summary", "cannot be used yet")
	w.see(".welcome details p")
	w.seeText(".setup", "No model server answers")
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	models := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"object":"list","data":[{"id":"first-model","object":"model"},{"id":"second-model","object":"model"}]}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		apptest.TextAnswer("fine")(w)
	}))
	models.Listener = listener
	models.Start()
	t.Cleanup(models.Close)
	w.clickText("look again")
	w.choose(`select[aria-label="Model of Ollama"]`, "second-model")
	w.clickIn(".offer button", "Test and use")
	w.seeText(".offer-used", "second-model answered in")
	w.requireNoProblems()
}

// TestTypedKeyIsRemoved removes a key that the page wrote.
func TestTypedKeyIsRemoved(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	model := apptest.StartKeyedProvider(t, "a-secret-key-of-the-user")
	w := serveNew(t, t.TempDir(), nil)
	w.choose(`select[aria-label="Provider of the key"]`, "custom")
	w.fill(`input[aria-label="Address of the provider"]`, model.URL+"/v1")
	w.fill(`input[aria-label="Key"]`, "a-secret-key-of-the-user")
	w.clickText("Save, test and use")
	w.seeText(".offer-used", "answered in")
	w.seeText(".offer", "The key that you typed")
	w.clickText("Remove the key")
	w.await(`[...document.querySelectorAll(".offer")].every((e) => !e.textContent.includes("The key that you typed"))`)
	w.requireNoProblems()
}

// TestAccountSignsInByTheLinkAndOut follows the link to the page of the account, and signs out.
func TestAccountSignsInByTheLinkAndOut(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	issuer := apptest.StartIssuer(t)
	w := serveNew(t, issuer.Home(t), func(cmd *exec.Cmd) { issuer.Env(cmd) })
	w.clickText("Sign in with ChatGPT")
	w.clickIn(".login a", "Open the page of OpenAI")
	w.seeText(".offer-used", "answered in")
	w.clickText("Sign out")
	w.seeText(".setup-actions button", "Sign in with ChatGPT")
	w.requireNoProblems()
}
