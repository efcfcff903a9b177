package workbench

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdpnetwork "github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// address returns the address that the command prints for another browser. The command runs in the home of the server.
func (s *server) address(t *testing.T) string {
	t.Helper()
	status, out, errs := apptest.Execute(t, s.home, "web", "--ticket", "--listen", strings.TrimPrefix(s.url, "http://"))
	require.Equal(t, 0, status, errs)
	require.True(t, strings.HasPrefix(out, s.url+"/#ticket="), out)
	require.Equal(t, 1, strings.Count(out, "\n"), "scripts read the address alone")
	return strings.TrimSpace(out)
}

// openRemembered opens the page in a new browser that keeps its key.
func (s *server) openRemembered(t *testing.T) *workbench {
	t.Helper()
	w := s.newTab(t)
	w.visit(s.address(t))
	w.see(".status-open")
	w.seeText(".banner", "This browser is remembered")
	return w
}

// TestPrintedAddressOpensPage opens the address that the command prints in a browser without anything of the page.
func TestPrintedAddressOpensPage(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	s := serve(t, t.TempDir())
	w := s.openRemembered(t)
	require.NotContains(t, eval[string](w, "location.href"), "ticket")
	w.shot("access-remembered")
	w.click(`.remembered button[aria-label="Close"]`)
	w.gone(".remembered")
	w.visit(s.url)
	w.see(".status-open") // the bookmark works without a ticket
	require.Zero(t, w.count(".remembered"))
	w.requireNoProblems()
	w.requireOwnRequests()
}

// TestRememberedPageContinuesAfterRestart kills the server and starts it again at its port. The page connects by
// itself, and keeps the open thread and the draft.
func TestRememberedPageContinuesAfterRestart(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home, folder := t.TempDir(), t.TempDir()
	free := []string{"--listen", apptest.FreeAddress(t), "-c", "approval_policy=never"}
	s := serve(t, home, free...)
	w := s.openRemembered(t)
	w.start(folder)
	w.send("hello")
	w.seeText(".timeline", "hello")
	w.write("a draft")
	eval[bool](w, "(window.stays = true)")
	s.stop()
	w.seeText(".banner", "The connection to the server is lost")
	w.seeText(".banner", "appserver web")
	w.shot("access-lost")
	serve(t, home, free...)
	w.see(".status-open")
	w.await(`!document.querySelector(".composer button[type=submit]").disabled`)
	require.True(t, eval[bool](w, "window.stays"), "the page was not loaded again")
	require.Equal(t, "a draft", eval[string](w, `document.querySelector(".composer textarea").value`))
	w.seeText(".timeline", "hello")
	w.reload()
	require.Equal(t, "a draft", eval[string](w, `document.querySelector(".composer textarea").value`))
}

// TestForgottenBrowserNeedsTicket revokes a browser by the command while its page is open. The page says what to run,
// takes the printed address, and continues with the open thread.
func TestForgottenBrowserNeedsTicket(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home, folder := t.TempDir(), t.TempDir()
	s := serve(t, home)
	w := s.openRemembered(t)
	w.start(folder)
	w.write("a draft")
	status, out, errs := apptest.Execute(t, home, "web", "--devices")
	require.Equal(t, 0, status, errs)
	require.Contains(t, out, "Chrome on Linux")
	status, out, errs = apptest.Execute(t, home, "web", "--forget", "Chrome on Linux")
	require.Equal(t, 0, status, errs)
	require.Contains(t, out, "forgotten: ")
	w.seeText("main", "This page has no session")
	w.seeText("main", "appserver web --ticket")
	w.shot("access-no-session")
	w.size(390, 800, 1)
	w.shot("access-no-session-narrow")
	w.size(1280, 800, 1)
	w.accessible("without a session")

	paste := func(text string) {
		w.fill(".nosession input", text)
		w.click(".nosession button[type=submit]")
	}
	paste("http://127.0.0.1:1/#ticket=" + strings.Repeat("A", 26))
	w.seeText("[role=alert]", "another page")
	w.shot("access-wrong-address")
	paste("nonsense")
	w.seeText("[role=alert]", "This is no ticket")
	paste(strings.Repeat("A", 26))
	w.seeText("[role=alert]", "used, expired or wrong")
	paste(s.address(t))
	w.see(".status-open")
	require.Equal(t, "a draft", eval[string](w, `document.querySelector(".composer textarea").value`))
	status, out, errs = apptest.Execute(t, home, "web", "--devices")
	require.Equal(t, 0, status, errs)
	require.Contains(t, out, "Chrome on Linux")
}

// TestDamagedFilesSayWhatToDo damages the files by which the server and a browser know each other. The page does not
// wait for a server that is there: it says what to do, and takes a ticket.
func TestDamagedFilesSayWhatToDo(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	s := serve(t, t.TempDir())
	for _, name := range []string{"devices.json", "server.key"} {
		w := s.openRemembered(t)
		path := filepath.Join(s.home, "appserver-web", name)
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
		if name == "server.key" {
			w.do(chromedp.Reload()) // an open connection needs no key
		}
		w.seeText("main", "This page has no session")
		w.do(chromedp.Reload())
		w.seeText("main", "cannot read the browsers that it remembers")
		w.visit(s.address(t))
		w.see(".status-open")
		require.NoError(t, os.WriteFile(path, kept, 0o600))
	}
}

// TestPageWhoseScriptsDoNotComeSaysWhatToDo loses the scripts, as with a server that ends while the page is loaded.
func TestPageWhoseScriptsDoNotComeSaysWhatToDo(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	s := serve(t, t.TempDir())
	w := s.newTab(t)
	call(w, cdpnetwork.SetBlockedURLs, cdpnetwork.SetBlockedURLsParams{
		URLPatterns: []*cdpnetwork.BlockPattern{{URLPattern: s.url + "/assets/*.js", Block: true}}})
	w.visit(s.url)
	w.await(`document.body.innerText.includes("The workbench does not start")`)
	w.shot("access-no-start")
	call(w, cdpnetwork.SetBlockedURLs, cdpnetwork.SetBlockedURLsParams{})
	w.visit(s.url)
	w.seeText("main", "This page has no session")
	require.Zero(t, w.count(".starting"))
}

// TestPageWithoutStorage opens the page in a browser that keeps no data for it.
func TestPageWithoutStorage(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	s := serve(t, t.TempDir())
	w := s.newTab(t)
	call(w, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `for (const name of ["localStorage", "sessionStorage", "indexedDB"]) Object.defineProperty(window, name,
			{get() { throw new DOMException("access is denied", "SecurityError"); }});`})
	w.visit(s.url)
	w.seeText("main", "This page has no session")
	w.fill(".nosession input", s.address(t))
	w.click(".nosession button[type=submit]")
	w.see(".status-open")
	w.start(t.TempDir())
	w.send("hello")
	w.seeText(".timeline", "hello")
}

// TestBrowsersInSettings lists two browsers, and forgets the other one and then this one.
func TestBrowsersInSettings(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	s := serve(t, t.TempDir())
	other, w := s.openRemembered(t), s.openRemembered(t)
	w.clickText("Remembered browsers")
	w.seeText(".browsers", "Chrome on Linux 2")
	w.accessible("browsers")
	w.shot("access-browsers")
	w.click(`button[aria-label="Forget Chrome on Linux"]`)
	w.await(`document.querySelectorAll(".browsers tbody tr").length === 1`)
	other.seeText("main", "This page has no session")
	w.click(`button[aria-label="Forget Chrome on Linux 2"]`)
	w.seeText("main", "This page has no session")
	w.do(chromedp.Reload())
	w.seeText("main", "does not know this browser any more")
}

// TestOtherPortNeedsTicket starts a server of the same home at another port: its page does not know the browser. The
// page at the first port does not become one of the second server.
func TestOtherPortNeedsTicket(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home := t.TempDir()
	s := serve(t, home, "--listen", apptest.FreeAddress(t))
	w := s.openRemembered(t)
	second := serve(t, home, "--listen", apptest.FreeAddress(t))
	w.visit(second.url)
	w.seeText("main", "This page has no session")
	w.seeText("main", "no key and no ticket")
	w.visit(s.url)
	w.see(".status-open")

	_, port, _ := strings.Cut(strings.TrimPrefix(s.url, "http://"), ":")
	w.visit("http://localhost:" + port)
	w.seeText("main", "This page has no session")
	local := strings.Replace(s.address(t), "127.0.0.1", "localhost", 1)
	w.visit(local) // the browser does not load the page again
	w.see(".status-open")
	w.click(`button[aria-label="Settings"]`)
	w.clickIn("[role=tab]", "Browsers")
	w.seeText(".browsers", "Chrome on Linux")
	require.Zero(t, w.count(".browsers .badge"), "this address is not remembered")
}

// TestPageThroughATunnel opens the page at another port of this side, as through ssh -L.
func TestPageThroughATunnel(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	s := serve(t, t.TempDir())
	near := tunnel(t, strings.TrimPrefix(s.url, "http://"))
	w := s.newTab(t)
	w.visit(strings.Replace(s.address(t), s.url, "http://"+near, 1))
	w.see(".status-open")
	w.reload()
	require.Zero(t, w.count(".remembered"))
	w.requireNoProblems()
	_, err := os.Stat(filepath.Join(s.home, "appserver-web", "devices.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestOpenPageRefusesAnotherProgram starts a program at the port of the server that accepts every token. The open page
// does not connect to it, and continues when the server is back.
func TestOpenPageRefusesAnotherProgram(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home, address := t.TempDir(), apptest.FreeAddress(t)
	s := serve(t, home, "--listen", address)
	w := s.openRemembered(t)
	s.stop()
	w.seeText(".banner", "The connection to the server is lost")
	var asked, connected atomic.Int32
	other := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ws":
			connected.Add(1)
		case "/challenge":
			asked.Add(1)
			_, _ = io.WriteString(w, `{"challenge":"x","proof":"`+strings.Repeat("A", 86)+`=="}`)
		}
	})}
	taken, err := net.Listen("tcp", address)
	require.NoError(t, err)
	go func() { _ = other.Serve(taken) }()
	require.Eventually(t, func() bool { return asked.Load() > 1 }, patience, 20*time.Millisecond)
	w.seeText(".banner", "The connection to the server is lost")
	require.NoError(t, other.Close())
	require.Zero(t, connected.Load())
	serve(t, home, "--listen", address)
	w.see(".status-open")
}

// TestServersOfTwoHomesShareAPort opens the page of one home, and then that of another one at the same address, in one
// browser. Both remember it.
func TestServersOfTwoHomesShareAPort(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	address := apptest.FreeAddress(t)
	a, b := t.TempDir(), t.TempDir()
	s := serve(t, a, "--listen", address)
	w := s.openRemembered(t)
	s.stop()
	s = serve(t, b, "--listen", address)
	w.seeText("main", "This page has no session")
	w.shot("access-other-home")
	w.visit(s.address(t))
	w.see(".status-open")
	s.stop()
	s = serve(t, a, "--listen", address)
	w.see(".status-open")
	s.stop()
	serve(t, b, "--listen", address)
	w.see(".status-open")
}

// tunnel passes connections of a free port on to an address, and returns the address of the port.
func tunnel(t *testing.T, to string) string {
	t.Helper()
	near, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = near.Close() })
	go func() {
		for {
			client, err := near.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = client.Close()
				continue
			}
			pass := func(a, b net.Conn) {
				_, _ = io.Copy(a, b)
				_ = a.Close()
			}
			go pass(far, client)
			go pass(client, far)
		}
	}()
	return near.Addr().String()
}

// TestWorkerOfAnotherProgramIsRemoved opens the page of a program that listens at the address before the server. Its
// service worker answers for the server at most the first time.
func TestWorkerOfAnotherProgramIsRemoved(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	needChromium(t)
	address := apptest.FreeAddress(t)
	before, err := net.Listen("tcp", address)
	require.NoError(t, err)
	other := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/worker.js" {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, `<h1>other</h1><script>navigator.serviceWorker.register("/worker.js")
				.then(() => navigator.serviceWorker.ready).then(() => document.querySelector("h1").className = "ready");</script>`)
			return
		}
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, `self.addEventListener("fetch", (e) => e.respondWith(
			new Response("<h1>worker</h1>", {headers: {"Content-Type": "text/html"}})));`)
	})}
	go func() { _ = other.Serve(before) }()
	w := (&server{url: "http://" + address}).newTab(t)
	w.visit("http://" + address)
	w.see("h1.ready")
	require.NoError(t, other.Close())

	s := serve(t, t.TempDir(), "--listen", address)
	w.visit(s.url)
	require.Eventually(t, func() bool {
		shown, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool](`document.body.textContent.includes("no session")`))
		return err == nil && shown
	}, patience, 100*time.Millisecond, "the page is loaded again without the worker")
	w.seeText("main", "This page has no session")
	require.Zero(t, eval[int](w, `navigator.serviceWorker.getRegistrations().then((r) => r.length)`))
}

// TestPageWithoutScriptsSaysWhatToDo opens the page in a browser that runs no scripts.
func TestPageWithoutScriptsSaysWhatToDo(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	s := serve(t, t.TempDir())
	w := s.newTab(t)
	call(w, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	w.visit(s.url)
	shown := eval[string](w, "document.body.innerText")
	require.Contains(t, shown, "The workbench needs JavaScript")
	w.shot("access-no-scripts")
}
