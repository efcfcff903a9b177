package host_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/host"
	"appserver/core/effects/tool"
	"appserver/protocol"
)

// stage is a runner whose commands do what a test says.
type stage struct {
	mu   sync.Mutex
	seen []tool.Exec
	// play is a command: it ends when it returns. Nil ends at once.
	play func(ctx context.Context, e tool.Exec, started func(*tool.Input)) tool.Exit
}

func (s *stage) Exec(ctx context.Context, e tool.Exec, started func(*tool.Input)) tool.Exit {
	s.mu.Lock()
	s.seen = append(s.seen, e)
	s.mu.Unlock()
	if s.play == nil {
		started(&tool.Input{})
		return tool.Exit{}
	}
	return s.play(ctx, e, started)
}

// last returns the command that was run last.
func (s *stage) last(t *testing.T) tool.Exec {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.NotEmpty(t, s.seen)
	return s.seen[len(s.seen)-1]
}

func staged(t *testing.T, s *stage, change ...func(*host.Options)) *desk {
	t.Helper()
	return open(t, append(change, func(o *host.Options) { o.Runner = s })...)
}

func (d *desk) exec(params object) pending {
	d.t.Helper()
	if params["command"] == nil {
		params["command"] = []string{"prog", "arg"}
	}
	return d.send(1, "command/exec", params)
}

func TestACommandIsRunAsItIsAsked(t *testing.T) {
	s := &stage{}
	policy := protocol.SandboxPolicy{SandboxPolicyVariant: &protocol.ExternalSandbox{NetworkAccess: "enabled"}}
	variables := core.EnvironmentPolicy{Set: map[string]string{"A": "1"}}
	d := staged(t, s, func(o *host.Options) {
		o.Policy = func() protocol.SandboxPolicy { return policy }
		o.Environment = func() core.EnvironmentPolicy { return variables }
	})
	usual := core.Command{Argv: []string{"prog", "arg"}, Cwd: d.options.Cwd, Workspace: d.options.Cwd,
		Timeout: 10 * time.Second, Sandbox: policy, Environment: variables}
	for _, c := range []struct {
		name   string
		params object
		want   func(*tool.Exec)
	}{
		{"plain", object{}, func(*tool.Exec) {}},
		{"nulls", object{"timeoutMs": nil, "cwd": nil, "env": nil, "size": nil, "sandboxPolicy": nil, "processId": nil,
			"outputBytesCap": nil}, func(*tool.Exec) {}},
		{"folder", object{"cwd": "/usr"}, func(e *tool.Exec) { e.Cwd, e.Workspace = "/usr", "/usr" }},
		{"folder below", object{"cwd": "in/../x"},
			func(e *tool.Exec) { e.Cwd, e.Workspace = d.options.Cwd+"/x", d.options.Cwd+"/x" }},
		{"time", object{"timeoutMs": 1500}, func(e *tool.Exec) { e.Timeout = 1500 * time.Millisecond }},
		{"no time", object{"timeoutMs": 0}, func(e *tool.Exec) { e.Timeout = 1 }},
		{"much time", object{"timeoutMs": int64(1) << 62},
			func(e *tool.Exec) { e.Timeout = (1 << 62) / time.Millisecond * time.Millisecond }},
		{"all time", object{"disableTimeout": true}, func(e *tool.Exec) { e.Timeout = 0 }},
		{"variables", object{"env": object{"B": "2", "C": nil}},
			func(e *tool.Exec) { two := "2"; e.Env = map[string]*string{"B": &two, "C": nil} }},
		{"input", object{"streamStdin": true, "processId": "p"}, func(e *tool.Exec) { e.Input = true }},
		{"terminal", object{"tty": true, "processId": "p", "size": object{"rows": 3, "cols": 4}},
			func(e *tool.Exec) { e.TTY, e.Size = true, tool.Size{Rows: 3, Cols: 4} }},
		{"policy", object{"sandboxPolicy": object{"type": "dangerFullAccess"}},
			func(e *tool.Exec) { e.Sandbox = protocol.SandboxDangerFullAccess.Policy() }},
		{"profile", object{"permissionProfile": ":danger-full-access"},
			func(e *tool.Exec) { e.Sandbox = protocol.SandboxDangerFullAccess.Policy() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := tool.Exec{Command: usual}
			c.want(&want)
			require.Equal(t, protocol.CommandExecResponse{}, result[protocol.CommandExecResponse](d.exec(c.params)))
			got := s.last(t)
			got.Output = nil
			require.Equal(t, want, got)
		})
	}
}

func TestRefusalsOfCommands(t *testing.T) {
	s := &stage{}
	d := staged(t, s)
	for text, params := range map[string]object{
		"command must not be empty": {"command": []string{}},
		"command/exec tty or streaming requires a client-supplied processId": {"tty": true},
		"tty or streaming requires": {"streamStdin": true},
		"or streaming requires":     {"streamStdoutStderr": true},
		"command/exec cannot set both outputBytesCap and disableOutputCap": {"outputBytesCap": 1, "disableOutputCap": true},
		"command/exec cannot set both timeoutMs and disableTimeout":        {"timeoutMs": 1, "disableTimeout": true},
		"command/exec timeoutMs must be non-negative, got -1":              {"timeoutMs": -1},
		"command/exec size requires tty: true":                             {"size": object{"rows": 1, "cols": 1}},
		"command/exec size rows and cols must be greater than 0": {"size": object{"rows": 0, "cols": 1},
			"tty": true, "processId": "p"},
		"size rows and cols must be": {"size": object{"rows": 1, "cols": 0},
			"tty": true, "processId": "p"},
		`"A=B" is no name of a variable`: {"env": object{"A=B": "x"}},
		`"" is no name of a variable`:    {"env": object{"": "x"}},
		"missing field `command`":        {"command": nil, "none": true},
	} {
		if params["none"] != nil {
			require.Contains(t, d.send(1, "command/exec", object{}).refused(protocol.KindInvalidParams), text)
			continue
		}
		require.Contains(t, d.exec(params).refused(protocol.KindInvalidParams), text)
	}
	both := object{"permissionProfile": ":workspace", "sandboxPolicy": object{"type": "readOnly"}}
	require.Contains(t, d.exec(both).refused(protocol.KindInvalidParams),
		"`permissionProfile` cannot be combined with `sandboxPolicy`")
	require.Contains(t, d.exec(object{"permissionProfile": "mine"}).refused(protocol.KindInvalidParams),
		`unknown permission profile "mine"`)
	require.Empty(t, s.seen)
	require.Equal(t, "this server runs no commands", open(t).exec(object{}).refused(protocol.KindCommand))
}

// TestNothingRunsUnconfinedThatIsToBe: nobody can be asked, so it is refused.
func TestNothingRunsUnconfinedThatIsToBe(t *testing.T) {
	confined := false
	s := &stage{}
	d := staged(t, s, func(o *host.Options) {
		o.Policy = func() protocol.SandboxPolicy { return protocol.SandboxReadOnly.Policy() }
		o.Confined = func() bool { return confined }
	})
	for _, params := range []object{{}, {"sandboxPolicy": object{"type": "readOnly"}},
		{"sandboxPolicy": object{"type": "workspaceWrite"}},
		{"permissionProfile": ":read-only"}, {"permissionProfile": ":workspace"}} {
		require.Contains(t, d.exec(params).refused(protocol.KindNotConfined), "dangerFullAccess")
	}
	require.Empty(t, s.seen)
	confined = true
	result[protocol.CommandExecResponse](d.exec(object{}))
	require.Equal(t, protocol.SandboxReadOnly.Policy(), s.last(t).Sandbox)
}

func TestAFailureIsARefusal(t *testing.T) {
	d := staged(t, &stage{play: func(context.Context, tool.Exec, func(*tool.Input)) tool.Exit {
		return tool.Exit{Failure: "no such program"}
	}})
	require.Equal(t, "failed to spawn command: no such program",
		d.exec(object{"processId": "p"}).refused(protocol.KindCommand))
	d.exec(object{"processId": "p"}).refused(protocol.KindCommand) // the name is free again
	d.send(1, "command/exec/terminate", object{"processId": "p"}).refused(protocol.KindCommandNotFound)
}

// says returns a command that writes and ends.
func says(code int, out, err string) *stage {
	return &stage{play: func(_ context.Context, e tool.Exec, started func(*tool.Input)) tool.Exit {
		started(&tool.Input{})
		for _, piece := range strings.SplitAfter(out, "|") {
			e.Output(false, []byte(piece))
		}
		e.Output(true, []byte(err))
		return tool.Exit{Code: code}
	}}
}

func TestOutputComesWithTheAnswer(t *testing.T) {
	d := staged(t, says(3, "one|two", "oops\xff"))
	require.Equal(t, protocol.CommandExecResponse{ExitCode: 3, Stdout: "one|two", Stderr: "oops\uFFFD"},
		result[protocol.CommandExecResponse](d.exec(object{})))
	require.Equal(t, protocol.CommandExecResponse{ExitCode: 3, Stdout: "one|", Stderr: "oops"},
		result[protocol.CommandExecResponse](d.exec(object{"outputBytesCap": 4})))
	require.Equal(t, protocol.CommandExecResponse{ExitCode: 3},
		result[protocol.CommandExecResponse](d.exec(object{"outputBytesCap": 0})))
	require.Empty(t, d.notices)
}

func TestOutputIsBounded(t *testing.T) {
	const mega = 1 << 20
	for _, c := range []struct {
		params object
		want   int
	}{{object{}, mega}, {object{"disableOutputCap": true}, 16 * mega}, {object{"outputBytesCap": 3 * mega}, 3 * mega},
		{object{"outputBytesCap": uint64(1) << 63}, 16 * mega}} {
		d := staged(t, &stage{play: func(_ context.Context, e tool.Exec, started func(*tool.Input)) tool.Exit {
			started(&tool.Input{})
			for range 20 {
				e.Output(false, make([]byte, mega))
			}
			return tool.Exit{}
		}})
		require.Len(t, result[protocol.CommandExecResponse](d.exec(c.params)).Stdout, c.want, "%v", c.params)
	}
}

// streamed returns the notified output of a stream, and whether its rest was cut off.
func (d *desk) streamed(id, stream string, pieces int) (text string, capped bool) {
	d.t.Helper()
	for range pieces {
		n := d.await().Notification.(protocol.CommandExecOutputDeltaNotification)
		require.Equal(d.t, id, n.ProcessID)
		require.Equal(d.t, stream, n.Stream)
		piece, err := base64.StdEncoding.DecodeString(n.DeltaBase64)
		require.NoError(d.t, err)
		require.False(d.t, capped, "nothing follows the cap")
		text, capped = text+string(piece), n.CapReached
	}
	return text, capped
}

func TestOutputIsStreamed(t *testing.T) {
	d := staged(t, says(0, "one|two\xff", "oops"))
	require.Equal(t, protocol.CommandExecResponse{},
		result[protocol.CommandExecResponse](d.exec(object{"processId": "p", "streamStdoutStderr": true})))
	require.Len(t, d.notices, 3, "all before the answer")
	text, capped := d.streamed("p", "stdout", 2)
	require.Equal(t, "one|two\xff", text, "as it is")
	require.False(t, capped)
	text, _ = d.streamed("p", "stderr", 1)
	require.Equal(t, "oops", text)
}

func TestStreamsAreCapped(t *testing.T) {
	d := staged(t, says(0, "one|two|three", "oops"))
	result[protocol.CommandExecResponse](d.exec(object{"processId": "p", "streamStdoutStderr": true, "outputBytesCap": 6}))
	text, capped := d.streamed("p", "stdout", 2)
	require.Equal(t, "one|tw", text)
	require.True(t, capped)
	text, capped = d.streamed("p", "stderr", 1)
	require.Equal(t, "oops", text, "each stream has a cap of its own")
	require.False(t, capped)
	require.Empty(t, d.notices)
}

func TestOutputWaitsForTheClient(t *testing.T) {
	wrote := make(chan struct{})
	d := staged(t, &stage{play: func(_ context.Context, e tool.Exec, started func(*tool.Input)) tool.Exit {
		started(&tool.Input{})
		e.Output(false, []byte("x"))
		close(wrote)
		return tool.Exit{}
	}})
	resume := d.stopReading()
	p := d.exec(object{"processId": "p", "streamStdoutStderr": true})
	select {
	case <-wrote:
		require.Fail(t, "told who does not read")
	case <-time.After(50 * time.Millisecond):
	}
	resume()
	result[protocol.CommandExecResponse](p)
	text, _ := d.streamed("p", "stdout", 1)
	require.Equal(t, "x", text)
}

// waits returns a command that runs until it is ended.
func waits() *stage {
	return &stage{play: func(ctx context.Context, _ tool.Exec, started func(*tool.Input)) tool.Exit {
		started(&tool.Input{})
		<-ctx.Done()
		return tool.Exit{Code: 143}
	}}
}

// TestCommandsWithoutANameKeepToThemselves, whatever other commands are called.
func TestCommandsWithoutANameKeepToThemselves(t *testing.T) {
	d := staged(t, waits())
	var named []pending
	for i := range 10 {
		named = append(named, d.exec(object{"processId": fmt.Sprint("\x00", i)}),
			d.exec(object{"processId": fmt.Sprint("\xff", i)}))
	}
	unnamed := d.exec(object{"timeoutMs": 1})
	for i := range 30 {
		d.send(1, "command/exec/terminate", object{"processId": fmt.Sprint("\x00", i)})
		d.send(1, "command/exec/terminate", object{"processId": fmt.Sprint("\xff", i)})
	}
	for _, p := range named {
		require.EqualValues(t, 143, result[protocol.CommandExecResponse](p).ExitCode)
	}
	require.True(t, unnamed.open(), "nobody can name it")
}

func TestACommandIsTerminated(t *testing.T) {
	d := staged(t, waits())
	p := d.exec(object{"processId": "p"})
	require.Equal(t, `duplicate active command/exec process id: "p"`,
		d.exec(object{"processId": "p"}).refused(protocol.KindCommandExists))
	d.send(2, "command/exec/terminate",
		object{"processId": "p"}).refused(protocol.KindCommandNotFound) // another connection's
	d.send(1, "command/exec/terminate", object{"processId": "p"}).done()
	require.EqualValues(t, 143, result[protocol.CommandExecResponse](p).ExitCode)
	require.Equal(t, `no active command/exec for process id "p"`,
		d.send(1, "command/exec/terminate", object{"processId": "p"}).refused(protocol.KindCommandNotFound))
}

func TestCommandsEndWithTheirConnection(t *testing.T) {
	d := staged(t, waits())
	gone, stays := d.exec(object{"processId": "p"}),
		d.send(2, "command/exec", object{"command": []string{"x"}, "processId": "p"})
	unnamed := d.exec(object{})
	d.leave(1)
	require.EqualValues(t, 143, result[protocol.CommandExecResponse](gone).ExitCode)
	require.EqualValues(t, 143, result[protocol.CommandExecResponse](unnamed).ExitCode)
	require.True(t, stays.open())
	d.close()
	require.EqualValues(t, 143, result[protocol.CommandExecResponse](stays).ExitCode)
	d.exec(object{}).refused(protocol.KindShuttingDown)
}

func TestCommandsAreBounded(t *testing.T) {
	d := staged(t, waits())
	for range 64 {
		d.exec(object{})
	}
	d.exec(object{}).refused(protocol.KindOverloaded)
	d.send(2, "command/exec", object{"command": []string{"x"}})
}

func TestInvalidInputForCommandsIsRejected(t *testing.T) {
	d := staged(t, waits())
	d.exec(object{"processId": "closed"})
	d.exec(object{"processId": "p", "streamStdin": true})
	size := object{"rows": 1, "cols": 1}
	for _, c := range []struct {
		method string
		params object
		kind   protocol.Kind
		says   string
	}{
		{"write", object{"processId": "p"}, protocol.KindInvalidParams,
			"command/exec/write requires deltaBase64 or closeStdin"},
		{"write", object{"processId": "p", "deltaBase64": "*"}, protocol.KindInvalidParams, "invalid deltaBase64"},
		{"write", object{"processId": "none", "deltaBase64": ""}, protocol.KindCommandNotFound,
			`no active command/exec for process id "none"`},
		{"write", object{"processId": "closed", "closeStdin": true}, protocol.KindCommand,
			"stdin streaming is not enabled for this command/exec"},
		{"resize", object{"processId": "p", "size": size}, protocol.KindCommand,
			"failed to resize PTY: process is not attached to a PTY"},
		{"resize", object{"processId": "none", "size": size}, protocol.KindCommandNotFound, "none"},
		{"resize", object{"processId": "p", "size": object{"rows": 0, "cols": 1}}, protocol.KindInvalidParams,
			"greater than 0"},
		{"resize", object{"processId": "p", "size": object{"rows": 1 << 16, "cols": 1}}, protocol.KindInvalidParams,
			"Invalid request"},
		{"terminate", object{}, protocol.KindInvalidParams, "missing field `processId`"},
	} {
		require.Contains(t, d.send(1, "command/exec/"+c.method, c.params).refused(c.kind), c.says)
	}
	d.leave(1)
	for _, method := range []string{"write", "resize", "terminate"} {
		d.send(1, "command/exec/"+method,
			object{"processId": "p", "closeStdin": true, "size": size}).refused(protocol.KindShuttingDown)
	}
	d.exec(object{}).refused(protocol.KindShuttingDown)
}

func TestWritingWaitsUntilTheCommandRuns(t *testing.T) {
	start := make(chan struct{})
	d := staged(t, &stage{play: func(ctx context.Context, _ tool.Exec, started func(*tool.Input)) tool.Exit {
		<-start
		return tool.Exit{Failure: "not found"}
	}})
	p := d.exec(object{"processId": "p", "tty": true})
	write := d.send(1, "command/exec/write", object{"processId": "p", "deltaBase64": in64("x")})
	resize := d.send(1, "command/exec/resize", object{"processId": "p", "size": object{"rows": 1, "cols": 1}})
	require.True(t, write.open())
	close(start)
	p.refused(protocol.KindCommand)
	write.refused(protocol.KindCommandNotFound)
	resize.refused(protocol.KindCommandNotFound)
}

func TestWhatWaitsToBeReadIsBounded(t *testing.T) {
	start := make(chan struct{})
	d := staged(t, &stage{play: func(context.Context, tool.Exec, func(*tool.Input)) tool.Exit {
		<-start
		return tool.Exit{}
	}})
	p := d.exec(object{"processId": "p", "streamStdin": true})
	large := base64.StdEncoding.EncodeToString(make([]byte, 10<<20))
	first := d.send(1, "command/exec/write", object{"processId": "p", "deltaBase64": large})
	require.Contains(t, d.send(1, "command/exec/write",
		object{"processId": "p", "deltaBase64": large}).refused(protocol.KindOverloaded), "wait for the answers")
	close(start)
	result[protocol.CommandExecResponse](p)
	first.refused(protocol.KindCommandNotFound)
}

func TestErrorsOfInputsAreReported(t *testing.T) {
	// The zero Input has no file and no terminal.
	input := &tool.Input{}
	_, err := input.Write([]byte("x"))
	require.ErrorIs(t, err, tool.ErrNoInput)
	require.ErrorIs(t, input.Close(), tool.ErrNoInput)
	require.ErrorIs(t, input.Resize(tool.Size{Rows: 1, Cols: 1}), tool.ErrNoTerminal)
	require.False(t, errors.Is(err, io.EOF))
	d := staged(t, waits())
	d.exec(object{"processId": "p", "tty": true})
	require.Contains(t, d.send(1, "command/exec/write",
		object{"processId": "p", "deltaBase64": in64("x")}).refused(protocol.KindCommand), "does not read")
	require.Contains(t, d.send(1, "command/exec/resize",
		object{"processId": "p", "size": object{"rows": 1, "cols": 1}}).refused(protocol.KindCommand), "failed to resize PTY")
}
