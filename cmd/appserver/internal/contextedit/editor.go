package contextedit

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// editorOf returns the command of the user's editor, or nil.
func editorOf(env func(string) string) []string {
	return strings.Fields(cmp.Or(env("VISUAL"), env("EDITOR")))
}

// editText lets the user edit a text in the editor, which has the terminal meanwhile.
func (l *loop) editText(text string) EditedText {
	if err := l.screen.Suspend(); err != nil {
		return EditedText{Err: fmt.Errorf("leaving the screen: %w", err)}
	}
	edited, err := runEditor(editorOf(os.Getenv), text)
	return EditedText{edited, errors.Join(err, l.screen.Resume())}
}

// runEditor returns the text after the editor has ended. The file of the text is private and removed.
func runEditor(editor []string, text string) (string, error) {
	if len(editor) == 0 {
		return "", errors.New("EDITOR is not set")
	}
	dir, err := os.MkdirTemp("", "appserver-edit-")
	if err != nil {
		return "", fmt.Errorf("creating the file of the text: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := dir + string(os.PathSeparator) + "text.txt"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("writing the text: %w", err)
	}
	command := exec.Command(editor[0], append(editor[1:], path)...) // the editor ends with the user
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("the editor %s failed: %w", editor[0], err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading the text: %w", err)
	}
	edited := string(raw)
	if !strings.HasSuffix(text, "\n") {
		edited = strings.TrimSuffix(edited, "\n") // editors add one
	}
	return edited, nil
}
