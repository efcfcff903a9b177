package workbench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	cdpnetwork "github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// patience bounds the wait for a state of the page.
const patience = 90 * time.Second

// browser is a running Chromium, one for all tests of the package.
var browser = sync.OnceValues(func() (context.Context, error) {
	path, err := exec.LookPath("chromium-headless-shell") // faster, because it has no windows
	if err != nil {
		path, err = exec.LookPath("chromium")
	}
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.WindowSize(1280, 800))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(allocator)
	stopBrowser = func() {
		_ = chromedp.Cancel(ctx) // waits until Chromium has ended
		stop()
	}
	return ctx, chromedp.Do(ctx)
})

// stopBrowser ends Chromium after the last test.
var stopBrowser = func() {}

// network lets a test end the connections of the page, and collects violations of its policy.
const network = `{
	const sockets = new Set();
	let offline = false;
	window.setOffline = (off) => {
		offline = off;
		if (off) for (const s of sockets) s.close();
	};
	const RealSocket = WebSocket;
	window.WebSocket = class extends RealSocket {
		constructor(...args) {
			super(...args);
			sockets.add(this);
			this.addEventListener("close", () => sockets.delete(this));
			if (offline) this.close();
		}
	};
	const realFetch = fetch;
	window.violations = new Set();
	document.addEventListener("securitypolicyviolation", (e) => violations.add(e.violatedDirective + " " + e.blockedURI));
	window.fetch = (...args) => (offline ? Promise.reject(new TypeError("offline")) : realFetch(...args));
}`

// workbench is a tab with the page of a server.
type workbench struct {
	t   *testing.T
	ctx context.Context
	mu  sync.Mutex
	// problems has the errors that the page reported: exceptions, blocked resources, dialogs.
	problems []string
	// requested has the addresses that the page requested.
	requested []string
	server    *server
}

// needChromium skips a test on a machine without Chromium. In CI that is an error.
func needChromium(t *testing.T) context.Context {
	ctx, err := browser()
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("Chromium is not installed: ", err)
	}
	require.NoError(t, err)
	return ctx
}

// open opens the page of a server in a new tab.
func (s *server) open(t *testing.T) *workbench {
	t.Helper()
	w := s.openFile(t)
	w.see(".status-open")
	return w
}

// openFile opens the file that leads to the page, in a browser that keeps no keys.
func (s *server) openFile(t *testing.T) *workbench {
	t.Helper()
	w := s.newTab(t)
	call(w, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `Object.defineProperty(window, "indexedDB", {value: undefined})`})
	w.follow(s.file)
	return w
}

// newTab returns an empty tab of a new browser.
func (s *server) newTab(t *testing.T) *workbench {
	t.Helper()
	ctx, cancel := chromedp.NewContext(needChromium(t), chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	w := &workbench{t: t, ctx: ctx, server: s}
	require.NoError(t, chromedp.Listen(ctx, w.watch))
	call(w, runtime.Enable, cdp.Empty{})
	call(w, log.Enable, cdp.Empty{})
	call(w, cdpnetwork.Enable, cdpnetwork.EnableParams{})
	call(w, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: network})
	w.size(1280, 800, 1)
	return w
}

// visit opens an address.
func (w *workbench) visit(address string) {
	w.t.Helper()
	w.do(chromedp.Navigate(address))
}

// follow opens the file that leads to the page.
func (w *workbench) follow(file string) {
	w.t.Helper()
	w.do(chromedp.Navigate("file://" + file))
	require.Eventually(w.t, func() bool {
		http, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool](`location.protocol === "http:"`))
		return err == nil && http
	}, patience, 20*time.Millisecond)
}

func call[P, R any](w *workbench, command cdp.Command[P, R], params P) {
	w.t.Helper()
	_, err := chromedp.Call(w.ctx, command, params)
	require.NoError(w.t, err)
}

func (w *workbench) watch(event any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		w.problems = append(w.problems, "exception: "+e.ExceptionDetails.Text+" "+e.ExceptionDetails.Exception.Description)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			w.problems = append(w.problems, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *cdpnetwork.EventRequestWillBeSent:
		w.requested = append(w.requested, e.Request.URL)
	case *page.EventJavascriptDialogOpening:
		w.problems = append(w.problems, "dialog: "+e.Message)
	}
}

// requireNoProblems fails the test if the page reported an error.
func (w *workbench) requireNoProblems() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	require.Empty(w.t, w.problems)
}

// requireOwnRequests fails the test if the page requested something of another host.
func (w *workbench) requireOwnRequests() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, address := range w.requested {
		own := strings.HasPrefix(address, w.server.url+"/") || address == "file://"+w.server.file ||
			strings.HasPrefix(address, "data:")
		require.True(w.t, own, address)
	}
	require.NotEmpty(w.t, w.requested)
}

// do runs an action in the tab.
func (w *workbench) do(action chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, action); err != nil {
		w.fail(err)
	}
}

func (w *workbench) fail(err error) {
	w.t.Helper()
	w.t.Log(err)
	w.shot("failure-" + strings.ReplaceAll(w.t.Name(), "/", "_"))
	w.requireNoProblems()
	require.NoError(w.t, err)
}

// eval returns the value of an expression of the page.
func eval[T any](w *workbench, expression string) T {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		w.fail(fmt.Errorf("%s: %w", expression, err))
	}
	return value
}

// await waits until an expression of the page is true. The page checks it itself, because its
// Content-Security-Policy blocks scripts of others.
func (w *workbench) await(expression string) {
	w.t.Helper()
	eval[bool](w, fmt.Sprintf(`new Promise((found) => {
		const check = () => (%s) ? found(true) : setTimeout(check, 15);
		check();
	})`, expression))
}

// see waits until an element is visible.
func (w *workbench) see(selector string) {
	w.t.Helper()
	w.await(fmt.Sprintf("document.querySelector(%q)?.checkVisibility()", selector))
}

// seeText waits until an element with a text is visible.
func (w *workbench) seeText(selector, text string) {
	w.t.Helper()
	w.await(fmt.Sprintf("[...document.querySelectorAll(%q)].some((e) => e.checkVisibility() && e.textContent.includes(%q))",
		selector, text))
}

// gone waits until no element matches.
func (w *workbench) gone(selector string) {
	w.t.Helper()
	w.await(fmt.Sprintf("document.querySelector(%q) === null", selector))
}

// click clicks on an element when it is visible and enabled.
func (w *workbench) click(selector string) {
	w.t.Helper()
	w.await(fmt.Sprintf("document.querySelector(%q)?.checkVisibility() && !document.querySelector(%[1]q).disabled", selector))
	w.do(chromedp.Click(chromedp.CSS(selector)))
}

// clickText clicks on the first button or link with a text.
func (w *workbench) clickText(text string) {
	w.t.Helper()
	w.clickIn("button, a, summary", text)
}

// clickIn clicks on the first element that matches and has a text. The page itself clicks, because a
// list that is read again may replace the element at any time.
func (w *workbench) clickIn(selector, text string) {
	w.t.Helper()
	w.await(fmt.Sprintf(`(() => {
		const b = [...document.querySelectorAll(%q)]
			.find((e) => e.checkVisibility() && !e.disabled && e.textContent.includes(%q));
		b?.focus();
		b?.click();
		return b !== undefined;
	})()`, selector, text))
}

// alt, control and shift are modifiers of press.
var (
	alt     = chromedp.KeyModifiers(chromedp.ModifierAlt)
	shift   = chromedp.KeyModifiers(chromedp.ModifierShift)
	control = chromedp.KeyModifiers(chromedp.ModifierCtrl)
)

// press presses keys in the focused element.
func (w *workbench) press(keys string, options ...chromedp.KeyOption) {
	w.t.Helper()
	w.do(chromedp.KeyEvent(keys, options...))
}

// choose chooses an option of a select.
func (w *workbench) choose(selector, value string) {
	w.t.Helper()
	w.see(selector)
	eval[bool](w, fmt.Sprintf(`(() => {
		const s = document.querySelector(%q);
		s.value = %q;
		return s.dispatchEvent(new Event("change", {bubbles: true}));
	})()`, selector, value))
}

// drag drags the mouse over an element, between two points whose coordinates are shares of its size.
func (w *workbench) drag(selector string, fromX, fromY, toX, toY float64) {
	w.t.Helper()
	w.see(selector)
	eval[bool](w, "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
	box := eval[[]float64](w, fmt.Sprintf(
		`(() => { const b = document.querySelector(%q).getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()`, selector))
	x := func(share float64) float64 { return box[0] + share*box[2] }
	y := func(share float64) float64 { return box[1] + share*box[3] }
	w.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x(fromX), y(fromY), chromedp.ButtonLeft))
	w.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x(toX), y(toY), chromedp.ButtonLeft))
	w.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, x(toX), y(toY), chromedp.ButtonLeft))
}

// write writes a text into the composer.
func (w *workbench) write(text string) {
	w.t.Helper()
	w.fill(".composer textarea", text)
}

// fill replaces the text of a field.
func (w *workbench) fill(selector, text string) {
	w.t.Helper()
	w.see(selector)
	eval[bool](w, fmt.Sprintf(`(document.querySelector(%q).select(), true)`, selector))
	w.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// clear empties the composer.
func (w *workbench) clear() {
	w.t.Helper()
	eval[bool](w, `(document.querySelector(".composer textarea").select(), true)`)
	w.press(kb.Delete)
	w.await(`document.querySelector(".composer textarea").value === ""`)
}

// send writes a message and sends it by Enter. It waits until the page has taken it. The page gets the
// key alone: Chromium sends the character of an emulated key separately, sometimes after the field is
// empty again.
func (w *workbench) send(text string) {
	w.t.Helper()
	w.write(text)
	w.await(`!document.querySelector(".composer button[type=submit]").disabled`)
	eval[bool](w, `(document.querySelector(".composer textarea").dispatchEvent(
		new KeyboardEvent("keydown", {key: "Enter", bubbles: true, cancelable: true})), true)`)
	w.await(`document.querySelector(".composer textarea").value === ""`)
}

// menu opens the menu with a label and chooses an entry.
func (w *workbench) menu(label, entry string) {
	w.t.Helper()
	w.click(fmt.Sprintf("button[aria-label=%q]", label))
	w.clickIn("[role=menuitem]", entry)
}

// reload loads the page again.
func (w *workbench) reload() {
	w.t.Helper()
	w.do(chromedp.Reload())
	w.see(".status-open")
}

// offline ends or restores the network of the tab.
func (w *workbench) offline(off bool) {
	w.t.Helper()
	eval[bool](w, fmt.Sprintf("(setOffline(%v), true)", off))
}

// count returns the number of elements that match.
func (w *workbench) count(selector string) int {
	w.t.Helper()
	return eval[int](w, fmt.Sprintf("document.querySelectorAll(%q).length", selector))
}

// start starts a thread in a folder.
func (w *workbench) start(folder string) {
	w.t.Helper()
	w.click(`.threads-head button[aria-label="New thread"]`)
	w.see("dialog input")
	eval[bool](w, `(document.querySelector("dialog input").select(), true)`)
	w.press(folder + "\r")
	w.gone("dialog")
	w.see(".composer textarea")
}

// size sets the size of the window, and the zoom.
func (w *workbench) size(width, height int64, zoom float64) {
	w.t.Helper()
	w.do(chromedp.EmulateViewport(int64(float64(width)/zoom), int64(float64(height)/zoom), chromedp.EmulateScale(zoom)))
}

// show opens a thread of the list.
func (w *workbench) show(title string) {
	w.t.Helper()
	w.clickText(title)
	w.see(".timeline article")
	w.see(".context-item")
}

// unfold opens the item of the timeline with a title, unless it is open.
func (w *workbench) unfold(title string) {
	w.t.Helper()
	w.await(fmt.Sprintf(`(() => {
		const b = [...document.querySelectorAll(".fold-title")].find((e) => e.textContent.includes(%q));
		if (b?.getAttribute("aria-expanded") === "false") b.click();
		return b?.getAttribute("aria-expanded") === "true";
	})()`, title))
}

// check clicks on the box of the first context item with a text.
func (w *workbench) check(text string) {
	w.t.Helper()
	w.await(fmt.Sprintf(`(() => {
		const row = [...document.querySelectorAll(".context-item")].find((e) => e.textContent.includes(%q));
		row?.querySelector("[role=checkbox]").setAttribute("data-test", "here");
		return row !== undefined;
	})()`, text))
	w.do(chromedp.Click(chromedp.CSS(`[data-test="here"]`)))
	eval[bool](w, `(document.querySelector("[data-test]")?.removeAttribute("data-test"), true)`)
}

// focusItem moves the focus to the first context item with a text.
func (w *workbench) focusItem(text string) {
	w.t.Helper()
	w.await(fmt.Sprintf(`(() => {
		const row = [...document.querySelectorAll(".context-item")].find((e) => e.textContent.includes(%q));
		row?.focus();
		return row !== undefined && document.activeElement === row;
	})()`, text))
}

// theme sets the colours of the system: "light", "dark" or "forced".
func (w *workbench) theme(name string) {
	w.t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}
	if name == "forced" {
		features = []*emulation.MediaFeature{
			{Name: "forced-colors", Value: "active"}, {Name: "prefers-contrast", Value: "more"}}
	}
	call(w, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
}

// shot returns a picture of the page. It writes it below WORKBENCH_SHOTS, if that is set.
func (w *workbench) shot(name string) []byte {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	require.NoError(w.t, err)
	if dir := os.Getenv("WORKBENCH_SHOTS"); dir != "" {
		require.NoError(w.t, os.MkdirAll(dir, 0o755))
		require.NoError(w.t, os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600))
	}
	return picture
}
