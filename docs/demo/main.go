// Command demo is a small client of appserver. It starts the given binary over real pipes, with the
// offline provider and its own home. It starts a conversation, sends a turn, approves the agent's
// command, and quits. Then it starts the binary again, resumes the conversation and sends another
// turn. It prints each message with its direction: -> to the server, <- from the server. It fails if a
// message is not as expected.
//
//	go run ./docs/demo [-stable] bin/appserver
//	go run ./docs/demo -web bin/appserver
//
// With -web, it prepares a conversation and opens it in the browser instead. With -stable, it replaces
// values that differ between sessions and machines: ids and paths by names, times and token counts by
// 0. So the output can be compared.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"appserver/docs/demo/session"
)

func main() {
	stable := flag.Bool("stable", false, "replace what differs from session to session by names")
	web := flag.Bool("web", false, "prepare a conversation and open it in the browser")
	width := flag.Int("width", 240, "cut printed messages to this many characters; 0 means not at all")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: demo [-stable] [-width N] [-web] BINARY")
		os.Exit(2)
	}
	run := func(binary string) error {
		return demo(binary, &session.Printer{Stable: *stable, Width: *width, Out: os.Stdout})
	}
	if *web {
		run = workbench
	}
	if err := run(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "demo: FAILED:", err)
		os.Exit(1)
	}
}

func demo(binary string, p *session.Printer) error {
	dir, err := os.MkdirTemp("", "appserver-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	home, project := filepath.Join(dir, "home"), filepath.Join(dir, "project")
	if err := errors.Join(os.Mkdir(home, 0o700), os.Mkdir(project, 0o700)); err != nil {
		return err
	}
	p.Names = map[string]string{home: "HOME", project: "PROJECT"}
	thread, err := firstSession(binary, home, project, p)
	if err != nil {
		return err
	}
	if err := secondSession(binary, home, thread, p); err != nil {
		return err
	}
	p.Say("The conversation survived the restart: the model was sent the same history.")
	return nil
}

// firstSession runs one turn with a command, and gives the thread's id.
func firstSession(binary, home, project string, p *session.Printer) (string, error) {
	p.Say("Start the server; open a conversation in PROJECT.")
	c, err := session.Dial(p, binary, home)
	if err != nil {
		return "", err
	}
	defer c.Kill()
	if err := c.Initialize(); err != nil {
		return "", err
	}
	started, err := c.Call("thread/start",
		session.Object{"cwd": project, "approvalPolicy": "untrusted", "sandbox": "workspace-write"})
	if err != nil {
		return "", err
	}
	thread, _ := session.Dig(started, "thread", "id").(string)

	p.Say("Ask the agent to run a command. It writes, so the client is asked first.")
	if err := c.Turn(thread, "run: echo written by the agent > note.txt && cat note.txt"); err != nil {
		return "", err
	}
	if err := checkNote(filepath.Join(project, "note.txt")); err != nil {
		return "", err
	}
	p.Say("Quit: the end of its input ends the server.")
	return thread, c.Close()
}

func checkNote(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("the command did not run: %w", err)
	}
	if string(b) != "written by the agent\n" {
		return fmt.Errorf("the command wrote %q", b)
	}
	return nil
}

// secondSession resumes the thread in a new process and sends another turn.
func secondSession(binary, home, thread string, p *session.Printer) error {
	p.Say("Start the server again; find and resume the conversation.")
	c, err := session.Dial(p, binary, home)
	if err != nil {
		return err
	}
	defer c.Kill()
	if err := c.Initialize(); err != nil {
		return err
	}
	listed, err := c.Call("thread/list", session.Object{"limit": 5})
	if err != nil {
		return err
	}
	if data, _ := session.Dig(listed, "data").([]any); len(data) != 1 || session.Dig(data[0], "id") != thread {
		return fmt.Errorf("thread/list does not list thread %s alone", thread)
	}
	resumed, err := c.Call("thread/resume", session.Object{"threadId": thread})
	if err != nil {
		return err
	}
	if turns, _ := session.Dig(resumed, "thread", "turns").([]any); len(turns) != 1 {
		return fmt.Errorf("the resumed thread has %d turns, not 1", len(turns))
	}
	p.Say("Go on. The offline model tells how much of the history it was sent.")
	if err := c.Turn(thread, "hello again"); err != nil {
		return err
	}
	if !strings.Contains(c.LastText, "hello again") {
		return fmt.Errorf("the agent answered %q", c.LastText)
	}
	return c.Close()
}
