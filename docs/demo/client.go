package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

type object = map[string]any

// client is a connection to a server process.
type client struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	messages chan object
	printer  *printer
	lastID   int
	lastText string // of the agent's last message
}

// patience is how long the client waits for any one message.
const patience = 20 * time.Second

func dial(binary, home string, p *printer) (*client, error) {
	cmd := exec.Command(binary, "-c", "model_provider=offline")
	// The shell and its profile are the same for everybody.
	cmd.Env = append(os.Environ(), "CODEX_HOME="+home, "HOME="+home, "SHELL=/bin/sh")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c := &client{cmd: cmd, in: in, messages: make(chan object, 1024), printer: p}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go c.read(out)
	return c, nil
}

// read ends with the server's output.
func (c *client) read(out io.Reader) {
	defer close(c.messages)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m object
		if json.Unmarshal(line, &m) == nil {
			c.messages <- m
		}
	}
}

func (c *client) send(m object) error {
	c.printer.message("->", m)
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = c.in.Write(append(line, '\n'))
	return err
}

func (c *client) next() (object, error) {
	select {
	case m, ok := <-c.messages:
		if !ok {
			return nil, fmt.Errorf("the server ended its output")
		}
		c.printer.message("<-", m)
		return m, nil
	case <-time.After(patience):
		return nil, fmt.Errorf("no message for %v", patience)
	}
}

func (c *client) initialize() error {
	if _, err := c.call("initialize",
		object{"clientInfo": object{"name": "demo", "title": "Demo", "version": "1.0.0"}}); err != nil {
		return err
	}
	return c.send(object{"method": "initialized"})
}

// call sends a request and waits for its answer; what comes before it is printed.
func (c *client) call(method string, params object) (any, error) {
	c.lastID++
	id := c.lastID
	if err := c.send(object{"id": id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	for {
		m, err := c.next()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		if m["method"] == nil && m["id"] == float64(id) {
			if m["error"] != nil {
				return nil, fmt.Errorf("%s: %v", method, dig(m, "error", "message"))
			}
			return m["result"], nil
		}
	}
}

// turn sends input and follows the turn to its end. Commands and changes of files are
// allowed.
func (c *client) turn(thread, text string) error {
	input := []any{object{"type": "text", "text": text}}
	if _, err := c.call("turn/start", object{"threadId": thread, "input": input}); err != nil {
		return err
	}
	for {
		m, err := c.next()
		if err != nil {
			return err
		}
		switch m["method"] {
		case "item/commandExecution/requestApproval", "item/fileChange/requestApproval":
			if err := c.send(object{"id": m["id"], "result": object{"decision": "accept"}}); err != nil {
				return err
			}
		case "item/completed":
			if dig(m, "params", "item", "type") == "agentMessage" {
				c.lastText, _ = dig(m, "params", "item", "text").(string)
			}
		case "turn/completed":
			if status := dig(m, "params", "turn", "status"); status != "completed" {
				return fmt.Errorf("the turn ended as %v: %v", status, dig(m, "params", "turn", "error", "message"))
			}
			return nil
		}
	}
}

// close ends the server's input and waits for it to exit with 0.
func (c *client) close() error {
	if err := c.in.Close(); err != nil {
		return err
	}
	for range c.messages { // until the output ends
	}
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("the server did not end well: %w", err)
	}
	return nil
}

// kill ends a server that is still there.
func (c *client) kill() {
	if c.cmd.ProcessState == nil {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	}
}

// dig returns a member of nested objects, or nil if one is absent.
func dig(v any, path ...string) any {
	for _, name := range path {
		m, ok := v.(object)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}
