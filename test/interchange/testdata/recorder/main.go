// Command recorder stands between a client and a server: it runs RECORD_PROGRAM with its
// own arguments, passes lines on, and writes them to a new file in RECORD_FOLDER, those of
// the client after "-> " and those of the server after "<- ". A line is written before it
// is passed on, so that an answer always stands behind its request.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"sync"
	"syscall"
)

func main() {
	code, err := run(os.Getenv("RECORD_PROGRAM"), os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "recorder:", err)
	}
	os.Exit(code)
}

func run(program string, args []string) (code int, err error) {
	if !slices.Contains(args, "app-server") {
		return 1, syscall.Exec(program, append([]string{program}, args...), os.Environ())
	}
	file, err := os.CreateTemp(os.Getenv("RECORD_FOLDER"), "*.txt")
	if err != nil {
		return 1, err
	}
	r := &record{file: file}
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(err, outErr, cmd.Start()); err != nil {
		return 1, err
	}
	go passSignals(cmd.Process)
	go func() {
		r.pass("-> ", os.Stdin, in)
		in.Close()
	}()
	r.pass("<- ", out, os.Stdout)
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, err
}

func passSignals(to *os.Process) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	for s := range signals {
		_ = to.Signal(s)
	}
}

type record struct {
	mu   sync.Mutex
	file *os.File
}

// pass goes on reading where nobody takes the lines any more.
func (r *record) pass(mark string, from io.Reader, to io.Writer) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		r.mu.Lock()
		_, err = r.file.WriteString(mark + line)
		r.mu.Unlock()
		if err != nil {
			fmt.Fprintln(os.Stderr, "recorder:", err)
		}
		_, _ = io.WriteString(to, line)
	}
}
