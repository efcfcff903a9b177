// Package build bundles the page of the workbench with esbuild.
package build

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"appserver/protocol"
)

// Files builds the page below dir, the folder web of the repository. The keys are slash-separated
// paths relative to web/dist. The same sources give the same files.
func Files(dir string) (map[string][]byte, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	o := options(root)
	later, err := loadedLater(o)
	if err != nil {
		return nil, err
	}
	o.Plugins = []api.Plugin{afterMain(filepath.Join(root, "src", "main.tsx"), later)}
	bundled, err := bundle(o)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	names := map[string]string{} // the addresses in index.html by the names without hash
	for _, f := range bundled.OutputFiles {
		name, err := filepath.Rel(filepath.Join(root, "dist"), f.Path)
		if err != nil {
			return nil, err
		}
		name = filepath.ToSlash(name)
		files[name] = f.Contents
		if entry, _, ok := strings.Cut(path.Base(name), "-"); ok {
			names[entry+path.Ext(name)] = "/" + name
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "src", "index.html"))
	if err != nil {
		return nil, err
	}
	replace := strings.NewReplacer("{{main.js}}", names["main.js"], "{{style.css}}", names["style.css"])
	files["index.html"] = []byte(replace.Replace(string(page)))
	licences, err := Licences(filepath.Join(root, "vendor"))
	if err != nil {
		return nil, err
	}
	files["assets/licences.txt"] = licences
	return files, nil
}

// bundle runs esbuild. Its error has all messages of esbuild.
func bundle(o api.BuildOptions) (api.BuildResult, error) {
	result := api.Build(o)
	if len(result.Errors) > 0 {
		return result, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), "\n"))
	}
	return result, nil
}

func options(root string) api.BuildOptions {
	return api.BuildOptions{
		AbsWorkingDir:     root,
		EntryPoints:       []string{"src/main.tsx", "src/style.css"},
		Outdir:            filepath.Join(root, "dist"),
		EntryNames:        "assets/[name]-[hash]",
		ChunkNames:        "assets/[name]-[hash]",
		Bundle:            true,
		Splitting:         true,
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		Charset:           api.CharsetUTF8,
		LegalComments:     api.LegalCommentsNone, // licences.txt has the licences
		JSX:               api.JSXAutomatic,
		JSXImportSource:   "preact",
		NodePaths:         []string{filepath.Join(root, "vendor")},
		TsconfigRaw:       "{}",
	}
}

// loadedLater returns the files that the page loads with import(), as absolute paths.
func loadedLater(o api.BuildOptions) (map[string]bool, error) {
	o.Metafile = true
	result, err := bundle(o)
	if err != nil {
		return nil, err
	}
	var meta struct {
		Inputs map[string]struct {
			Imports []struct {
				Path string `json:"path"`
				Kind string `json:"kind"`
			} `json:"imports"`
		} `json:"inputs"`
	}
	if err := protocol.Unmarshal([]byte(result.Metafile), &meta); err != nil {
		return nil, fmt.Errorf("metafile of esbuild: %w", err)
	}
	later := map[string]bool{}
	for _, input := range meta.Inputs {
		for _, i := range input.Imports {
			if i.Kind == "dynamic-import" {
				later[filepath.Join(o.AbsWorkingDir, filepath.FromSlash(i.Path))] = true
			}
		}
	}
	return later, nil
}

// afterMain makes each file that the page loads later import the file that it loads first. So esbuild puts all that the
// latter needs into one chunk, and not into one for each set of files that share it. The files are known before the
// build: esbuild reads files in any order, so a file that others import at once as well can be read before import().
func afterMain(main string, later map[string]bool) api.Plugin {
	return api.Plugin{Name: "after-main", Setup: func(b api.PluginBuild) {
		b.OnLoad(api.OnLoadOptions{Filter: `\.tsx$`}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			if !later[a.Path] {
				return api.OnLoadResult{}, nil
			}
			content, err := os.ReadFile(a.Path)
			text := string(content) + "\nimport " + strconv.Quote(filepath.ToSlash(main)) + ";\n"
			return api.OnLoadResult{Contents: &text, Loader: api.LoaderTSX}, err
		})
	}}
}

// Write replaces the content of dir with the files, each compressed by gzip, with the suffix .gz.
func Write(dir string, files map[string][]byte) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for name, content := range files {
		packed, err := pack(content)
		if err != nil {
			return err
		}
		file := filepath.Join(dir, filepath.FromSlash(name)+".gz")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, packed, 0o644); err != nil {
			return fmt.Errorf("cannot write the page: %w", err)
		}
	}
	return nil
}

func pack(content []byte) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = z.Write(content)
	err = errors.Join(err, z.Close())
	return out.Bytes(), err
}

// Tests builds a file of web/test and its imports as one script. It defines the functions testNames and runTest.
func Tests(dir, name string) (string, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	o := options(root)
	o.EntryPoints, o.Format, o.Splitting, o.Outdir = []string{"test/" + name}, api.FormatIIFE, false, ""
	bundled, err := bundle(o)
	if err != nil {
		return "", err
	}
	return string(bundled.OutputFiles[0].Contents), nil
}
