package release

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/posix"
)

// npm runs npm in a folder, without settings and the cache of this user.
func npm(t *testing.T, dir string, args ...string) string {
	t.Helper()
	requireProgram(t, "npm")
	return output(t, dir, "npm", append(args, "--cache", t.TempDir(), "--userconfig", os.DevNull, "--no-audit", "--no-fund",
		"--no-update-notifier", "--loglevel=error")...)
}

// packageOf returns the package.json of an npm archive.
func packageOf(t *testing.T, archive string) map[string]any {
	t.Helper()
	f, err := os.Open(archive)
	require.NoError(t, err)
	defer f.Close()
	uncompressed, err := gzip.NewReader(f)
	require.NoError(t, err)
	for files := tar.NewReader(uncompressed); ; {
		header, err := files.Next()
		require.NoError(t, err, "%s has no package.json", archive)
		if header.Name == "package/package.json" {
			var manifest map[string]any
			require.NoError(t, json.NewDecoder(files).Decode(&manifest))
			return manifest
		}
	}
}

// registry serves the npm packages of a release as an npm registry does.
func (a artefacts) registry(t *testing.T) string {
	t.Helper()
	documents := map[string]map[string]any{}
	served := http.NewServeMux()
	server := httptest.NewServer(served)
	t.Cleanup(server.Close)
	archives, err := filepath.Glob(filepath.Join(a.dir, "*.tgz"))
	require.NoError(t, err)
	for _, archive := range archives {
		content, err := os.ReadFile(archive)
		require.NoError(t, err)
		sum := sha512.Sum512(content)
		manifest := packageOf(t, archive)
		manifest["dist"] = map[string]any{"tarball": server.URL + "/-/" + filepath.Base(archive),
			"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		name, _ := manifest["name"].(string)
		documents[name] = map[string]any{"name": name, "dist-tags": map[string]any{"latest": a.version},
			"versions": map[string]any{a.version: manifest}}
	}
	served.HandleFunc("/{name}", func(w http.ResponseWriter, r *http.Request) {
		document, found := documents[r.PathValue("name")]
		if !found {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(document)
	})
	served.HandleFunc("/-/{file}", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(a.dir, path.Base(r.PathValue("file"))))
	})
	return server.URL
}

// platform returns the name of this platform in Node.js.
func platform(t *testing.T) string {
	t.Helper()
	requireProgram(t, "node")
	return strings.TrimSpace(output(t, t.TempDir(), "node", "-p", "process.platform + '-' + process.arch"))
}

// installed returns a folder in which npm has installed the package from a registry.
func (a artefacts) installed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	npm(t, dir, "install", "appserver", "--prefix", dir, "--registry", a.registry(t))
	return dir
}

// TestNpmInstallsTheProgramOfThePlatform installs from a registry, which has a package for each platform of
// the release, and runs the demo with npx.
func TestNpmInstallsTheProgramOfThePlatform(t *testing.T) {
	t.Parallel()
	a := released(t)
	dir := a.installed(t)
	packages, err := filepath.Glob(filepath.Join(dir, "node_modules", "appserver*"))
	require.NoError(t, err)
	own := filepath.Join(dir, "node_modules", "appserver-"+platform(t))
	require.Equal(t, []string{filepath.Join(dir, "node_modules", "appserver"), own}, packages)
	a.requireDemo(t, npxIn(t, dir))

	program := strings.TrimSpace(output(t, dir, "node", "-p", `require("appserver")`))
	require.Equal(t, filepath.Join(own, "bin", "appserver"), program, "clients can start the program itself")

	require.NoError(t, os.RemoveAll(own))
	cmd := exec.Command(filepath.Join(dir, "node_modules", ".bin", "appserver"))
	message, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(message), "install again with optional dependencies")
}

// TestNpmInstallsFilesWithoutANetwork installs the two archives of this platform.
func TestNpmInstallsFilesWithoutANetwork(t *testing.T) {
	t.Parallel()
	a := released(t)
	dir := t.TempDir()
	npm(t, dir, "install", "--offline", "--prefix", dir, a.find(t, "appserver-"+a.version+".tgz"),
		a.find(t, "appserver-"+platform(t)+"-"+a.version+".tgz"))
	a.requireDemo(t, filepath.Join(dir, "node_modules", ".bin", "appserver"))
}

// npxIn returns a program that runs npx appserver in a folder.
func npxIn(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "npx-appserver")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\ncd '"+dir+"' && exec npx appserver \"$@\"\n"), 0o755))
	return path
}

// launched is a server that the launcher of the npm package started.
type launched struct {
	*apptest.Client
	// server is the process of the program itself.
	server int
}

// launch starts the program by a launcher, and waits until it serves.
func launch(t *testing.T, launcher string) launched {
	t.Helper()
	cmd := apptest.ProcessCommand(t, t.TempDir(), launcher, "-c", "model_provider=offline")
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	pid := int(gjson.GetBytes(c.Call("server/diagnostics", apptest.Object{}), "pid").Int())
	require.NotEqual(t, cmd.Process.Pid, pid)
	return launched{c, pid}
}

// status waits for the end of the launcher, and returns its exit code or signal.
func (l launched) status(t *testing.T) syscall.WaitStatus {
	t.Helper()
	select {
	case <-l.Exited:
	case <-time.After(apptest.Timeout):
		t.Fatal("the launcher does not end")
	}
	status, ok := l.Cmd.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	require.Eventually(t, func() bool { return !apptest.IsAlive(l.server) }, 10*time.Second, 10*time.Millisecond,
		"the server ends with its launcher")
	return status
}

// TestTheLauncherEndsAsTheProgramDoes passes signals to the program, and its exit code or signal back.
func TestTheLauncherEndsAsTheProgramDoes(t *testing.T) {
	t.Parallel()
	dir := released(t).installed(t)
	launcher := filepath.Join(dir, "node_modules", ".bin", "appserver")
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		l := launch(t, launcher)
		l.Signal(signal)
		status := l.status(t)
		require.True(t, status.Exited(), "the program handles %v, so there is an exit code", signal)
		require.Zero(t, status.ExitStatus())
	}
	t.Log("a signal to npx ends the program, too")
	l := launch(t, npxIn(t, dir))
	l.Signal(syscall.SIGTERM)
	l.status(t)

	t.Log("an end of input ends both")
	l = launch(t, launcher)
	require.NoError(t, l.In.Close())
	require.Zero(t, l.status(t).ExitStatus())

	t.Log("the launcher dies by the signal that killed the program")
	l = launch(t, launcher)
	require.NoError(t, posix.Kill(l.server, syscall.SIGKILL))
	require.Equal(t, syscall.SIGKILL, l.status(t).Signal())

	t.Log("the program does not outlive a launcher that is killed")
	l = launch(t, launcher)
	l.Signal(syscall.SIGKILL)
	require.Equal(t, syscall.SIGKILL, l.status(t).Signal())

	var exit *exec.ExitError
	require.True(t, errors.As(exec.Command(launcher, "--no-such-flag").Run(), &exit))
	require.Equal(t, 2, exit.ExitCode())
}
