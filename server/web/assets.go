package web

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"

	"appserver/platform/pattern"
)

const (
	indexName = "index.html"
	// cacheForever is for files whose names contain a hash of their content.
	cacheForever = "public, max-age=31536000, immutable"
)

// hashedName matches the names that esbuild gives to files.
var hashedName = pattern.New(`^/assets/.+-[0-9A-Z]{8}\.[a-z0-9]+$`)

// contentTypes has the types of files by extension. Package mime depends on files of the system.
var contentTypes = map[string]string{
	".css":   "text/css; charset=utf-8",
	".html":  "text/html; charset=utf-8",
	".js":    "text/javascript; charset=utf-8",
	".png":   "image/png",
	".svg":   "image/svg+xml",
	".txt":   "text/plain; charset=utf-8",
	".woff2": "font/woff2",
}

// asset is a file of the page.
type asset struct {
	kind, cache string
	packed      []byte // the content, compressed by gzip
}

// assetFolder has the files of the page, except index.html. The server adds a random folder, see [assetPath].
const assetFolder = "/assets/"

// randomFolder matches the path of a file with the random folder.
var randomFolder = pattern.New(`^/assets/[A-Z2-7]{26}/([^/]+)$`)

// assetPath returns the path of a file without the random folder, or the path itself if it has none. index.html names
// its files with a random folder, so that the browser does not use one that another program has stored in its cache
// when it listened at this address. A page that is open has the folder of the server that it was loaded from.
func assetPath(path string) string {
	if found := randomFolder().FindStringSubmatch(path); found != nil {
		return assetFolder + found[1]
	}
	return path
}

// addRandomFolder adds a random folder to the addresses in index.html.
func addRandomFolder(packed []byte) ([]byte, error) {
	text, err := unpack(packed)
	if err != nil {
		return nil, err
	}
	text = bytes.ReplaceAll(text, []byte(`="`+assetFolder), []byte(`="`+assetFolder+rand.Text()+"/"))
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err = z.Write(text)
	err = errors.Join(err, z.Close())
	return out.Bytes(), err
}

// loadAssets reads all files, which are compressed by gzip and have the suffix .gz. The keys are the paths of their
// requests. index.html is at /.
func loadAssets(files fs.FS) (map[string]*asset, error) {
	assets := map[string]*asset{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		packed, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		name = strings.TrimSuffix(name, ".gz")
		kind := contentTypes[path.Ext(name)]
		if kind == "" {
			return fmt.Errorf("%s has no content type", name)
		}
		at := "/" + name
		if name == indexName {
			at = "/"
			if packed, err = addRandomFolder(packed); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		cache := "no-store"
		if hashedName().MatchString(at) {
			cache = cacheForever
		}
		assets[at] = &asset{kind, cache, packed}
		return nil
	})
	if err == nil && assets["/"] == nil {
		err = errors.New(indexName + " is missing")
	}
	if err != nil {
		return nil, fmt.Errorf("the files of the page are incomplete: %w", err)
	}
	return assets, nil
}

// unpack returns the content for one of the few clients that do not accept gzip. Browsers do.
func unpack(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// serve answers GET and HEAD.
func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	h, content := w.Header(), a.packed
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", a.cache)
	h.Set("Vary", "Accept-Encoding")
	if acceptsGzip(r.Header) {
		h.Set("Content-Encoding", "gzip")
	} else {
		plain, err := unpack(a.packed)
		if err != nil {
			http.Error(w, "the file of the page is damaged", http.StatusInternalServerError)
			return
		}
		content = plain
	}
	h.Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content) // net/http sends no content to HEAD; the browser may be gone
}

// removedWorker is a service worker that removes itself, and loads the pages again that it controls.
const removedWorker = `self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.registration.unregister()
	.then(() => self.clients.matchAll({type: "window"}))
	.then((pages) => Promise.all(pages.map((page) => page.navigate(page.url))))));
`

// serveRemovedWorker answers a browser that looks for a service worker, or for an update of one. The page has none, so
// another program has installed it when it listened at this address.
func serveRemovedWorker(w http.ResponseWriter) {
	w.Header().Set("Content-Type", contentTypes[".js"])
	_, _ = io.WriteString(w, removedWorker) // the browser may be gone
}

func acceptsGzip(h http.Header) bool {
	for _, line := range h.Values("Accept-Encoding") {
		for coding := range strings.SplitSeq(line, ",") {
			name, weight, weighted := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";q=")
			if name == "gzip" {
				return !weighted || strings.Trim(weight, "0.") != ""
			}
		}
	}
	return false
}
