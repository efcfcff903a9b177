package vscode

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	pagedomain "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"appserver/docs/demo/prepared"
	"appserver/test/apptest"
)

// patience bounds the wait for a state of the editor. Its first start compiles megabytes of scripts.
const patience = time.Minute

// page is an expression for the document of the workbench's page, which is in two frames.
const page = `document.querySelector("iframe.webview")?.contentDocument?.querySelector("#active-frame")?.contentDocument`

// editor is a window of code-server with the extension.
type editor struct {
	t    *testing.T
	ctx  context.Context
	home prepared.Home
	// url is the address of the window.
	url string
}

// object is a JSON object.
type object = map[string]any

// openEditor starts code-server with the extension and the prepared conversation, and opens its folder.
// settings override those of the extension.
func openEditor(t *testing.T, settings object) *editor {
	t.Helper()
	program := os.Getenv("CODE_SERVER")
	if program == "" {
		t.Skip("CODE_SERVER does not name the program of code-server: run make vscode-e2e")
	}
	binary, err := apptest.Binary()
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "demo") // short, because pictures show it
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	home, err := prepared.Make(binary, dir)
	require.NoError(t, err)
	t.Cleanup(func() { awaitServersEnd(t, home.Path) })
	machine := object{"appserver.path": binary, "appserver.env": object{"CODEX_HOME": home.Path, "SHELL": "/bin/sh"},
		"appserver.args": []string{"--exit-when-idle", "1"}}
	maps.Copy(machine, settings)
	user := object{
		"security.workspace.trust.enabled": false, "workbench.startupEditor": "none", "telemetry.telemetryLevel": "off",
		"workbench.secondarySideBar.defaultVisibility": "hidden", "workbench.tips.enabled": false,
	}
	e := &editor{t: t, home: home}
	e.start(program, dir, map[string]object{"User": user, "Machine": machine})
	return e
}

// awaitServersEnd waits until no shared server of a home runs. It ends soon after the last window.
func awaitServersEnd(t *testing.T, home string) {
	t.Helper()
	require.Eventually(t, func() bool {
		sockets, err := filepath.Glob(filepath.Join(home, "app-server-control", "shared-*.sock"))
		return err == nil && len(sockets) == 0
	}, patience, 50*time.Millisecond)
}

// start runs code-server and opens its page in Chromium. settings are those of the user and of the machine.
func (e *editor) start(program, dir string, settings map[string]object) {
	e.t.Helper()
	data := filepath.Join(dir, "data")
	for folder, values := range settings {
		require.NoError(e.t, os.MkdirAll(filepath.Join(data, folder), 0o700))
		text, err := json.Marshal(values)
		require.NoError(e.t, err)
		require.NoError(e.t, os.WriteFile(filepath.Join(data, folder, "settings.json"), text, 0o600))
	}
	vsix := filepath.Join(dir, "appserver.vsix")
	pack := exec.CommandContext(e.t.Context(), "go", "run", "./editors/vscode/gen", vsix)
	pack.Dir = apptest.Root()
	out, err := pack.CombinedOutput()
	require.NoError(e.t, err, "%s", out)
	command := func(args ...string) *exec.Cmd {
		common := []string{"--user-data-dir", data, "--extensions-dir", filepath.Join(dir, "extensions")}
		cmd := exec.Command(program, append(common, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+dir)
		return cmd
	}
	out, err = command("--install-extension", vsix).CombinedOutput()
	require.NoError(e.t, err, "%s", out)
	cmd := command("--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry", "--disable-update-check")
	stdout, err := cmd.StdoutPipe()
	require.NoError(e.t, err)
	require.NoError(e.t, cmd.Start())
	e.t.Cleanup(func() {
		require.NoError(e.t, cmd.Process.Signal(os.Interrupt))
		_ = cmd.Wait()
	})
	e.browse(address(e.t, bufio.NewScanner(stdout)) + "/?folder=" + e.home.Project)
}

// address returns the address at which code-server listens, from its output.
func address(t *testing.T, lines *bufio.Scanner) string {
	t.Helper()
	listening := regexp.MustCompile(`HTTP server listening on (http://[\d.:]+)`)
	for lines.Scan() {
		if found := listening.FindStringSubmatch(lines.Text()); found != nil {
			go func() {
				for lines.Scan() { //nolint:revive // keeps the pipe empty
				}
			}()
			return found[1]
		}
	}
	require.Fail(t, "code-server printed no address", lines.Err())
	return ""
}

func (e *editor) browse(url string) {
	e.t.Helper()
	path, err := exec.LookPath("chromium")
	require.NoError(e.t, err)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.WindowSize(1240, 760))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(allocator)
	e.t.Cleanup(func() {
		_ = chromedp.Cancel(ctx)
		stop()
	})
	require.NoError(e.t, chromedp.Do(ctx)) // starts the browser, for longer than one action
	e.ctx = ctx
	e.url = url
	e.load()
}

// load opens the window, and waits until the extension is active.
func (e *editor) load() {
	e.t.Helper()
	e.do(chromedp.EmulateViewport(1240, 760))
	e.do(chromedp.Navigate(e.url))
	e.see("document", gauge, "appserver")
}

// another opens a second window of the same folder.
func (e *editor) another() *editor {
	e.t.Helper()
	ctx, cancel := chromedp.NewContext(e.ctx)
	e.t.Cleanup(cancel)
	other := &editor{t: e.t, ctx: ctx, home: e.home, url: e.url}
	require.NoError(e.t, chromedp.Do(ctx))
	other.load()
	return other
}

// front brings the window to the front, so that it gets keys.
func (e *editor) front() {
	e.t.Helper()
	_, err := chromedp.Call(e.ctx, pagedomain.BringToFront, cdp.Empty{})
	require.NoError(e.t, err)
}

func (e *editor) do(action chromedp.Action[chromedp.Void]) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, action); err != nil {
		e.fail(err)
	}
}

func (e *editor) fail(err error) {
	e.t.Helper()
	e.shot("failure-" + e.t.Name())
	require.NoError(e.t, err)
}

func eval[T any](e *editor, expression string) T {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		e.fail(fmt.Errorf("%s: %w", expression, err))
	}
	return value
}

// await waits until an expression is true.
func (e *editor) await(expression string) {
	e.t.Helper()
	eval[bool](e, fmt.Sprintf(`new Promise((found) => {
		const check = () => (%s) ? found(true) : setTimeout(check, 30);
		check();
	})`, expression))
}

// see waits until an element with a text is visible. root is an expression for its document.
func (e *editor) see(root, selector, text string) {
	e.t.Helper()
	e.await(find(root, selector, text) + " !== undefined")
}

// find returns an expression for the first visible element with a text.
func find(root, selector, text string) string {
	return fmt.Sprintf("[...((%s)?.querySelectorAll(%q) ?? [])].find((e) => e.checkVisibility() && e.textContent.includes(%q))",
		root, selector, text)
}

// click clicks on the first visible element with a text, as soon as it is enabled.
func (e *editor) click(root, selector, text string) {
	e.t.Helper()
	e.await(fmt.Sprintf(`(() => {
		const b = %s;
		if (!b || b.disabled) return false;
		b.click();
		return true;
	})()`, find(root, selector, text)))
}

// press presses the mouse on an element with a text.
func (e *editor) press(root, selector, text string) {
	e.t.Helper()
	e.see(root, selector, text)
	at := eval[[]float64](e, fmt.Sprintf(`(() => {
		const b = %s.getBoundingClientRect();
		return [b.x + b.width / 2, b.y + b.height / 2];
	})()`, find(root, selector, text)))
	e.do(chromedp.MouseClickXY(at[0], at[1]))
}

// command runs a command of the palette.
func (e *editor) command(title string) {
	e.t.Helper()
	opened := false
	for range 15 { // a frame that is just getting the focus loses keys
		e.do(chromedp.KeyEvent(kb.F1))
		opened = eval[bool](e, `new Promise((done) => {
			const end = Date.now() + 2000;
			const check = () => document.activeElement?.matches(".quick-input-widget input") ? done(true)
				: Date.now() > end ? done(false) : setTimeout(check, 30);
			check();
		})`)
		if opened {
			break
		}
	}
	require.True(e.t, opened, "the palette does not open")
	e.pick(">" + title)
}

// pick writes into the open quick input and chooses the first entry.
func (e *editor) pick(text string) {
	e.t.Helper()
	e.await(`document.activeElement?.matches(".quick-input-widget input")`)
	eval[bool](e, `(document.activeElement.select(), true)`)
	_, err := chromedp.Call(e.ctx, input.InsertText, input.InsertTextParams{Text: text})
	require.NoError(e.t, err)
	e.see("document", ".quick-input-list .monaco-list-row.focused", strings.TrimPrefix(text, ">"))
	e.do(chromedp.KeyEvent(kb.Enter))
}

// shot writes a picture into the folder of the variable VSCODE_PICTURES.
func (e *editor) shot(name string) {
	e.t.Helper()
	dir := os.Getenv("VSCODE_PICTURES")
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(e.ctx, patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	require.NoError(e.t, err)
	require.NoError(e.t, os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644))
}
