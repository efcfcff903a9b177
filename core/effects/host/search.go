package host

import (
	"context"
	"path/filepath"

	"appserver/core/effects/find"
	"appserver/protocol"
)

const (
	// maxFound is the maximum number of paths in a response.
	maxFound = 50
	// maxRoots is the maximum number of folders of a search.
	maxRoots = 64
	// maxSessions is the maximum number of open searches of a connection.
	maxSessions = 32
	// maxSearching is the number of a connection's other searches that walk at a time. The rest wait:
	// each walking search holds its matches, and more of them are no faster.
	maxSearching = 4
)

// rooted has paths below a root, in the client's spelling.
type rooted struct {
	root  string
	paths []find.Path
}

// search is a search that a later one ends.
type search struct{ cancel context.CancelFunc }

// FuzzyFileSearch finds files. A cancelled search returns none.
func (h *Host) FuzzyFileSearch(to protocol.Caller, p *protocol.FuzzyFileSearchParams) error {
	d, err := h.connection(to.Conn)
	if err != nil {
		return err
	}
	if err := checkRoots(p.Roots); err != nil {
		return err
	}
	ctx, end := d.supersede(p.CancellationToken)
	err = h.run(func() {
		defer end()
		found := d.search(ctx, find.NewQuery(p.Query), p.Roots)
		d.awaitRoom()
		h.Outbox.Reply(to, protocol.FuzzyFileSearchResponse{Files: results(found)})
	})
	if err != nil {
		end()
	}
	return err
}

func checkRoots(roots []string) error {
	if len(roots) > maxRoots {
		return protocol.InvalidParams("roots", "`roots` names %d folders, more than %d", len(roots), maxRoots)
	}
	return nil
}

// supersede ends the search that has the token, and registers a new one. end removes it.
func (d *connection) supersede(token *string) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(d.ctx)
	if token == nil {
		return ctx, cancel
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if before := d.searches[*token]; before != nil {
		before.cancel()
	}
	own := &search{cancel}
	d.searches[*token] = own
	return ctx, func() {
		cancel()
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.searches[*token] == own {
			delete(d.searches, *token)
		}
	}
}

// search holds the paths of one root at a time.
func (d *connection) search(ctx context.Context, query find.Query, roots []string) (best []find.Match) {
	if query.Empty() {
		return nil
	}
	select {
	case d.searching <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	defer func() { <-d.searching }()
	for _, root := range roots {
		r := rooted{root: root}
		d.host.Finder.Walk(ctx, d.host.absoluteRoot(root), func(paths []find.Path) { r.paths = append(r.paths, paths...) })
		best = append(best, rank(ctx, query, []rooted{r})...)
	}
	return find.Best(best, maxFound)
}

func (h *Host) absoluteRoot(root string) string {
	if filepath.IsAbs(root) {
		return root
	}
	return filepath.Join(h.Cwd, root)
}

// rank returns the best matches of all roots.
func rank(ctx context.Context, query find.Query, all []rooted) (best []find.Match) {
	for _, r := range all {
		for _, m := range query.Rank(ctx, r.paths, maxFound) {
			m.Root = r.root
			best = append(best, m)
		}
	}
	return find.Best(best, maxFound)
}

// results returns the matches in the form of the wire.
func results(found []find.Match) []protocol.FuzzyFileSearchResult {
	files := []protocol.FuzzyFileSearchResult{}
	for _, m := range found {
		kind := protocol.MatchFile
		if m.Directory {
			kind = protocol.MatchDirectory
		}
		files = append(files, protocol.FuzzyFileSearchResult{
			Root: m.Root, Path: m.Name, MatchType: kind, FileName: filepath.Base(m.Name), Score: m.Score, Indices: m.Indices,
		})
	}
	return files
}
