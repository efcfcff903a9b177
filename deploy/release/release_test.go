package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const everyTarget = "linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64"

// packed returns a folder with everything but Debian packages, made with a small text for each program.
func packed(t *testing.T) string {
	t.Helper()
	r := &release{root: filepath.Join("..", ".."), out: t.TempDir(), version: "1.2.3",
		time:      time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC),
		publisher: publisher{homepage: "https://example.org/a", npm: "@some/appserver"},
		extras:    extras{manual: []byte(".TH APPSERVER 1\n")}}
	targets, err := parseTargets(everyTarget, "")
	require.NoError(t, err)
	for _, goal := range targets {
		program := file{goal.executable(), 0o755, []byte("program of " + goal.String())}
		papers := []file{{"LICENSE", 0o644, []byte("MIT")}, {"CHANGELOG.md", 0o644, []byte("changes")}}
		require.NoError(t, r.writeArchive(goal, r.archived(goal, program, papers)))
		require.NoError(t, r.writePlatformPackage(goal, program, papers))
	}
	require.NoError(t, r.finish(targets))
	return r.out
}

// TestEveryTargetHasItsFiles packs all targets twice, and compares the files.
func TestEveryTargetHasItsFiles(t *testing.T) {
	t.Parallel()
	first := packed(t)
	second := packed(t)
	sums, err := checksums(first)
	require.NoError(t, err)
	again, err := checksums(second)
	require.NoError(t, err)
	require.Equal(t, sums, again, "equal input gives equal files")
	require.ElementsMatch(t, []string{"Containerfile", "SHA256SUMS", "appserver.rb",
		"appserver_1.2.3_linux_amd64.tar.gz", "appserver_1.2.3_linux_arm64.tar.gz", "appserver_1.2.3_darwin_amd64.tar.gz",
		"appserver_1.2.3_darwin_arm64.tar.gz", "appserver_1.2.3_windows_amd64.zip", "appserver_1.2.3_windows_arm64.zip",
		"some-appserver-1.2.3.tgz", "some-appserver-linux-x64-1.2.3.tgz", "some-appserver-linux-arm64-1.2.3.tgz",
		"some-appserver-darwin-x64-1.2.3.tgz", "some-appserver-darwin-arm64-1.2.3.tgz", "some-appserver-win32-x64-1.2.3.tgz",
		"some-appserver-win32-arm64-1.2.3.tgz"}, slices.Collect(maps.Keys(sums)))

	text, err := os.ReadFile(filepath.Join(first, "SHA256SUMS"))
	require.NoError(t, err)
	require.Contains(t, string(text), sums["appserver.rb"]+"  appserver.rb\n")
	require.Equal(t, len(sums)-1, strings.Count(string(text), "\n"))
	formula, err := os.ReadFile(filepath.Join(first, "appserver.rb"))
	require.NoError(t, err)
	for _, name := range []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64"} {
		archive := "appserver_1.2.3_" + name + ".tar.gz"
		require.Contains(t, string(formula), `url "https://example.org/a/releases/download/v1.2.3/`+archive+`"`+
			"\n      sha256 \""+sums[archive]+`"`)
	}
	require.NotContains(t, string(formula), "windows")
}

// TestArchivesOfWindowsHaveAProgramThatRuns reads the zip file.
func TestArchivesOfWindowsHaveAProgramThatRuns(t *testing.T) {
	t.Parallel()
	dir := packed(t)
	z, err := zip.OpenReader(filepath.Join(dir, "appserver_1.2.3_windows_arm64.zip"))
	require.NoError(t, err)
	defer z.Close()
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
		require.True(t, f.Modified.Equal(time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)), f.Modified)
	}
	folder := "appserver_1.2.3_windows_arm64/"
	require.Equal(t, []string{folder + "CHANGELOG.md", folder + "LICENSE", folder + "appserver.exe"}, names)
}

// TestTheManualPageIsInstalled reads the archive of Linux, and the files of the Debian package.
func TestTheManualPageIsInstalled(t *testing.T) {
	t.Parallel()
	text, err := exec.Command("tar", "-xzOf", filepath.Join(packed(t), "appserver_1.2.3_linux_amd64.tar.gz"),
		"appserver_1.2.3_linux_amd64/appserver.1").Output()
	require.NoError(t, err)
	require.Equal(t, ".TH APPSERVER 1\n", string(text))

	r := &release{extras: extras{manual: text, completions: map[string][]byte{}}}
	for _, place := range completionPlaces() {
		r.completions[place] = []byte("script")
	}
	files, err := r.debianFiles([]file{{"LICENSE", 0o644, []byte("MIT")}})
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		names = append(names, f.name)
		require.Equal(t, os.FileMode(0o644), f.mode)
	}
	require.Equal(t, []string{"/usr/share/bash-completion/completions/appserver", "/usr/share/doc/appserver/copyright",
		"/usr/share/fish/vendor_completions.d/appserver.fish", "/usr/share/man/man1/appserver.1.gz",
		"/usr/share/zsh/vendor-completions/_appserver"}, names)
	packed, err := gzip.NewReader(bytes.NewReader(files[3].content))
	require.NoError(t, err)
	page, err := io.ReadAll(packed)
	require.NoError(t, err)
	require.Equal(t, text, page)
}

// TestNpmPackagesNameTheirPlatforms reads the manifests as npm does.
func TestNpmPackagesNameTheirPlatforms(t *testing.T) {
	t.Parallel()
	dir := packed(t)
	read := func(name string) (m manifest) {
		text, err := exec.Command("tar", "-xzOf", filepath.Join(dir, name), "package/package.json").Output()
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &m))
		return m
	}
	m := read("some-appserver-win32-arm64-1.2.3.tgz")
	require.Equal(t, "@some/appserver-win32-arm64", m.Name)
	require.Equal(t, []string{"win32"}, m.Systems)
	require.Equal(t, []string{"arm64"}, m.Processors)
	m = read("some-appserver-1.2.3.tgz")
	require.Len(t, m.Optional, 6)
	require.Equal(t, "1.2.3", m.Optional["@some/appserver-darwin-x64"])
	require.Equal(t, map[string]string{"appserver": "appserver.js"}, m.Bin)
	require.Empty(t, m.Systems, "the main package is for all platforms")
}

// TestATargetThatDoesNotBuildFailsTheRelease names each such target, and leaves no files.
func TestATargetThatDoesNotBuildFailsTheRelease(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "cmd", "appserver"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte("module appserver\n\ngo 1.26\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "cmd", "appserver", "main.go"),
		[]byte("//go:build !windows\n\npackage main\n\nfunc main() {}\n"), 0o644))
	r := &release{root: root, out: filepath.Join(t.TempDir(), "out"), version: "1.2.3"}
	targets, err := parseTargets("windows/amd64 windows/arm64", "")
	require.NoError(t, err)
	err = r.make(context.Background(), targets)
	require.ErrorContains(t, err, "windows/amd64 does not build")
	require.ErrorContains(t, err, "windows/arm64 does not build")
	require.ErrorContains(t, err, "leave them out with EXCLUDE")
	left, err := os.ReadDir(r.out)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestTargetsAreListedWithoutTheExcludedOnes also rejects names that have no packages.
func TestTargetsAreListedWithoutTheExcludedOnes(t *testing.T) {
	t.Parallel()
	targets, err := parseTargets(everyTarget, "windows/amd64 windows/arm64 darwin/amd64 linux/amd64")
	require.NoError(t, err)
	require.Equal(t, []target{{"linux", "arm64"}, {"darwin", "arm64"}}, targets)
	for _, wrong := range []string{"", "linux", "plan9/amd64", "linux/386"} {
		_, err = parseTargets(wrong, "")
		require.Error(t, err, wrong)
	}
	_, err = parseTargets("linux/amd64", "linux/amd64")
	require.ErrorContains(t, err, "no targets are left")
}

// TestTheTagIsTheVersion reads the version of commits with and without a tag.
func TestTheTagIsTheVersion(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-C", root, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	git("init", "--quiet")
	git("commit", "--quiet", "--allow-empty", "-m", "first")
	read := func(given string) (*release, error) {
		r := &release{root: root, version: given}
		return r, r.readCommit(context.Background())
	}
	r, err := read("")
	require.NoError(t, err)
	require.Regexp(t, `^0\.0\.0-dev\.g[0-9a-f]{12}$`, r.version)
	require.Equal(t, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), r.time)
	git("tag", "v2.0.1")
	r, err = read("")
	require.NoError(t, err)
	require.Equal(t, "2.0.1", r.version)
	require.NoError(t, os.WriteFile(filepath.Join(root, "new"), nil, 0o644))
	_, err = read("")
	require.ErrorContains(t, err, "files differ from v2.0.1")
	r, err = read("v3.0.0")
	require.NoError(t, err)
	require.Equal(t, "3.0.0", r.version)
}

// TestComponentsNeedALicence rejects a component without a known licence.
func TestComponentsNeedALicence(t *testing.T) {
	t.Parallel()
	c := component{name: "some", version: "v1"}
	require.ErrorContains(t, c.readLicences(t.TempDir()), "some has no known licence")
	require.NoError(t, c.readLicences(filepath.Join("..", "..")))
	require.Equal(t, []string{"MIT"}, c.licences)
	require.Contains(t, string(licenceTexts([]component{c})), "some v1: LICENSE\n")
	require.Contains(t, string(licenceTexts([]component{c})), "Permission is hereby granted")
}
