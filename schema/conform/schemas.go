package conform

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing/fstest"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"appserver/schema"
)

// Schemas is a set of JSON Schema files, by name without folder and ending.
type Schemas struct {
	documents map[string]*node
	raw       map[string][]byte
	compiled  map[string]*jsonschema.Schema
}

// Own returns the schemas of the server, which the program makes.
func Own() (*Schemas, error) {
	made, err := schema.JSONFiles()
	if err != nil {
		return nil, err
	}
	files := fstest.MapFS{}
	for name, text := range made {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return Load(files)
}

// Load reads all *.json files of fsys, at any depth.
func Load(fsys fs.FS) (*Schemas, error) {
	s := &Schemas{documents: map[string]*node{}, raw: map[string][]byte{}, compiled: map[string]*jsonschema.Schema{}}
	err := fs.WalkDir(fsys, ".", func(file string, _ fs.DirEntry, err error) error {
		name, isJSON := strings.CutSuffix(path.Base(file), ".json")
		if err != nil || !isJSON {
			return err
		}
		return s.add(fsys, file, name)
	})
	if err == nil && len(s.documents) == 0 {
		err = errors.New("no schema files")
	}
	if err != nil {
		return nil, fmt.Errorf("load schemas: %w", err)
	}
	return s, nil
}

func (s *Schemas) add(fsys fs.FS, file, name string) error {
	content, err := fs.ReadFile(fsys, file)
	if err != nil {
		return err
	}
	var n node
	if err := json.Unmarshal(content, &n); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	s.documents[name] = &n
	s.raw[name] = content
	return nil
}

// Has reports whether the message has a file.
func (s *Schemas) Has(name string) bool { return s.documents[name] != nil }

// Validate checks a JSON value against the file of that name.
func (s *Schemas) Validate(name string, value []byte) error {
	schema, err := s.compile(name)
	if err != nil {
		return err
	}
	instance, err := jsonschema.UnmarshalJSON(strings.NewReader(string(value)))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return schema.Validate(instance)
}

func (s *Schemas) compile(name string) (*jsonschema.Schema, error) {
	if schema, ok := s.compiled[name]; ok {
		return schema, nil
	}
	if !s.Has(name) {
		return nil, fmt.Errorf("no schema file %s.json", name)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(s.raw[name])))
	if err != nil {
		return nil, fmt.Errorf("%s.json: %w", name, err)
	}
	compiler := jsonschema.NewCompiler()
	url := "mem:///" + name + ".json"
	if err := compiler.AddResource(url, document); err != nil {
		return nil, fmt.Errorf("%s.json: %w", name, err)
	}
	schema, err := compiler.Compile(url)
	if err == nil {
		s.compiled[name] = schema
	}
	return schema, err
}
