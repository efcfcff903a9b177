package tool

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// session is a running command and its output so far.
type session struct {
	t     *testing.T
	input *Input
	end   context.CancelFunc
	exit  chan Exit

	mu       sync.Mutex
	out, err bytes.Buffer
	wrote    chan struct{} // signals new output
}

// startSession starts a command, and waits until it runs or has failed.
func startSession(t *testing.T, s *Shell, e Exec) *session {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	k := &session{t: t, end: end, exit: make(chan Exit, 1), wrote: make(chan struct{}, 1)}
	e.Output = k.record
	started := make(chan *Input, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		k.exit <- s.Exec(ctx, e, func(i *Input) { started <- i })
	}()
	select {
	case k.input = <-started:
	case <-ended:
	}
	t.Cleanup(func() {
		end()
		<-ended
	})
	return k
}

func (k *session) record(stderr bool, piece []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if stderr {
		k.err.Write(piece)
	} else {
		k.out.Write(piece)
	}
	select {
	case k.wrote <- struct{}{}:
	default:
	}
}

func (k *session) written() (out, err string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.out.String(), k.err.String()
}

// until waits until the command has written a text.
func (k *session) until(text string) {
	k.t.Helper()
	for deadline := time.After(bound); ; {
		if out, _ := k.written(); strings.Contains(out, text) {
			return
		}
		select {
		case <-k.wrote:
		case <-deadline:
			out, _ := k.written()
			require.Fail(k.t, "the output does not contain "+text, out)
		}
	}
}

func (k *session) ended() Exit {
	k.t.Helper()
	select {
	case exit := <-k.exit:
		return exit
	case <-time.After(bound):
		require.Fail(k.t, "the command still runs")
		return Exit{}
	}
}

func (k *session) write(text string) {
	k.t.Helper()
	_, err := io.WriteString(k.input, text)
	require.NoError(k.t, err)
}
