package find_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/core/effects/find"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tree makes files in a new folder: "path" or "path: content"; a path that ends with a slash
// is a folder, "path -> target" a link.
func tree(t *testing.T, entries ...string) string {
	t.Helper()
	root := t.TempDir()
	grow(t, root, entries...)
	return root
}

func grow(t *testing.T, root string, entries ...string) {
	t.Helper()
	for _, entry := range entries {
		name, content, _ := strings.Cut(entry, ": ")
		name, target, link := strings.Cut(name, " -> ")
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		switch {
		case link:
			require.NoError(t, os.Symlink(target, path))
		case strings.HasSuffix(name, "/"):
			require.NoError(t, os.MkdirAll(path, 0o755))
		default:
			require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		}
	}
}

// walked returns the paths below a root in order; those of folders end with a slash.
func walked(t *testing.T, root string) []string {
	t.Helper()
	return walkedBy(find.New(), root)
}

func walkedBy(f *find.Finder, root string) []string {
	var mu sync.Mutex
	names := []string{}
	f.Walk(context.Background(), root, func(paths []find.Path) {
		mu.Lock()
		defer mu.Unlock()
		for _, p := range paths {
			if p.Directory {
				p.Name += "/"
			}
			names = append(names, p.Name)
		}
	})
	slices.Sort(names)
	return names
}
