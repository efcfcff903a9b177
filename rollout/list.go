package rollout

import (
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// SortKey is what a list is ordered by.
type SortKey string

// The zero SortKey is SortCreated. The creation time is that of the file's name, the
// time of the last update that of the file.
const (
	SortCreated SortKey = "created_at"
	SortUpdated SortKey = "updated_at"
)

// Query selects rollouts. The zero Query is all of them that are not archived, newest
// first. Empty lists and strings select nothing out.
type Query struct {
	// Limit is how many heads a page holds at most; 0 means all.
	Limit int
	// Cursor is the NextCursor of the page before.
	Cursor    string
	Archived  bool
	Ascending bool
	SortKey   SortKey
	// Providers are the names of model providers.
	Providers []string
	// Cwds are working directories, compared as they are written.
	Cwds []string
	// Search is a part of the preview or the name; case does not matter.
	Search string
	// OtherSources are sources, in the same words, that are left out.
	OtherSources []string
	// Excluded are the ids of threads that are left out.
	Excluded []string
	// Parent is the thread that has spawned those of the list, Ancestor one from which a row
	// of spawns leads to them.
	Parent, Ancestor string
	// Sources are sources as session_meta has them: strings such as "cli", or the
	// first member of an object such as {"subagent": …}, or that and the first of what it
	// holds, as in "subagent/review"; "" selects threads without one.
	Sources []string
}

// Page is a part of a list.
type Page struct {
	Heads []Head
	// NextCursor leads to the next page; "" where there is none.
	NextCursor string
	// BackCursor leads, in the other direction, to the page that begins with this one's
	// first head; "" where the page is empty.
	BackCursor string
	// Skipped are the errors that tell why files and folders which may be of threads are
	// not in the list: each names its path.
	Skipped []error
}

// List reads the heads of the rollouts that a query selects: of each thread its newest. Files without a user
// message are left out. Those without a thread's name, those that are empty, and files and
// folders that cannot be read are left out too, and told of in Page.Skipped. By created_at it opens no more files than
// the page needs, and one to know whether another page follows. An unusable cursor is
// a *CursorError.
func (s *Store) List(q Query) (Page, error) {
	from, err := q.Start()
	if err != nil {
		return Page{}, err
	}
	selects, err := s.selector(q)
	if err != nil {
		return Page{}, err
	}
	var page Page
	var last Position
	reader := headReader{store: s}
	skip := func(err error) { page.Skipped = append(page.Skipped, err) }
	for at, err := range s.positions(q, from, skip) {
		if err != nil {
			return Page{}, err
		}
		head, ok, err := reader.readListed(at.in(s.root(q)))
		if err != nil {
			skip(err)
		}
		if !ok {
			continue
		}
		if reader.update(&head); !selects(head) {
			continue
		}
		if q.Limit > 0 && len(page.Heads) == q.Limit {
			page.NextCursor = last.Cursor()
			break
		}
		if len(page.Heads) == 0 {
			page.BackCursor = at.BackCursor()
		}
		page.Heads = append(page.Heads, head)
		last = at
	}
	return page, nil
}

func (q Query) dir() string {
	if q.Archived {
		return archivedDir
	}
	return sessionsDir
}

func (s *Store) root(q Query) string { return filepath.Join(s.home, q.dir()) }

// positions yields what comes after from, and gives to skip why it passes over something.
func (s *Store) positions(q Query, from Position, skip func(error)) iter.Seq2[Position, error] {
	if q.SortKey == SortUpdated {
		return s.byUpdate(q, from, skip)
	}
	return func(yield func(Position, error) bool) {
		for path, err := range s.threads(walk{root: q.dir(), ascending: q.Ascending, after: from.Path, inclusive: from.Inclusive, onUnnamed: skip}) {
			if errors.Is(err, fs.ErrPermission) {
				skip(err)
				continue
			}
			if !yield(Position{Key: SortCreated, Path: path}, err) {
				return
			}
		}
	}
}

// byUpdate has to look at every file's time before it can yield the first.
func (s *Store) byUpdate(q Query, from Position, skip func(error)) iter.Seq2[Position, error] {
	return func(yield func(Position, error) bool) {
		all, err := s.updates(q, skip)
		if err != nil {
			yield(Position{}, err)
			return
		}
		for _, p := range all {
			if !from.precedes(p, q.Ascending) {
				continue
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// updates is all positions by time of update, in the order of the query.
func (s *Store) updates(q Query, skip func(error)) ([]Position, error) {
	var all []Position
	for p, err := range s.positions(Query{Archived: q.Archived}, Position{}, skip) {
		if err != nil {
			return nil, err
		}
		path := p.in(s.root(q))
		info, err := s.disk.Stat(path)
		if err != nil {
			skip(diskError("open", path, err))
			continue
		}
		all = append(all, Position{Key: SortUpdated, Path: p.Path, Updated: info.ModTime().UnixNano()})
	}
	slices.SortFunc(all, func(a, b Position) int {
		if a.before(b) == q.Ascending {
			return -1
		}
		return 1
	})
	return all, nil
}

// selector is the part of a query that needs to know the head.
func (s *Store) selector(q Query) (func(Head) bool, error) {
	var names map[string]string
	if q.Search != "" {
		var err error
		if names, err = s.Names(); err != nil {
			return nil, err
		}
	}
	term := strings.ToLower(q.Search)
	found := func(text string) bool { return strings.Contains(strings.ToLower(text), term) }
	related, err := s.related(q)
	return func(h Head) bool {
		return related(h) &&
			among(q.Providers, h.Meta.ModelProvider) &&
			among(q.Cwds, h.Meta.Cwd) &&
			(len(q.Sources) == 0 || amongSources(q.Sources, SourceWord(h.Meta.Source))) &&
			!amongSources(q.OtherSources, SourceWord(h.Meta.Source)) &&
			!slices.Contains(q.Excluded, h.ID) &&
			(term == "" || found(h.Preview) || found(names[h.ID]))
	}, err
}

func among(wanted []string, value string) bool {
	return len(wanted) == 0 || slices.Contains(wanted, value)
}

// SourceWord is a source of session_meta in one word, as Query.Sources has it, or in two with
// a slash between: "subagent/review".
func SourceWord(raw []byte) string {
	word, detail := firstMember(gjson.ParseBytes(raw))
	if more, _ := firstMember(detail); more != "" {
		word += "/" + more
	}
	return word
}

// firstMember is that of an object, and what it holds; else what is there, as a text.
func firstMember(v gjson.Result) (name string, value gjson.Result) {
	if !v.IsObject() {
		return v.String(), value
	}
	v.ForEach(func(key, first gjson.Result) bool {
		name, value = key.Str, first
		return false
	})
	return name, value
}

// amongSources tells whether a source is on a list, whole or with its first word.
func amongSources(list []string, source string) bool {
	word, _, _ := strings.Cut(source, "/")
	return slices.Contains(list, source) || slices.Contains(list, word)
}
