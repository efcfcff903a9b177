// Command demo is a small client of appserver. It starts the given binary over real pipes, with the
// offline provider and its own home. It starts a conversation, sends a turn, approves the agent's
// command, and quits. Then it starts the binary again, resumes the conversation and sends another
// turn. It prints each message with its direction: -> to the server, <- from the server. It fails if a
// message is not as expected.
//
//	go run ./docs/demo [-stable] bin/appserver
//
// With -stable, it replaces values that differ between sessions and machines: ids and paths by names,
// times and token counts by 0. So the output can be compared.
//
// # Goroutines
//
// One per server process reads its output, and ends with it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	stable := flag.Bool("stable", false, "replace what differs from session to session by names")
	width := flag.Int("width", 240, "cut printed messages to this many characters; 0 means not at all")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: demo [-stable] [-width N] BINARY")
		os.Exit(2)
	}
	if err := demo(flag.Arg(0), &printer{stable: *stable, width: *width, out: os.Stdout}); err != nil {
		fmt.Fprintln(os.Stderr, "demo: FAILED:", err)
		os.Exit(1)
	}
}

func demo(binary string, p *printer) error {
	dir, err := os.MkdirTemp("", "appserver-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	home, project := filepath.Join(dir, "home"), filepath.Join(dir, "project")
	if err := errors.Join(os.Mkdir(home, 0o700), os.Mkdir(project, 0o700)); err != nil {
		return err
	}
	p.names = map[string]string{home: "HOME", project: "PROJECT"}
	thread, err := firstSession(binary, home, project, p)
	if err != nil {
		return err
	}
	if err := secondSession(binary, home, thread, p); err != nil {
		return err
	}
	p.say("The conversation survived the restart: the model was sent the same history.")
	return nil
}

// firstSession runs one turn with a command, and gives the thread's id.
func firstSession(binary, home, project string, p *printer) (string, error) {
	p.say("Start the server; open a conversation in PROJECT.")
	c, err := dial(binary, home, p)
	if err != nil {
		return "", err
	}
	defer c.kill()
	if err := c.initialize(); err != nil {
		return "", err
	}
	started, err := c.call("thread/start",
		object{"cwd": project, "approvalPolicy": "untrusted", "sandbox": "workspace-write"})
	if err != nil {
		return "", err
	}
	thread, _ := dig(started, "thread", "id").(string)

	p.say("Ask the agent to run a command. It writes, so the client is asked first.")
	if err := c.turn(thread, "run: echo written by the agent > note.txt && cat note.txt"); err != nil {
		return "", err
	}
	if err := checkNote(filepath.Join(project, "note.txt")); err != nil {
		return "", err
	}
	p.say("Quit: the end of its input ends the server.")
	return thread, c.close()
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
func secondSession(binary, home, thread string, p *printer) error {
	p.say("Start the server again; find and resume the conversation.")
	c, err := dial(binary, home, p)
	if err != nil {
		return err
	}
	defer c.kill()
	if err := c.initialize(); err != nil {
		return err
	}
	listed, err := c.call("thread/list", object{"limit": 5})
	if err != nil {
		return err
	}
	if data, _ := dig(listed, "data").([]any); len(data) != 1 || dig(data[0], "id") != thread {
		return fmt.Errorf("thread/list does not list thread %s alone", thread)
	}
	resumed, err := c.call("thread/resume", object{"threadId": thread})
	if err != nil {
		return err
	}
	if turns, _ := dig(resumed, "thread", "turns").([]any); len(turns) != 1 {
		return fmt.Errorf("the resumed thread has %d turns, not 1", len(turns))
	}
	p.say("Go on. The offline model tells how much of the history it was sent.")
	if err := c.turn(thread, "hello again"); err != nil {
		return err
	}
	if !strings.Contains(c.lastText, "hello again") {
		return fmt.Errorf("the agent answered %q", c.lastText)
	}
	return c.close()
}
