package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"appserver/cmd/appserver/internal/app"

	"golang.org/x/term"
)

// asker asks for confirmation of destructive commands.
type asker struct {
	in  io.Reader
	out io.Writer
	// terminal is set if a user can see the question and answer it.
	terminal bool
	// yes is set if no confirmation is necessary.
	yes bool
}

// newAsker returns an asker that writes to standard error. Standard output has only the result.
func newAsker(s app.Streams, yes bool) asker {
	return asker{s.In, s.Err, isTerminal(s.In) && isTerminal(s.Err), yes}
}

// errDeclined is the error of a command that was not confirmed.
var errDeclined = errors.New("not confirmed: nothing was changed")

// confirm asks for confirmation and returns nil if it is given. Without a terminal it returns a
// usage error, unless --yes is set.
func (a asker) confirm(effect string) error {
	switch {
	case a.yes:
		return nil
	case !a.terminal:
		return app.UsageError{Err: fmt.Errorf("%s\nNothing was changed, because there is no terminal for the confirmation: add --yes to confirm", effect)}
	}
	if _, err := fmt.Fprintf(a.out, "%s\nContinue? [y/N] ", effect); err != nil {
		return fmt.Errorf("asking for confirmation: %w", err)
	}
	line, err := bufio.NewReader(a.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return errDeclined
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	_, _, err := term.GetSize(int(f.Fd()))
	return err == nil
}

// defaultWidth is the maximum width of lines in columns, if the output is not a terminal.
const defaultWidth = 100

// widthOf returns the width of a terminal in columns, or defaultWidth for other streams.
func widthOf(stream any) int {
	if f, ok := stream.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return defaultWidth
}
