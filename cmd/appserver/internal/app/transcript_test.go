package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"appserver/core"
	"appserver/core/effects/config"
	"appserver/core/effects/model"
	"appserver/core/effects/providerkey"
	"appserver/core/effects/token"
	"appserver/core/engine"
	"appserver/core/pure/patch"
	"appserver/platform/httpclient"
	"appserver/platform/vault"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/schema/conform"
	"appserver/server"
	"appserver/test/apptest"
)

// TestTranscripts plays testdata/*.txtar. A transcript has the lines of the client (-> LINE) and the exact
// lines of the server (<- LINE). The test runs in a bubble with a fake clock, so the server has no more
// lines when the next line of the client is sent.
//
// Further directives are: "~ DURATION" advances the clock, "eof" ends the input and waits for the exit of
// the server, and "restart" does the same and starts another server on the same home. The archive may
// contain a config.toml and a script.json for the offline provider. A member … of an object matches any
// number of members. A line that begins with three spaces continues the line before.
func TestTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	database := databaseOfTranscripts(t)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		t.Run(name, func(t *testing.T) {
			store, home := newTranscriptStore(t, database, name), t.TempDir()
			archive, err := txtar.ParseFile(path)
			require.NoError(t, err)
			for _, f := range archive.Files {
				if f.Name != "transcript" {
					require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(home, f.Name)), 0o700))
					require.NoError(t, os.WriteFile(filepath.Join(home, f.Name), f.Data, 0o600))
				}
			}
			synctest.Test(t, func(t *testing.T) { playTranscript(t, home, path, archive, store) })
		})
	}
}

func playTranscript(t *testing.T, home, path string, archive *txtar.Archive, store *transcriptStore) {
	for i, f := range archive.Files {
		if f.Name != "transcript" {
			continue
		}
		p := &player{t: t, home: home, store: store, files: fakeFiles{"/f": "one\ntwo\n", "/old": "x\n"}}
		if strings.HasPrefix(filepath.Base(path), "checkpoint") {
			w := newFakeWorktree(p.files)
			p.worktree = &engine.Worktrees{Captures: w, FileDiffs: w, Checkpoints: w}
		}
		p.hidesVersions = strings.HasPrefix(filepath.Base(path), "project")
		if strings.HasPrefix(filepath.Base(path), "mcp") {
			p.servers = newFakeServers()
		}
		p.start()
		transcript := apptest.Unfold(string(f.Data))
		got := p.play(transcript)
		p.end()
		apptest.RequireTranscriptConforms(t, got)
		apptest.RequireConform(t, conform.ValidateOwnTranscript(ownSchemas(), conform.ParseTranscript(got)))
		want := store.expected(transcript)
		got = elideAsIn(want, got)
		if *apptest.Update && store == nil {
			got = elideThreads(strings.TrimSuffix(filepath.Base(path), ".txtar"), got)
			archive.Files[i].Data = []byte(apptest.Fold(got))
			require.NoError(t, os.WriteFile(path, txtar.Format(archive), 0o644))
			return
		}
		require.Equal(t, apptest.Fold(want), apptest.Fold(got))
	}
}

// ownSchemas returns the schemas that the server generates. They are loaded once.
var ownSchemas = sync.OnceValue(func() *conform.Schemas {
	schemas, err := conform.Own()
	if err != nil {
		panic(err)
	}
	return schemas
})

// player is a client in the bubble.
type player struct {
	t     *testing.T
	home  string
	files fakeFiles
	// store is nil if the threads are in files.
	store *transcriptStore
	// worktree is the worktree of the files, or nil if the test has no checkpoints.
	worktree *engine.Worktrees
	// servers has the MCP servers, or is nil.
	servers *fakeServers
	// hidesVersions is set if the transcript omits the versions of settings.
	hidesVersions bool
	ids           int
	in            *io.PipeWriter
	lines         chan string
	ended         chan error
}

func (p *player) start() {
	inReader, inWriter := io.Pipe()
	outReader, outWriter := io.Pipe()
	source := config.Source{Home: p.home, System: filepath.Join(p.home, "system", "config.toml"), Provider: "offline",
		Getenv: func(string) string { return "" }}
	c, err := config.Load(source)
	require.NoError(p.t, err)
	live := config.NewLive(source, c)
	settings := unconfinedSetup(live, p.home, "/")
	var servers *engine.Servers
	if p.servers != nil {
		servers = p.servers.ports()
	}
	proc, err := newProcess(assemblyOf(p.t, settings, p.openThreads(settings.localHome), engine.Parts{
		Patches: p.files, Worktrees: p.worktree, Servers: servers, NewID: p.newID,
	}))
	require.NoError(p.t, err)
	p.in, p.lines, p.ended = inWriter, make(chan string, 4096), make(chan error, 1)
	go p.read(outReader)
	go func() {
		err := proc.run(transports{nil, &Streams{inReader, outWriter, io.Discard}}, nil, nil)
		outWriter.Close()
		inReader.Close()
		p.ended <- err
	}()
}

// unconfinedSetup returns settings for a home on a system that confines no commands.
func unconfinedSetup(live *config.Live, home, cwd string) *setup {
	identity := &model.Identity{}
	return &setup{
		localHome: &localHome{config: live, home: home, cwd: cwd, rollouts: rollout.NewStore(rollout.OS(), home),
			identity: identity, account: openAccount(live, home, identity), keys: providerkey.New(home, vault.File),
			log: zap.NewNop()},
		models: &model.ModelCache{}, skills: &skills{home: home},
		confinement: unconfined, confinesReading: func(bool) bool { return true }}
}

// assemblyOf completes the ports of an engine with fake tools and the configured models.
func assemblyOf(t *testing.T, settings *setup, threads *openedStore, ports engine.Parts) assembly {
	c, srv := settings.config.Current(), server.New(settings.log)
	user := &accounts{localHome: settings.localHome, server: srv}
	models, err := openModels(settings.localHome, httpclient.New(os.Getenv), user)
	require.NoError(t, err)
	ports.Threads, ports.Config, ports.Defaults = threads.threads, settings, settings
	ports.Model, ports.Tokens = models, token.New()
	ports.Tools, ports.Outbox, ports.Clients, ports.Log = fakeTools{}, outboxOf(srv), clientsOf(srv), settings.log
	ports.Version, ports.CompletedFloor = protocol.Level, c.Compat.TurnCompletedFloor
	return assembly{settings: settings, server: srv, accounts: user, keys: &providerKeys{settings.localHome, srv},
		host: hostOf(srv, settings, nil), threads: threads, ports: ports}
}

// openThreads opens the threads of the home, or those of its database.
func (p *player) openThreads(b *localHome) *openedStore {
	if p.store != nil {
		return p.store.open(p.t, b)
	}
	threads, err := openStore(b, true)
	require.NoError(p.t, err)
	return threads
}

// unconfined reports that the kernel cannot confine commands.
func unconfined() protocol.SandboxDiagnostics {
	return protocol.SandboxDiagnostics{Reason: new("commands are not confined here (no kernel): unless the sandbox policy is danger-full-access, a command that may do more than read needs an approval, and is rejected if the approval policy permits none")}
}

func (p *player) newID() string {
	p.ids++
	return fmt.Sprintf("00000000-0000-7000-8000-%012d", p.ids)
}

// read reads the lines of the server until its output ends.
func (p *player) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		p.lines <- strings.TrimSuffix(line, "\n")
	}
}

func (p *player) end() {
	if p.in == nil {
		return
	}
	require.NoError(p.t, p.in.Close())
	require.NoError(p.t, <-p.ended)
	p.in = nil
	synctest.Wait()
}

// play runs the directives of a transcript, and returns the transcript with the lines of the server.
func (p *player) play(script string) string {
	var out strings.Builder
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "<- ") {
			p.store.want(line)
			continue
		}
		out.WriteString(line + "\n")
		p.do(p.store.request(line))
		synctest.Wait()
		for _, got := range p.received() {
			got = apptest.UserAgents.ReplaceAllString(got, `/0.169.0 (SYSTEM) TERMINAL (`)
			got = processFigures.ReplaceAllString(got, `$1:0`)
			if p.hidesVersions {
				got = configVersions.ReplaceAllString(got, `"sha256:VERSION"`)
			}
			got = fileTimes.ReplaceAllString(strings.ReplaceAll(got, p.home, "HOME"), `$1:0`)
			out.WriteString("<- " + p.store.receive(got) + "\n")
		}
	}
	return out.String()
}

// fileTimes matches modification times of files, which are times of the real clock.
var fileTimes = regexp.MustCompile(`("updatedAt"|"recencyAt"):1[5-9][0-9]{8}`)

// configVersions matches hashes of settings, which may contain the path of the home.
var configVersions = regexp.MustCompile(`"sha256:[0-9a-f]{64}"`)

// processFigures matches figures of the process and its memory.
var processFigures = regexp.MustCompile(`("pid"|"residentBytes"|"heapBytes"|"liveBytes"|"goroutines"):[1-9][0-9]*`)

var deltaText = regexp.MustCompile(`"delta":"((?:[^"\\]|\\.)*)"`)

// received returns the lines that the server sent. It merges consecutive deltas, because their number
// depends on the speed of the reader.
func (p *player) received() []string {
	var lines []string
	frame, text := "", ""
	for len(p.lines) > 0 {
		line := <-p.lines
		m := deltaText.FindStringSubmatch(line)
		if m == nil {
			lines, frame = append(lines, line), ""
			continue
		}
		without := strings.Replace(line, m[0], "", 1)
		if without != frame {
			lines, frame, text = append(lines, ""), without, ""
		}
		text += m[1]
		lines[len(lines)-1] = strings.Replace(line, m[0], `"delta":"`+text+`"`, 1)
	}
	return lines
}

func (p *player) do(line string) {
	directive, rest, _ := strings.Cut(line, " ")
	switch directive {
	case "->":
		_, err := io.WriteString(p.in, strings.ReplaceAll(rest, "HOME", p.home)+"\n")
		require.NoError(p.t, err)
	case "~":
		d, err := time.ParseDuration(rest)
		require.NoError(p.t, err)
		time.Sleep(d)
	case "eof":
		p.end()
	case "restart":
		p.end()
		p.start()
	case "", "#":
	default:
		p.t.Fatalf("unknown directive %q", line)
	}
}

// fakeFiles has files in memory, by their paths.
type fakeFiles map[string]string

// Plan computes the result of a patch.
func (f fakeFiles) Plan(e core.PlanPatch) core.PatchPlanned {
	p, err := patch.Parse(e.Dir, e.Text, !e.Cut)
	if err != nil {
		return core.PatchPlanned{Effect: e.ID, Err: err}
	}
	r, err := p.Apply(fakeFolder{f, e.Dir})
	return core.PatchPlanned{Effect: e.ID, Result: r, Err: err}
}

// Write applies the result of a patch.
func (f fakeFiles) Write(e core.WritePatch) core.PatchWritten {
	for _, file := range e.Files {
		delete(f, patch.Full(e.Dir, file.Path))
		if file.After != nil {
			f[patch.Full(e.Dir, file.Path)] = *file.After
		}
	}
	return core.PatchWritten{Effect: e.ID}
}

type fakeFolder struct {
	files fakeFiles
	dir   string
}

// List returns nothing.
func (f fakeFolder) List(string) []string { return nil }

// Read returns the content of a file.
func (f fakeFolder) Read(name string) (content string, exists bool, err error) {
	content, exists = f.files[patch.Full(f.dir, name)]
	return content, exists, nil
}

// fakeTools runs sleep, false and echo without a process. It treats every other command as echo.
type fakeTools struct{}

func (fakeTools) Run(ctx context.Context, c core.Command, keys <-chan string, started func(string),
	output func(string)) core.ToolResult {
	begin := time.Now()
	started("4242")
	words := strings.Fields(c.Argv[len(c.Argv)-1])
	result := func(code int, out string) core.ToolResult {
		return core.ToolResult{ExitCode: &code, Output: out, Duration: time.Since(begin)}
	}
	switch words[0] {
	case "sleep":
		select {
		case <-time.After(time.Minute):
			return result(0, "")
		case <-ctx.Done():
			return core.ToolResult{Failure: "ended by signal 15 (terminated)", Duration: time.Since(begin)}
		}
	case "false":
		return result(1, "")
	}
	text := strings.Join(words[1:], " ") + "\n"
	output(text)
	return result(0, text)
}
