package workbench

import (
	"testing"
)

// TestPictures opens the screens that the documentation shows. With WORKBENCH_SHOTS=FOLDER it writes
// their pictures.
func TestPictures(t *testing.T) {
	home := prepare(t)
	w := serve(t, home.Path).open(t)
	w.size(1440, 900, 1)
	w.see(".thread-row")
	w.shot("start")
	w.show("Slugs lose umlauts")
	w.shot("workbench")
	w.theme("dark")
	w.shot("workbench-dark")
	w.theme("light")
	w.unfold("sh test.sh && ls -l")
	w.shot("command")
	w.clickText("Earlier messages")
	w.shot("trimmed")
	w.check("Begin Patch")
	w.check("sh test.sh &&")
	w.see(".footer .primary")
	w.shot("plan")
	w.clickText("Edits")
	w.see(".history li")
	w.shot("history")
	w.clickText("Context")
	w.send("Publish the project.")
	w.see(".question")
	w.shot("question")
	w.size(760, 900, 1)
	w.shot("narrow")
	w.size(1280, 800, 2)
	w.shot("zoom")
	w.size(1280, 800, 1)
	w.theme("forced")
	w.shot("contrast")
	w.requireNoProblems()
}
