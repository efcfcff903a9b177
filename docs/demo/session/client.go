// Package session is a small client of appserver over pipes. It runs turns, and prints each message
// with its direction.
//
// # Goroutines
//
// One per server process reads its output, and ends with it.
package session

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Object is a JSON object.
type Object = map[string]any

// Client is a connection to a server process.
type Client struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	messages chan Object
	printer  *Printer
	lastID   int
	// LastText is the text of the agent's last message.
	LastText string
}

// patience is how long the client waits for any one message.
const patience = 20 * time.Second

// Dial starts a server with a home, the offline provider and further arguments.
func Dial(p *Printer, binary, home string, args ...string) (*Client, error) {
	cmd := exec.Command(binary, append([]string{"-c", "model_provider=offline"}, args...)...)
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
	c := &Client{cmd: cmd, in: in, messages: make(chan Object, 1024), printer: p}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go c.read(out)
	return c, nil
}

// read ends with the server's output.
func (c *Client) read(out io.Reader) {
	defer close(c.messages)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m Object
		if json.Unmarshal(line, &m) == nil {
			c.messages <- m
		}
	}
}

func (c *Client) send(m Object) error {
	c.printer.message("->", m)
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = c.in.Write(append(line, '\n'))
	return err
}

func (c *Client) next() (Object, error) {
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

// Initialize sends the first two messages of a connection.
func (c *Client) Initialize() error {
	if _, err := c.Call("initialize",
		Object{"clientInfo": Object{"name": "demo", "title": "Demo", "version": "1.0.0"}}); err != nil {
		return err
	}
	return c.send(Object{"method": "initialized"})
}

// Call sends a request and waits for its answer; what comes before it is printed.
func (c *Client) Call(method string, params Object) (any, error) {
	c.lastID++
	id := c.lastID
	if err := c.send(Object{"id": id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	for {
		m, err := c.next()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		if m["method"] == nil && m["id"] == float64(id) {
			if m["error"] != nil {
				return nil, fmt.Errorf("%s: %v", method, Dig(m, "error", "message"))
			}
			return m["result"], nil
		}
	}
}

// Turn sends input and follows the turn to its end. It allows commands and changes of files.
func (c *Client) Turn(thread, text string) error {
	input := []any{Object{"type": "text", "text": text}}
	if _, err := c.Call("turn/start", Object{"threadId": thread, "input": input}); err != nil {
		return err
	}
	return c.follow()
}

// Compact makes the model summarize the conversation, and waits for the end.
func (c *Client) Compact(thread string) error {
	if _, err := c.Call("thread/compact/start", Object{"threadId": thread}); err != nil {
		return err
	}
	return c.follow()
}

// follow reads messages until the turn ends.
func (c *Client) follow() error {
	for {
		m, err := c.next()
		if err != nil {
			return err
		}
		switch m["method"] {
		case "item/commandExecution/requestApproval", "item/fileChange/requestApproval":
			if err := c.send(Object{"id": m["id"], "result": Object{"decision": "accept"}}); err != nil {
				return err
			}
		case "item/completed":
			if Dig(m, "params", "item", "type") == "agentMessage" {
				c.LastText, _ = Dig(m, "params", "item", "text").(string)
			}
		case "turn/completed":
			if status := Dig(m, "params", "turn", "status"); status != "completed" {
				return fmt.Errorf("the turn ended as %v: %v", status, Dig(m, "params", "turn", "error", "message"))
			}
			return nil
		}
	}
}

// Close ends the server's input and waits for it to exit with 0.
func (c *Client) Close() error {
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

// Kill ends a server that still runs.
func (c *Client) Kill() {
	if c.cmd.ProcessState == nil {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	}
}

// Dig returns a member of nested objects, or nil if one is absent.
func Dig(v any, path ...string) any {
	for _, name := range path {
		m, ok := v.(Object)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}
