package workbench

import (
	"os"
	"path/filepath"
	"testing"

	"appserver/test/sample"

	"github.com/stretchr/testify/require"
)

// ask starts a server and a tab with an open question about a command.
func ask(t *testing.T) (s *server, w *workbench, folder string) {
	s = serve(t, t.TempDir(), "-c", "approval_policy=untrusted")
	w = s.open(t)
	folder = t.TempDir()
	w.start(folder)
	w.send("run: echo yes > answer.txt")
	w.seeText(".question", "May this command run?")
	w.seeText(".question-command", "echo yes > answer.txt")
	return s, w, folder
}

// TestQuestionIgnoresEarlyInput rejects a click and a key right after the question appears, and takes
// a key later. No button has the focus.
func TestQuestionIgnoresEarlyInput(t *testing.T) {
	t.Parallel()
	_, w, folder := ask(t)
	require.False(t, eval[bool](w, `document.activeElement.closest(".question") !== null`))
	w.press("q", alt)
	w.await(`document.activeElement.matches("[data-question]")`)
	w.await(`!document.querySelector("[data-answer=y]").disabled`)
	w.press("y")
	w.gone(".question")
	w.seeText(".outcome", "exit 0")
	text, err := os.ReadFile(filepath.Join(folder, "answer.txt"))
	require.NoError(t, err)
	require.Equal(t, "yes\n", string(text))
	w.requireNoProblems()
}

// TestQuestionSurvivesReloadAndSecondTab asks again after a reload, and in a second tab. An answer in
// one tab removes the question from the other.
func TestQuestionSurvivesReloadAndSecondTab(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	s, w, folder := ask(t)
	w.reload()
	w.seeText(".question-command", "echo yes > answer.txt")
	second := s.openAgain(t)
	second.clickText("run: echo yes")
	second.seeText(".question-command", "echo yes > answer.txt")
	second.await(`!document.querySelector("[data-answer=n]").disabled`)
	second.click("[data-answer=n]")
	w.seeText(".question.done", "Answered elsewhere")
	w.seeText(".outcome", "declined")
	require.NoFileExists(t, filepath.Join(folder, "answer.txt"))
	w.requireNoProblems()
	second.requireNoProblems()
}

// TestQuestionStaysWhenItIsPostponed collapses the card; nothing is answered, and it opens again.
func TestQuestionStaysWhenItIsPostponed(t *testing.T) {
	t.Parallel()
	_, w, _ := ask(t)
	w.clickText("Later")
	w.see(".question.later")
	w.seeText(".attention", "1 open question")
	w.clickText("Show")
	w.see(".question-command")
	w.requireNoProblems()
}

// TestQuestionSurvivesADisconnect shows the question again when the network returns.
func TestQuestionSurvivesADisconnect(t *testing.T) {
	t.Parallel()
	_, w, _ := ask(t)
	w.offline(true)
	w.seeText(".banner", "connection to the server is lost")
	w.offline(false)
	w.see(".status-open")
	w.seeText(".question-command", "echo yes > answer.txt")
	w.await(`!document.querySelector("[data-answer=y]").disabled`)
	w.click("[data-answer=y]")
	w.seeText(".outcome", "exit 0")
}

// TestInboxListsQuestionsOfAllThreads counts a question of a thread that is not open, and goes to it.
func TestInboxListsQuestionsOfAllThreads(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w, _ := ask(t)
	w.start(t.TempDir())
	w.gone(".question")
	w.seeText(".attention", "1 open question")
	w.menu("1 open question", "run: echo yes")
	w.seeText(".question-command", "echo yes > answer.txt")
	w.await(`!document.querySelector("[data-answer=n]").disabled`)
	w.click("[data-answer=n]")
	w.gone(".attention")
	w.requireNoProblems()
}
