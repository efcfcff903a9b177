package build

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// Node bundles a TypeScript file and its imports as one CommonJS script for Node. The editor provides
// the module vscode. The same sources give the same script.
func Node(file string) ([]byte, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	result := api.Build(api.BuildOptions{
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
	if len(result.Errors) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), "\n"))
	}
	return result.OutputFiles[0].Contents, nil
}
