package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"appserver/platform/osfile"
	"appserver/protocol"
)

// maxFileBytes bounds the size of a file: the parsers take quadratic time in the number of keys.
const maxFileBytes = 256 << 10

// SystemFile has the settings for all users of the machine.
const SystemFile = "/etc/codex/config.toml"

// folder returns the folder of the layer's file, or empty if the layer is not a file.
func (l *layer) folder() string {
	if l.name.DotCodexFolder != "" || l.name.File == "" {
		return l.name.DotCodexFolder
	}
	return filepath.Dir(l.name.File)
}

// version returns a hash of the settings as JSON. It equals the reference implementation's for the same
// settings.
func (l *layer) version() string {
	text, err := protocol.Marshal(l.root.plain())
	if err != nil {
		text = nil
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(text))
}

func (l *layer) metadata() protocol.ConfigLayerMetadata {
	return protocol.ConfigLayerMetadata{Name: l.name, Version: l.version()}
}

// add sets a value in the layer.
func (l *layer) add(path []string, value any, label string) error {
	if len(path) > maxDepth {
		return &Error{Position: label, Problem: errTooDeep.Error()}
	}
	if value == nil {
		return nil
	}
	at := position{layer: l, label: label}
	n, err := newNode(value, nil, at, 0)
	if err != nil {
		return err
	}
	table, last := l.root, len(path)-1
	for _, key := range path[:last] {
		table = table.tableAt(key, at)
	}
	table.table[path[last]] = merge(table.table[path[last]], n)
	return nil
}

func newLayer(name protocol.ConfigLayerSource) *layer {
	return &layer{name: name, root: &node{table: map[string]*node{}}}
}

// userLayer returns the layer of the user's file in home, empty if there is no file.
func userLayer(home string) (*layer, error) {
	file, decode, err := settingsFile(home)
	if err != nil {
		return nil, err
	}
	if home == "" {
		return newLayer(userSource(file)), nil
	}
	return readLayer(userSource(file), file, "", decode)
}

func userSource(file string) protocol.ConfigLayerSource {
	return protocol.ConfigLayerSource{Type: protocol.LayerUser, File: file}
}

// readLayer returns the layer of a file, empty if there is no file. If within is not empty, the file is in that folder.
func readLayer(name protocol.ConfigLayerSource, file, within string, decode decodeFunc) (*layer, error) {
	text, err := readFile(file, within)
	if errors.Is(err, os.ErrNotExist) || osfile.Is(err, syscall.ENOTDIR) {
		text, err = nil, nil
	}
	if err != nil {
		return nil, fileError(file, err)
	}
	name.File = file
	return decodeLayer(name, text, decode)
}

// decodeLayer returns the layer of a file with the given content.
func decodeLayer(name protocol.ConfigLayerSource, text []byte, decode decodeFunc) (*layer, error) {
	l, file := newLayer(name), name.File
	if len(text) == 0 {
		return l, nil
	}
	values, at, err := decode(file, bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	if err != nil {
		return nil, err
	}
	l.root, err = newNode(values, at, position{layer: l, label: file}, 0)
	return l, err
}

// decodeFunc decodes a document to its keys and their lines.
type decodeFunc func(file string, text []byte) (map[string]any, *lines, error)

// settingsFile returns the path of the user's file in home. The file may not exist.
func settingsFile(home string) (string, decodeFunc, error) {
	inTOML, inYAML := filepath.Join(home, "config.toml"), filepath.Join(home, "config.yaml")
	switch {
	case home == "" || !exists(inYAML):
		return inTOML, decodeTOML, nil
	case exists(inTOML):
		return "", nil, &Error{Position: inTOML, Problem: "there is also " + inYAML + ": keep one of the two"}
	}
	return inYAML, decodeYAML, nil
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// readFile reads a regular file of bounded size, so that no device or pipe can block or flood the server. If within is
// not empty, a link that leads out of that folder is an error.
func readFile(file, within string) ([]byte, error) {
	b := osfile.Bounds{Max: maxFileBytes + 1}
	if within != "" {
		b.Within = []string{within}
	}
	text, err := osfile.ReadRegular(file, b)
	if err == nil && len(text) > maxFileBytes {
		err = fmt.Errorf("larger than %d bytes", maxFileBytes)
	}
	return text, err
}

// threadLayer returns the layer of a thread's overrides.
func threadLayer(overrides map[string]json.RawMessage) (*layer, error) {
	l := newLayer(protocol.ConfigLayerSource{Type: protocol.LayerSessionFlags})
	l.ofThread = true
	for _, key := range sortedKeys(overrides) {
		value, err := decodeJSON(overrides[key])
		if err != nil {
			return nil, &Error{Position: "config." + key, Problem: err.Error()}
		}
		path, err := keyPath(key)
		if err != nil {
			return nil, &Error{Position: "config." + key, Problem: err.Error()}
		}
		if err := l.add(path, value, "config."+key); err != nil {
			return nil, err
		}
	}
	return l, nil
}
