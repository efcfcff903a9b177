package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/web/gen/build"
)

const repository = "../../.."

// unpack returns the files of the package.
func unpack(t *testing.T, content []byte) map[string]string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	files := map[string]string{}
	for _, f := range r.File {
		in, err := f.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(in)
		require.NoError(t, err)
		files[f.Name] = string(text)
	}
	return files
}

// TestThePackageIsReproducibleAndComplete packs the extension twice.
func TestThePackageIsReproducibleAndComplete(t *testing.T) {
	content, err := pack(repository, bundle{})
	require.NoError(t, err)
	again, err := pack(repository, bundle{})
	require.NoError(t, err)
	require.True(t, bytes.Equal(content, again))

	files := unpack(t, content)
	require.Contains(t, files["extension.vsixmanifest"], `<Identity Language="en-US" Id="appserver" Version="0.1.0" Publisher="appserver">`)
	for _, line := range strings.Split(files["extension.vsixmanifest"], "\n") {
		if _, rest, ok := strings.Cut(line, ` Path="`); ok {
			name, _, _ := strings.Cut(rest, `"`)
			require.Contains(t, files, name)
		}
	}
	for name := range files {
		if name == "[Content_Types].xml" {
			continue
		}
		require.Contains(t, files["[Content_Types].xml"], `Extension="`+filepath.Ext(name)+`"`)
	}
	require.NotContains(t, files["extension/extension.js"], "import.meta")
	require.Contains(t, files["extension/page/theme.css"], "body.vscode-dark")
	require.NotContains(t, files["extension.vsixmanifest"], "TargetPlatform")
}

// TestThePackageOfASystemHasItsProgram packs a program and its licences for one system.
func TestThePackageOfASystemHasItsProgram(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"appserver": "program", "LICENCES.txt": "licences"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	b, err := readBundle("linux/arm64", folder)
	require.NoError(t, err)
	content, err := pack(repository, b)
	require.NoError(t, err)
	files := unpack(t, content)
	require.Contains(t, files["extension.vsixmanifest"], `TargetPlatform="linux-arm64"`)
	require.Contains(t, files["[Content_Types].xml"], `PartName="/extension/bin/appserver"`)
	require.Equal(t, "program", files["extension/bin/appserver"])
	require.Equal(t, "licences", files["extension/bin/LICENCES.txt"])
	r, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	for _, f := range r.File {
		require.Equal(t, f.Name == "extension/bin/appserver", f.Mode()&0o111 != 0, f.Name)
	}

	_, err = readBundle("windows/amd64", folder)
	require.ErrorContains(t, err, "has no appserver.exe")
	_, err = readBundle("plan9/amd64", folder)
	require.ErrorContains(t, err, "is not linux, darwin or windows")
}

// TestEachCommandOfThePackageHasAHandler compares package.json with the script.
func TestEachCommandOfThePackageHasAHandler(t *testing.T) {
	content, err := pack(repository, bundle{})
	require.NoError(t, err)
	files := unpack(t, content)
	var m struct {
		Contributes struct {
			Commands []struct {
				Command string `json:"command"`
			} `json:"commands"`
		} `json:"contributes"`
	}
	require.NoError(t, json.Unmarshal([]byte(files["extension/package.json"]), &m))
	require.Len(t, m.Contributes.Commands, strings.Count(files["extension/extension.js"], `run("appserver.`))
	for _, c := range m.Contributes.Commands {
		require.Contains(t, files["extension/extension.js"], `run("`+c.Command+`"`)
	}
}

// TestThemeNeedsTheColoursOfThePage passes a style sheet without them.
func TestThemeNeedsTheColoursOfThePage(t *testing.T) {
	_, err := theme(":root { --bg: white; }")
	require.ErrorContains(t, err, "no dark colours")
}

// TestModulesOfTheExtension runs the tests of editors/vscode/test with the test runner of node.
func TestModulesOfTheExtension(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("node is not installed: ", err)
	}
	require.NoError(t, err)
	script, err := build.Node(filepath.Join(repository, "editors", "vscode", "test", "all.ts"))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "all.cjs")
	require.NoError(t, os.WriteFile(file, script, 0o600))
	out, err := exec.CommandContext(t.Context(), node, file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "# fail 0")
	t.Logf("%s", out[bytes.LastIndex(out, []byte("# tests")):])
}
