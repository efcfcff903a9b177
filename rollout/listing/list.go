package listing

import (
	"errors"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/platform/disk"
	"appserver/rollout/home"
)

// SortKey is the order of a list.
type SortKey string

// The zero SortKey is SortCreated, the time in the file name. SortUpdated is Head.UpdatedAt of
// listed heads.
const (
	SortCreated SortKey = "created_at"
	SortUpdated SortKey = "updated_at"
)

// Query selects rollouts. The zero value selects all that are not archived, newest first. An
// empty list or string does not filter.
type Query struct {
	// Limit is the maximum number of heads of a page, or 0 for all.
	Limit int
	// Cursor is the NextCursor of the previous page.
	Cursor    string
	Archived  bool
	Ascending bool
	// Unlisted adds the threads without a message of the user.
	Unlisted bool
	SortKey  SortKey
	// Providers lists the names of model providers.
	Providers []string
	// Cwds lists working directories, which are compared as strings.
	Cwds []string
	// Search is a part of the preview or the name, regardless of case.
	Search string
	// OtherSources lists sources to omit, in the form of Sources.
	OtherSources []string
	// Excluded lists the ids of threads to omit.
	Excluded []string
	// Parent selects the threads that it spawned directly. Ancestor selects all threads that
	// descend from it.
	Parent, Ancestor string
	// Sources lists sources of session_meta. A source is a string such as "cli", or the first
	// member of an object such as {"subagent": …}. It may be followed by the first member
	// within, as in "subagent/review". "" selects threads without a source.
	Sources []string
}

// Page is a part of a list.
type Page struct {
	Heads []Head
	// NextCursor is the cursor of the next page, or "".
	NextCursor string
	// BackCursor is the cursor for the other direction, beginning with the first head of this
	// page. It is "" for an empty page.
	BackCursor string
	// Skipped lists the errors of files and folders that may belong to threads but are not
	// listed. Each names its path.
	Skipped []error
}

// List returns the heads of the rollouts that a query selects, one for each thread. Unless Query.Unlisted
// is set, it omits files without a user message. It also omits files without a thread id in their names, empty
// files, and unreadable files and folders; Page.Skipped has their errors. By created_at, it
// opens the files of the page and one more. By updated_at, it also reads the ends of all files
// that have changed since the previous such list. An invalid cursor is a *CursorError.
func (l *Lister) List(q Query) (Page, error) {
	from, err := q.Start()
	if err != nil {
		return Page{}, err
	}
	selects, err := l.selector(q)
	if err != nil {
		return Page{}, err
	}
	var page Page
	var last Position
	reader := headReader{lister: l}
	skip := func(err error) { page.Skipped = append(page.Skipped, err) }
	for at, err := range l.positions(q, from, skip) {
		if err != nil {
			return Page{}, err
		}
		head, ok, err := reader.readListed(at.in(l.root(q)))
		if err != nil {
			skip(err)
		}
		if !ok && !(q.Unlisted && err == nil) {
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
		return home.Archived
	}
	return home.Sessions
}

func (l *Lister) root(q Query) string { return l.home.Path(q.dir()) }

// positions returns an iterator over the positions after from. It calls skip with the error of
// everything that it omits.
func (l *Lister) positions(q Query, from Position, skip func(error)) iter.Seq2[Position, error] {
	if q.SortKey == SortUpdated {
		return l.byUpdate(q, from, skip)
	}
	return func(yield func(Position, error) bool) {
		for path, err := range l.home.Threads(home.Walk{
			Root: q.dir(), Ascending: q.Ascending, After: from.Path, Inclusive: from.Inclusive, OnUnnamed: skip,
		}) {
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

// byUpdate reads the update times of all files before the first position.
func (l *Lister) byUpdate(q Query, from Position, skip func(error)) iter.Seq2[Position, error] {
	return func(yield func(Position, error) bool) {
		all, err := l.updates(q, skip)
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

// updates returns all positions by time of update, in the order of the query.
func (l *Lister) updates(q Query, skip func(error)) ([]Position, error) {
	var all []Position
	times := l.updateTimes.begin(q.dir())
	for p, err := range l.positions(Query{Archived: q.Archived}, Position{}, skip) {
		if err != nil {
			return nil, err
		}
		path := p.in(l.root(q))
		info, err := l.disk.Stat(path)
		if err != nil {
			skip(disk.Wrap("open", path, err))
			continue
		}
		all = append(all, Position{Key: SortUpdated, Path: p.Path, Updated: times.of(l, p.Path, path, info)})
	}
	l.updateTimes.end(q.dir(), times)
	slices.SortFunc(all, func(a, b Position) int {
		if a.before(b) == q.Ascending {
			return -1
		}
		return 1
	})
	return all, nil
}

// selector returns the filter of a query that needs the head.
func (l *Lister) selector(q Query) (func(Head) bool, error) {
	var names map[string]string
	if q.Search != "" {
		var err error
		if names, err = l.home.Names(); err != nil {
			return nil, err
		}
	}
	term := strings.ToLower(q.Search)
	found := func(text string) bool { return strings.Contains(strings.ToLower(text), term) }
	related, err := l.related(q)
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

// SourceWord returns a source of session_meta in the form of Query.Sources, with one or two
// words: "subagent/review".
func SourceWord(raw []byte) string {
	word, detail := firstMember(gjson.ParseBytes(raw))
	if more, _ := firstMember(detail); more != "" {
		word += "/" + more
	}
	return word
}

// firstMember returns the first member of an object, or the text of another value.
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

// amongSources reports whether a list has the source, or its first word.
func amongSources(list []string, source string) bool {
	word, _, _ := strings.Cut(source, "/")
	return slices.Contains(list, source) || slices.Contains(list, word)
}
