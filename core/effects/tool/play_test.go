package tool

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"appserver/core"
)

// played returns a command that takes steps in this test program, which is there on every system.
func played(steps ...string) core.Command {
	return core.Command{Argv: append([]string{program(), "play"}, steps...), Cwd: os.TempDir()}
}

// play takes steps of the form NAME or NAME:ARGUMENT in turn, and returns the exit code.
func play(steps []string) int {
	for i, step := range steps {
		name, argument, _ := strings.Cut(step, ":")
		number, _ := strconv.Atoi(argument)
		switch name {
		case "out":
			io.WriteString(os.Stdout, argument)
		case "err":
			io.WriteString(os.Stderr, argument)
		case "fill":
			io.Copy(os.Stdout, io.LimitReader(endless{}, int64(number)))
		case "exit":
			return number
		case "kill":
			self, _ := os.FindProcess(os.Getpid())
			self.Kill()
		case "sleep":
			time.Sleep(time.Hour)
		case "pid":
			fmt.Println(os.Getpid())
		case "child":
			return playChild(steps[i+1:], os.Stdout)
		case "parent":
			if code := playChild(steps[i+1:], os.Stdout); code == 7 {
				time.Sleep(time.Hour)
			}
		case "quiet":
			return playChild(steps[i+1:], nil)
		case "lines":
			for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
				fmt.Printf("got %s\n", lines.Text())
			}
		case "trap":
			return playTrap()
		case "say":
			sayAll(steps[i+1:])
		case "env":
			fmt.Println(os.Getenv(argument))
		case "dir":
			dir, _ := os.Getwd()
			fmt.Println(dir)
		case "server":
			return playServer(steps[i+1:])
		case "console":
			return playConsole()
		}
	}
	return 0
}

// endless is a stream of x.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// playChild starts the steps in a child with an output, and prints its process id.
func playChild(steps []string, output *os.File) int {
	child := exec.Command(program(), append([]string{"play"}, steps...)...)
	if output != nil {
		child.Stdout, child.Stderr = output, output
	}
	if err := child.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(child.Process.Pid)
	return 7
}

// playTrap waits to be asked to end.
func playTrap() int {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt, terminate)
	fmt.Println("ready")
	<-asked
	fmt.Println("bye")
	return 3
}

// sayAll prints the arguments as JSON.
func sayAll(arguments []string) {
	text, _ := json.Marshal(arguments)
	fmt.Println(string(text))
}

// playServer runs steps as a command, and passes its output on.
func playServer(steps []string) int {
	result := shells()["supervised"].Run(context.Background(), played(steps...), nil, func(string) {},
		func(text string) { os.Stdout.WriteString(text) })
	if result.ExitCode == nil {
		return 1
	}
	return *result.ExitCode
}

// converse reads a line, prints it, and waits for another one.
func converse(in io.Reader, out io.Writer) int {
	fmt.Fprintln(out, "ready")
	lines := bufio.NewReader(in)
	for range 2 {
		line, err := lines.ReadString('\n')
		if err != nil {
			return 5
		}
		fmt.Fprintf(out, "got <%s>\n", strings.TrimSpace(line))
	}
	return 4
}
