package release

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// TestTwoClonesGiveTheSameRelease compares every file of two releases byte by byte.
func TestTwoClonesGiveTheSameRelease(t *testing.T) {
	t.Parallel()
	released(t)
	made, err := madeReleases()
	require.NoError(t, err)
	if len(made) == 1 {
		t.Skip("the release was made before the test")
	}
	entries, err := os.ReadDir(made[0])
	require.NoError(t, err)
	require.Greater(t, len(entries), 6)
	for _, e := range entries {
		first, err := os.ReadFile(filepath.Join(made[0], e.Name()))
		require.NoError(t, err)
		second, err := os.ReadFile(filepath.Join(made[1], e.Name()))
		require.NoError(t, err)
		require.True(t, string(first) == string(second), "%s differs", e.Name())
	}
}

// TestChecksumsCoverTheRelease verifies SHA256SUMS as a user does.
func TestChecksumsCoverTheRelease(t *testing.T) {
	t.Parallel()
	a := released(t)
	verified := output(t, a.dir, "sha256sum", "--check", "--strict", "SHA256SUMS")
	entries, err := os.ReadDir(a.dir)
	require.NoError(t, err)
	require.Equal(t, len(entries)-1, strings.Count(verified, ": OK\n"), "SHA256SUMS lists all other files")
}

// TestArchiveHasTheProgramAndItsPapers unpacks the archive of this platform, compares the list of components
// with the modules of the program, and runs the demo.
func TestArchiveHasTheProgramAndItsPapers(t *testing.T) {
	t.Parallel()
	a := released(t)
	dir := t.TempDir()
	archive := a.find(t, "appserver_*_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz")
	output(t, dir, "tar", "-xzf", archive)
	folder := filepath.Join(dir, strings.TrimSuffix(filepath.Base(archive), ".tar.gz"))
	program := filepath.Join(folder, "appserver")

	info, err := buildinfo.ReadFile(program)
	require.NoError(t, err)
	sbom, err := os.ReadFile(filepath.Join(folder, "sbom.cdx.json"))
	require.NoError(t, err)
	licences, err := os.ReadFile(filepath.Join(folder, "LICENCES.txt"))
	require.NoError(t, err)
	listed := map[string]bool{}
	for _, c := range gjson.GetBytes(sbom, "components").Array() {
		listed[c.Get("purl").String()] = true
		require.NotEmpty(t, c.Get("licenses").Array(), c.Get("name"))
		require.Contains(t, string(licences), "\n"+c.Get("name").String()+" "+c.Get("version").String()+": ")
	}
	for _, m := range info.Deps {
		require.Contains(t, listed, "pkg:golang/"+m.Path+"@"+m.Version)
	}
	require.Greater(t, len(listed), len(info.Deps)+1, "the packages of the page are listed, too")
	require.Contains(t, string(licences), "Copyright (c) 2009 The Go Authors", "the texts are complete")
	require.FileExists(t, filepath.Join(folder, "LICENSE"))
	page, err := os.ReadFile(filepath.Join(folder, "appserver.1"))
	require.NoError(t, err)
	require.Contains(t, string(page), ".TH APPSERVER 1 ")

	version := output(t, dir, program, "version", "--json")
	require.Regexp(t, `^[0-9a-f]{40}$`, gjson.Get(version, "commit").String(), version)
	a.requireDemo(t, program)
}

// TestDebianPackageInstallsTheProgram installs and removes the package in an empty system.
func TestDebianPackageInstallsTheProgram(t *testing.T) {
	t.Parallel()
	a := released(t)
	if runtime.GOOS != "linux" {
		t.Skip("Debian packages are for Linux")
	}
	requireProgram(t, "dpkg")
	root := t.TempDir()
	for _, dir := range []string{"info", "updates"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, "var", "lib", "dpkg", dir), 0o755))
	}
	for _, file := range []string{"status", "available"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, "var", "lib", "dpkg", file), nil, 0o644))
	}
	log := "--log=" + filepath.Join(root, "log")
	output(t, root, "dpkg", "--root="+root, log, "--force-not-root", "-i", a.find(t, "appserver_*_"+runtime.GOARCH+".deb"))
	a.requireDemo(t, filepath.Join(root, "usr", "bin", "appserver"))
	for _, installed := range []string{"doc/appserver/copyright", "man/man1/appserver.1.gz",
		"bash-completion/completions/appserver", "zsh/vendor-completions/_appserver",
		"fish/vendor_completions.d/appserver.fish"} {
		require.FileExists(t, filepath.Join(root, "usr", "share", installed))
	}
	state := output(t, root, "dpkg-query", "--admindir="+filepath.Join(root, "var", "lib", "dpkg"), "-W",
		"-f", "${Status} ${Version}", "appserver")
	require.Equal(t, "install ok installed "+strings.Replace(a.version, "-", "~", 1), state)
	output(t, root, "dpkg", "--root="+root, log, "--force-not-root", "-r", "appserver")
	require.NoFileExists(t, filepath.Join(root, "usr", "bin", "appserver"))
}

// TestFormulaNamesTheArchives compares the checksums of the formula with the archives. Then it loads the
// formula and runs its installation, with classes that take the place of Homebrew.
func TestFormulaNamesTheArchives(t *testing.T) {
	t.Parallel()
	a := released(t)
	formula := a.find(t, "appserver.rb")
	text, err := os.ReadFile(formula)
	require.NoError(t, err)
	sums, err := os.ReadFile(a.find(t, "SHA256SUMS"))
	require.NoError(t, err)
	named := regexp.MustCompile(`url "[^"]*/([^"/]+)"\n\s+sha256 "(\w+)"`).FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, named)
	for _, found := range named {
		require.Contains(t, string(sums), found[2]+"  "+found[1]+"\n")
	}
	requireProgram(t, "ruby")
	output(t, t.TempDir(), "ruby", "-c", formula)
	var loaded struct {
		Version   string
		Urls      []string
		Installed []string
	}
	printed := output(t, t.TempDir(), "ruby", apptest.Root("test/release/testdata/load.rb"), formula)
	require.NoError(t, json.Unmarshal([]byte(printed), &loaded))
	require.Equal(t, a.version, loaded.Version)
	require.Len(t, loaded.Urls, len(named))
	require.Equal(t, []string{"appserver", "appserver.1", "CHANGELOG.md", "LICENCES.txt", "sbom.cdx.json"}, loaded.Installed)
}

// TestContainerfileHasNoFaults checks deploy/Containerfile with a linter.
func TestContainerfileHasNoFaults(t *testing.T) {
	t.Parallel()
	a := released(t)
	requireProgram(t, "npm")
	output(t, t.TempDir(), "npm", "exec", "--yes", "--package=dockerfile-utils@0.16.3", "--", "dockerfile-utils", "lint",
		a.find(t, "Containerfile"))
}
