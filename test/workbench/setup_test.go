package workbench

import (
	"os"
	"testing"

	"appserver/test/apptest"
)

// TestScratch looks at the setup with a real server.
func TestScratch(t *testing.T) {
	needChromium(t)
	home := t.TempDir()
	cmd := apptest.ServerCommand(t, home, "web", "--no-open")
	cmd.Env = append(cmd.Env, "OLLAMA_HOST=127.0.0.1:11999")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	_ = cmd.Start()
	s := &server{home: home, cmd: cmd}
	t.Cleanup(s.stop)
	s.url, s.file = readAddress(t, out)
	w := s.open(t)
	w.see(".setup")
	w.await(`document.querySelector(".setup [aria-label^='Model of']") !== null`)
	w.shot("setup")
	w.choose("[aria-label^='Model of']", "tiny-small:latest")
	w.clickIn(".offer button", "Test and use")
	w.see(".offer-used, .error-text")
	w.shot("setup-used")
	w.clickIn(".offer-used button", "New thread")
	w.see("dialog .trust")
	w.shot("setup-new")
	w.clickIn("dialog button", "Start")
	w.gone("dialog")
	w.send("hello")
	w.see(".message.agent")
	w.shot("setup-answer")
	w.click(`button[aria-label="Model of the next turn"]`)
	w.see(".model-list .suggestion")
	w.shot("setup-picker")
}
