package share

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"appserver/protocol"
	"appserver/server/listen"
	"appserver/server/remote"
)

const (
	// startTimeout limits the start of a server.
	startTimeout = 15 * time.Second
	// stopTimeout limits the end of a server that is replaced. It promises 2.5 s.
	stopTimeout = 5 * time.Second
	// pollInterval is the time between two attempts to connect.
	pollInterval = 20 * time.Millisecond
	// maxLog is the size of the log of a server, in bytes, above which the next server begins a new one.
	maxLog = 1 << 20
	// keyBytes is the length of the digest in names.
	keyBytes = 6
)

// DefaultName is the name of the server that clients without an environment of their own share.
const DefaultName = "default"

// Options selects a server.
type Options struct {
	Home string
	// Client names this process to the server.
	Client protocol.ClientInfo
	// Args are the flags of the server, without its address. Build and Name distinguish servers beside them.
	Args        []string
	Build, Name string
	// Idle is the time in seconds after which a server without clients and turns ends.
	Idle string
	// Replace ends the running server first.
	Replace bool
}

// UnavailableError reports that no shared server can be reached or started.
type UnavailableError struct{ Err error }

// Error returns a message with the reason.
func (e *UnavailableError) Error() string { return fmt.Sprintf("no shared server: %v", e.Err) }

// Unwrap returns the reason.
func (e *UnavailableError) Unwrap() error { return e.Err }

// key returns the digest of what clients of a server have in common.
func (o Options) key() string {
	h := sha256.New()
	for _, part := range append([]string{o.Build, o.Name}, o.Args...) {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:keyBytes])
}

// Serve passes messages between the streams and the shared server until the input ends. If no server can be reached, it
// returns an UnavailableError, and has read no input. Notes about the server go to errs.
func Serve(o Options, in io.Reader, out, errs io.Writer) error {
	ctx := context.Background()
	address, err := listen.Parse("unix://"+listen.SharedPath(o.Home, o.key()), o.Home)
	if err != nil {
		return &UnavailableError{err}
	}
	if o.Replace {
		if err := o.replace(ctx, address.Path); err != nil {
			return &UnavailableError{err}
		}
	}
	conn, err := o.connect(ctx, address.Path, errs)
	if err != nil {
		return &UnavailableError{err}
	}
	return conn.Serve(ctx, in, out)
}

// connect connects to the server of the user, to the shared one, or to a new one.
func (o Options) connect(ctx context.Context, path string, errs io.Writer) (*remote.Bridge, error) {
	if control := o.control(ctx); control != "" {
		if conn, err := remote.DialBridge(ctx, control); err == nil {
			fmt.Fprintf(errs, "shared server: %s\n", control)
			return conn, nil
		}
	}
	conn, err := remote.DialBridge(ctx, path)
	if err != nil {
		conn, err = o.start(ctx, path)
	}
	if err == nil {
		fmt.Fprintf(errs, "shared server: %s, log in %s\n", path, logPath(path))
	}
	return conn, err
}

// control returns the control socket of the home if a server of this version listens on it, and no flag or name asks
// for another one. Otherwise it returns "".
func (o Options) control(ctx context.Context) string {
	address, err := listen.Parse("unix://", o.Home)
	if err != nil || o.Name != DefaultName || len(o.Args) > 0 {
		return ""
	}
	facts, s, err := o.inspect(ctx, address.Path)
	if err != nil {
		return ""
	}
	s.Close()
	if facts.Version != o.Client.Version {
		return ""
	}
	return address.Path
}

// inspect returns the facts of the server on a socket. The caller closes the connection.
func (o Options) inspect(ctx context.Context, path string) (facts protocol.ServerDiagnosticsResponse, s *remote.Server,
	err error) {
	if s, err = remote.Socket(ctx, path, o.Client); err != nil {
		return facts, nil, err
	}
	raw, err := s.Call(ctx, "server/diagnostics", json.RawMessage("{}"))
	if err == nil {
		err = protocol.Unmarshal(raw, &facts)
	}
	if err != nil {
		s.Close()
	}
	return facts, s, err
}

func logPath(socket string) string { return strings.TrimSuffix(socket, filepath.Ext(socket)) + ".log" }

// replace ends the server on a socket, if there is one, and waits for its end.
func (o Options) replace(ctx context.Context, path string) error {
	facts, s, err := o.inspect(ctx, path)
	if s == nil {
		return nil // no server, or one that ends
	}
	if err != nil {
		return fmt.Errorf("find the process of the server: %w", err)
	}
	defer s.Close()
	p, err := os.FindProcess(facts.Pid)
	if err == nil {
		err = terminate(p)
	}
	if err != nil {
		return fmt.Errorf("end the server: %w", err)
	}
	for end := time.Now().Add(stopTimeout); !s.Lost(); time.Sleep(pollInterval) {
		if time.Now().After(end) {
			return errors.New("the former server does not end")
		}
	}
	return nil
}

// start starts a server and connects to it. A server that another process starts meanwhile is as good.
func (o Options) start(ctx context.Context, path string) (*remote.Bridge, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	log, err := openLog(logPath(path))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	args := []string{"app-server", "--listen", "unix://" + path, "--exit-when-idle", o.Idle}
	cmd := exec.Command(program, append(args, o.Args...)...)
	cmd.Stderr, cmd.SysProcAttr = log, detached()
	if home, err := os.UserHomeDir(); err == nil { // it serves several folders, and keeps none of them in use
		cmd.Dir = home
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return await(ctx, path, ended)
}

// await connects to a server that starts. If the started process ends, another one may be listening.
func await(ctx context.Context, path string, ended <-chan error) (*remote.Bridge, error) {
	for end := time.Now().Add(startTimeout); ; time.Sleep(pollInterval) {
		over := false
		select {
		case <-ended:
			over = true
		default:
		}
		conn, err := remote.DialBridge(ctx, path)
		if err == nil {
			return conn, nil
		}
		if over {
			return nil, fmt.Errorf("it does not start: see %s", logPath(path))
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("it does not listen: %w", err)
		}
	}
}

// openLog opens the log of a server. A long one begins anew.
func openLog(path string) (*os.File, error) {
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(path, flags, 0o600)
}
