package workbench

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"appserver/test/sample"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

const (
	// block is the width and the height in pixels of a point of a stored screen.
	block = 8
	// pointDifference is how much a channel of a point may differ, of 255.
	pointDifference = 32
	// screenDifference is the share of points that may differ more. Times and widths of letters differ.
	screenDifference = 0.05
)

// documented returns the screens that docs/workbench.md and the README show, in light colours.
func documented() []string {
	return []string{"thread", "plan", "question", "map-turns", "draft", "prompts", "findings", "revert", "settings-settings",
		"cards"}
}

// TestLooks opens each screen in light and dark colours, and compares it with a stored screen of less
// detail. WORKBENCH_UPDATE=1 writes the stored screens: look at the pictures that WORKBENCH_SHOTS=FOLDER
// writes, before you commit them. WORKBENCH_PICTURES=FOLDER writes the pictures of the documentation.
func TestLooks(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, prepare(t).Path).open(t)
	w.see(".thread-row")
	w.look("start")
	w.show("Slugs lose umlauts")
	w.look("thread")
	w.clickIn(".segments.views button", "Suggestions")
	w.clickIn(suggestCards+" button", "Why")
	w.await(`document.querySelector(".context-item.highlighted")?.checkVisibility()`)
	w.look("cards")
	w.clickIn(".segments.views button", "Suggestions")
	w.clickText("Earlier messages")
	w.look("trimmed")
	w.clickText("Earlier messages")
	w.unfold("sh test.sh && ls -l")
	w.look("command")
	w.check("apply_patch README.md")
	w.check("sh test.sh &&")
	w.see(".price strong")
	w.unfold("sh test.sh && ls -l")
	w.look("plan")
	w.click(".warnings summary")
	w.look("warnings")
	w.clickText("Discard")
	w.click(`.context-item button[aria-label="Show details"]`)
	w.see(".details-text pre")
	w.look("details")
	w.click(`.context-item button[aria-label="Hide details"]`)
	w.press("2", alt)
	w.see(".history li")
	w.look("edits")
	w.press("1", alt)
	w.fill(findField, "slug")
	w.see(".context-item mark")
	w.look("find-context")
	eval[bool](w, `(document.querySelector(".panel-find input").select(), true)`)
	w.press(kb.Delete)
	w.clickText("Map")
	w.drag(".map-box", 0.3, 0.1, 0.8, 0.3)
	w.see(".map-actions")
	w.look("map")
	w.choose(".segments.views select", "turn")
	w.look("map-turns")
	w.clickIn(".segments.views button", "List")
	w.press("f", control)
	w.fill(".find input", "titles")
	w.seeText(".find-count", "of")
	w.look("find")
	w.click(`button[aria-label="Close the search"]`)
	for _, d := range []struct{ name, entry string }{
		{"trim", "Trim to"}, {"compact", "Compact"}, {"categories", "Exclude a category"}, {"restore", "Restore"},
	} {
		w.menu("Edit the context", d.entry)
		w.lookAtDialog(d.name)
	}
	w.menu("Edit the context", "Show prompts")
	w.click(".prompt-points ul:nth-of-type(2) li:nth-child(2) .prompt-point-name")
	w.see(".exact")
	w.click(`button[aria-label="Compare with now"]`)
	w.see(".part-row.removed, .part-row.added")
	w.lookAtDialog("prompts")
	w.menu("Edit the context", "Compact")
	w.clickIn("label.option", "Your messages only")
	w.clickText("Review the draft")
	w.see(".draft-losses li")
	w.lookAtDialog("draft")
	w.press("k", control)
	w.lookAtDialog("palette")
	w.click(`button[aria-label="Keyboard shortcuts"]`)
	w.lookAtDialog("keys")
	w.click(`.threads-head button[aria-label="New thread"]`)
	w.lookAtDialog("new")
	w.clickText("Archived")
	w.seeText(".threads .hint", "No archived threads")
	w.look("archived")
	w.clickText("Active")
	w.write("/")
	w.see(".suggestion")
	w.look("suggestions")
	w.clear()
	w.send("Publish the project.")
	w.await(`document.querySelector("[data-answer=y]")?.disabled === false`)
	w.toNewest()
	w.look("question")
	w.size(760, 800, 1)
	w.look("narrow")
	w.click(`button[aria-label="Panel"]`)
	w.see(".panel")
	w.look("narrow-panel")
	w.click(`button[aria-label="Panel"]`)
	w.size(1280, 800, 2)
	w.look("zoom")
	w.size(1280, 800, 1)
	w.toNewest()
	w.theme("forced")
	w.lookNow("contrast")
	w.theme("light")
	w.offline(true)
	w.seeText(".banner", "connection")
	w.look("disconnected")
}

// TestLooksOfTabs opens the tabs beside the context.
func TestLooksOfTabs(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, prepare(t).Path).open(t)
	w.see(".thread-row")
	w.show("Slugs lose umlauts")
	w.press("3", alt)
	w.seeText(".tree-row", "README.md")
	w.look("changes")
	w.scope(":Whole thread")
	w.seeText(".side-note", "3 files")
	w.clickIn(".tree-row.file", "slug.sh")
	w.see(".diff-row.add")
	w.look("changes-diff")
	w.click(`button[aria-label="Wide panel"]`)
	w.clickText("Split")
	w.see(".diff-row.split")
	w.look("changes-split")
	w.clickText("Unified")
	w.click(`button[aria-label="Wide panel"]`)
	w.clickText("Review…")
	w.see("dialog")
	w.clickIn("dialog .option", "Changes since a branch")
	w.lookAtDialog("review")
	w.press("4", alt)
	w.click(".point:nth-child(1) input")
	w.look("checkpoints")
	w.openRevert("Fix it")
	w.see(".revert-effect")
	w.lookAtDialog("revert")
	w.press("3", alt)
	w.clickText("Review…")
	w.clickIn("dialog .primary", "Start")
	w.gone("dialog")
	w.clickIn(".finding", "Accents of other languages")
	w.await(`document.activeElement.matches(".diff-row")`)
	w.look("findings")
	w.press("5", alt)
	w.clickIn(".memory .fold-title", "Fix it")
	w.see(".memory-body pre")
	w.look("memory")
	w.send("Watch the tests.")
	w.seeText(".message.agent", "in the background")
	w.press("6", alt)
	w.seeText(".terminal .output", "Waiting")
	w.look("terminals")
	for _, view := range []string{"Settings", "Configuration", "Diagnostics"} {
		w.openSettings(view)
		w.await(`document.querySelector(".setting, .facts-table") !== null`)
		w.lookAtDialog("settings-" + strings.ToLower(view))
	}
}

// toNewest scrolls the conversation to its end.
func (w *workbench) toNewest() {
	w.t.Helper()
	w.await(`(() => {
		const button = document.querySelector(".to-newest");
		button?.click();
		return button === null;
	})()`)
}

// lookAtDialog compares a dialog and closes it.
func (w *workbench) lookAtDialog(name string) {
	w.t.Helper()
	w.see("dialog")
	w.look(name)
	w.do(chromedp.KeyEvent("\x1b"))
	w.gone("dialog")
}

// look compares the page in light and dark colours with the stored screens.
func (w *workbench) look(name string) {
	w.t.Helper()
	w.theme("dark")
	w.lookNow(name + "-dark")
	w.theme("light")
	w.lookNow(name)
}

// lookNow compares the page as it is with a stored screen.
func (w *workbench) lookNow(name string) {
	w.t.Helper()
	w.await(`document.getAnimations().every((a) => a.playState !== "running" || a.effect.getTiming().iterations === Infinity)`)
	eval[bool](w, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
	picture := w.shot(name)
	if dir := os.Getenv("WORKBENCH_PICTURES"); dir != "" && slices.Contains(documented(), name) {
		require.NoError(w.t, os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600))
	}
	decoded, err := png.Decode(bytes.NewReader(picture))
	require.NoError(w.t, err)
	got, path := coarse(decoded), filepath.Join("testdata", "looks", name+".png")
	if os.Getenv("WORKBENCH_UPDATE") != "" {
		var text bytes.Buffer
		require.NoError(w.t, png.Encode(&text, got))
		require.NoError(w.t, os.WriteFile(path, text.Bytes(), 0o600))
		return
	}
	text, err := os.ReadFile(path)
	require.NoError(w.t, err)
	want, err := png.Decode(bytes.NewReader(text))
	require.NoError(w.t, err)
	require.Equal(w.t, want.Bounds(), got.Bounds(), name)
	share := differing(want, got)
	if share > screenDifference {
		w.shot("different-" + name)
	}
	require.LessOrEqual(w.t, share, screenDifference, "the screen %s looks different: see it with WORKBENCH_SHOTS=FOLDER", name)
}

// coarse returns a picture with one point for each block.
func coarse(from image.Image) *image.NRGBA {
	size := from.Bounds().Size()
	to := image.NewNRGBA(image.Rect(0, 0, size.X/block, size.Y/block))
	for y := range size.Y / block {
		for x := range size.X / block {
			var r, g, b uint32
			for i := range block * block {
				pr, pg, pb, _ := from.At(x*block+i%block, y*block+i/block).RGBA()
				r, g, b = r+pr>>8, g+pg>>8, b+pb>>8
			}
			n := uint32(block * block)
			to.SetNRGBA(x, y, color.NRGBA{uint8(r / n), uint8(g / n), uint8(b / n), 255})
		}
	}
	return to
}

// differing returns the share of points that differ.
func differing(a image.Image, b *image.NRGBA) float64 {
	size := b.Bounds().Size()
	n := 0
	for y := range size.Y {
		for x := range size.X {
			ar, ag, ab, _ := a.At(x, y).RGBA()
			at := b.NRGBAAt(x, y)
			if apart(ar>>8, at.R) || apart(ag>>8, at.G) || apart(ab>>8, at.B) {
				n++
			}
		}
	}
	return float64(n) / float64(size.X*size.Y)
}

func apart(a uint32, b uint8) bool {
	d := int(a) - int(b)
	return d > pointDifference || d < -pointDifference
}
