package build

import (
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

// Node bundles a TypeScript file and its imports as one CommonJS script for Node. The editor provides
// the module vscode. The same sources give the same script.
func Node(file string) ([]byte, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	bundled, err := bundle(api.BuildOptions{
		AbsWorkingDir: filepath.Dir(file),
		EntryPoints:   []string{file},
		Bundle:        true,
		Format:        api.FormatCommonJS,
		Platform:      api.PlatformNode,
		Target:        api.ES2022,
		External:      []string{"vscode"},
		Charset:       api.CharsetUTF8,
		TsconfigRaw:   "{}",
	})
	if err != nil {
		return nil, err
	}
	return bundled.OutputFiles[0].Contents, nil
}
