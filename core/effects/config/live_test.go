package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/config"
	"appserver/platform/osfile"
	"appserver/protocol"
)

// liveHome is a home with a file of settings, and the configuration of a server.
type liveHome struct {
	*config.Live
	t    *testing.T
	home string
}

func newLiveHome(t *testing.T, text string, overrides ...string) *liveHome {
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &liveHome{t: t, home: home}
	require.NoError(t, os.WriteFile(w.file(), []byte(text), 0o640))
	w.Live = w.another(overrides...)
	return w
}

// another returns the configuration of another server.
func (w *liveHome) another(overrides ...string) *config.Live {
	source := config.Source{Home: w.home, Overrides: overrides}
	c, err := config.Load(source)
	require.NoError(w.t, err)
	return config.NewLive(source, c)
}

func (w *liveHome) file() string { return filepath.Join(w.home, "config.toml") }

func (w *liveHome) text() string {
	text, err := os.ReadFile(w.file())
	require.NoError(w.t, err)
	return string(text)
}

func edit(key, value string) protocol.ConfigEdit {
	return protocol.ConfigEdit{KeyPath: key, Value: json.RawMessage(value), MergeStrategy: "replace"}
}

func (w *liveHome) set(key, value string) (protocol.ConfigWriteResponse, error) {
	return w.Write(&protocol.ConfigBatchWriteParams{Edits: []protocol.ConfigEdit{edit(key, value)}})
}

func (w *liveHome) requireRejected(err error, kind protocol.Kind, text string) {
	w.t.Helper()
	var refusal *protocol.Error
	require.ErrorAs(w.t, err, &refusal)
	require.Equal(w.t, kind, refusal.Data.Kind)
	require.Equal(w.t, text, w.text())
	left, err := filepath.Glob(filepath.Join(w.home, ".config*"))
	require.NoError(w.t, err)
	require.Empty(w.t, left)
}

func TestWriteAppliesTheSettings(t *testing.T) {
	w := newLiveHome(t, "# mine\nmodel = \"a\" # why\n")
	answer, err := w.set("model", `"b"`)
	require.NoError(t, err)
	require.Equal(t, "# mine\nmodel = \"b\" # why\n", w.text())
	require.Equal(t, "b", w.Current().Model)
	require.Equal(t, protocol.ConfigWriteResponse{Status: "ok",
		Version: w.another().Current().View(true).Layers[0].Version, FilePath: w.file()}, answer)
	info, err := os.Stat(w.file())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
}

func TestWriteCreatesTheFile(t *testing.T) {
	w := newLiveHome(t, "")
	require.NoError(t, os.Remove(w.file()))
	_, err := w.set("tui.theme", `"dark"`)
	require.NoError(t, err)
	require.Equal(t, "\n[tui]\ntheme = \"dark\"\n", "\n"+w.text())
	info, err := os.Stat(w.file())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestInvalidWritesAreRejected(t *testing.T) {
	text := "model = \"a\"\n"
	for name, tt := range map[string]struct {
		edits []protocol.ConfigEdit
		kind  protocol.Kind
	}{
		"a wrong type": {[]protocol.ConfigEdit{edit("model", `5`)}, protocol.KindConfigValidation},
		"a wrong word": {[]protocol.ConfigEdit{edit("model", `"b"`), edit("sandbox_mode", `"bad"`)},
			protocol.KindConfigValidation},
		"no key":           {[]protocol.ConfigEdit{edit(" ", `1`)}, protocol.KindConfigValidation},
		"no part of a key": {[]protocol.ConfigEdit{edit("a..b", `1`)}, protocol.KindConfigValidation},
		"below a value":    {[]protocol.ConfigEdit{edit("model.x", `1`)}, protocol.KindConfigValidation},
		"too large": {[]protocol.ConfigEdit{edit("x", fmt.Sprintf("%q", make([]byte, 300<<10)))},
			protocol.KindConfigValidation},
	} {
		t.Run(name, func(t *testing.T) {
			w := newLiveHome(t, text)
			_, err := w.Write(&protocol.ConfigBatchWriteParams{Edits: tt.edits})
			w.requireRejected(err, tt.kind, text)
			require.Equal(t, "a", w.Current().Model)
		})
	}
}

func TestOnlyTheUsersFileIsWritten(t *testing.T) {
	w := newLiveHome(t, "")
	other := filepath.Join(w.home, "other.toml")
	_, err := w.Write(&protocol.ConfigBatchWriteParams{FilePath: &other,
		Edits: []protocol.ConfigEdit{edit("model", `"b"`)}})
	w.requireRejected(err, protocol.KindConfigReadonly, "")
	require.NoFileExists(t, other)

	own := w.file()
	_, err = w.Write(&protocol.ConfigBatchWriteParams{FilePath: &own, Edits: []protocol.ConfigEdit{edit("model", `"b"`)}})
	require.NoError(t, err)

	require.NoError(t, os.Rename(own, filepath.Join(w.home, "config.yaml")))
	_, err = w.set("model", `"c"`)
	require.ErrorContains(t, err, "config.yaml")
	require.NoFileExists(t, own)
}

func TestInvalidFileIsKept(t *testing.T) {
	w := newLiveHome(t, "")
	require.NoError(t, os.WriteFile(w.file(), []byte("model = "), 0o600))
	_, err := w.set("model", `"b"`)
	w.requireRejected(err, protocol.KindConfigValidation, "model = ")
}

// TestFolderIsRejected with an error of the storage, not of the settings.
func TestFolderIsRejected(t *testing.T) {
	w := newLiveHome(t, "")
	require.NoError(t, os.Remove(w.file()))
	require.NoError(t, os.Mkdir(w.file(), 0o700))
	_, err := w.set("model", `"b"`)
	var refusal *protocol.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, protocol.KindStorage, refusal.Data.Kind)
	require.Equal(t, "the configuration cannot be written: not a regular file", refusal.Message)
}

func TestLinksAreFollowed(t *testing.T) {
	w := newLiveHome(t, "")
	real := filepath.Join(t.TempDir(), "dotfiles.toml")
	require.NoError(t, os.WriteFile(real, []byte("# kept\n"), 0o600))
	require.NoError(t, os.Remove(w.file()))
	require.NoError(t, os.Symlink(real, w.file()))
	_, err := w.set("model", `"b"`)
	require.NoError(t, err)
	text, err := os.ReadFile(real)
	require.NoError(t, err)
	require.Contains(t, string(text), "# kept")
	require.Contains(t, string(text), `model = "b"`)
	target, err := os.Readlink(w.file())
	require.NoError(t, err)
	require.Equal(t, real, target)
}

// TestNoWriteIsLost: several servers write different keys at once. A write that expects an older
// version is rejected.
func TestNoWriteIsLost(t *testing.T) {
	w := newLiveHome(t, "")
	var all sync.WaitGroup
	for i := range 8 {
		one := liveHome{w.another(), t, w.home}
		all.Go(func() {
			_, err := one.set(fmt.Sprintf("tui.key%d", i), "1")
			require.NoError(t, err)
		})
	}
	all.Wait()
	for i := range 8 {
		require.Contains(t, w.text(), fmt.Sprintf("key%d = 1\n", i))
	}

	seen := w.another().Current().View(true).Layers[0].Version
	_, err := w.set("model", `"b"`)
	require.NoError(t, err)
	before := w.text()
	_, err = w.Write(&protocol.ConfigBatchWriteParams{ExpectedVersion: &seen,
		Edits: []protocol.ConfigEdit{edit("model", `"c"`)}})
	w.requireRejected(err, protocol.KindConfigVersion, before)
	now := w.Current().View(true).Layers[0].Version
	_, err = w.Write(&protocol.ConfigBatchWriteParams{ExpectedVersion: &now,
		Edits: []protocol.ConfigEdit{edit("model", `"c"`)}})
	require.NoError(t, err)
}

// TestWriteFailsIfTheLockIsHeld by another program.
func TestWriteFailsIfTheLockIsHeld(t *testing.T) {
	w := newLiveHome(t, "model = \"a\"\n")
	other, err := osfile.OpenLock(w.home)
	require.NoError(t, err)
	taken, err := osfile.TryLock(other)
	require.NoError(t, err)
	require.True(t, taken)
	_, err = w.set("model", `"b"`)
	w.requireRejected(err, protocol.KindStorage, "model = \"a\"\n")
	require.ErrorContains(t, err, "another program")

	require.NoError(t, other.Close())
	_, err = w.set("model", `"b"`)
	require.NoError(t, err)
	require.Equal(t, "b", w.Current().Model)
}

func TestWriteReportsStrongerLayers(t *testing.T) {
	w := newLiveHome(t, "", "model=flag")
	answer, err := w.set("model", `"b"`)
	require.NoError(t, err)
	require.Equal(t, "okOverridden", answer.Status)
	require.Equal(t, "flag", answer.OverriddenMetadata.EffectiveValue)
	require.Equal(t, protocol.LayerSessionFlags, answer.OverriddenMetadata.OverridingLayer.Name.Type)
	require.Equal(t, "flag", w.Current().Model)
	require.Contains(t, w.text(), `"b"`)
}
