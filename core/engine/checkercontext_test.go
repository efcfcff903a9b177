package engine_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// mirror is the client that keeps its own list of context items and receives only changes.
const mirror = 3

// listOf is the list of context items that a client has of a thread.
type listOf struct {
	conn   uint64
	thread string
}

// contextList is the list of a client, built from the notifications. It is nil for a client that
// receives none.
type contextList struct {
	// known is set once the client received the full list.
	known    bool
	revision int64
	ids      []string
	items    map[string]string // by id, as JSON without the index
}

// round is the notifications about one change, sent to the subscribers of a thread in a row. New items of a turn are
// sent to the mirror only.
type round struct {
	sent  map[uint64]bool
	usage string
	first *contextList
}

// apply changes the list as a client does. It returns a description of the first contradiction, or "".
func (l *contextList) apply(n gjson.Result) (problem string) {
	if n.Get("full").Bool() {
		l.known, l.ids, l.items = true, nil, map[string]string{}
	}
	for _, id := range n.Get("removedIds").Array() {
		l.ids = slices.DeleteFunc(l.ids, func(known string) bool { return known == id.Str })
		delete(l.items, id.Str)
	}
	for _, item := range n.Get("items").Array() {
		id, index := item.Get("id").Str, int(item.Get("index").Int())
		if _, known := l.items[id]; !known && index > len(l.ids) {
			return fmt.Sprintf("%s is at %d of %d items", id, index, len(l.ids))
		} else if !known {
			l.ids = slices.Insert(l.ids, index, id)
		}
		if slices.Index(l.ids, id) != index {
			return fmt.Sprintf("%s has index %d, and is at %d", id, index, slices.Index(l.ids, id))
		}
		l.items[id] = withoutIndex(item)
	}
	if total := int(n.Get("total").Int()); total != len(l.ids) {
		return fmt.Sprintf("%d of %d items are known", len(l.ids), total)
	}
	if l.revision > n.Get("revision").Int() {
		return fmt.Sprintf("the revision was %d before", l.revision)
	}
	l.revision = n.Get("revision").Int()
	return ""
}

// withoutIndex returns the JSON of an item without its first member, the index.
func withoutIndex(item gjson.Result) string {
	_, rest, _ := strings.Cut(item.Raw, ",")
	return rest
}

// equal reports whether two clients have the same list.
func (l *contextList) equal(other *contextList) bool {
	return slices.Equal(l.ids, other.ids) &&
		!slices.ContainsFunc(l.ids, func(id string) bool { return l.items[id] != other.items[id] })
}

// checkContextItems checks that the revision of a ContextItems notification is durable, that the
// changes apply to the client's list, and that all clients then have the same list.
func (w *checker) checkContextItems(m message, thread string) {
	w.promise(m, thread, revisionIn(m.body))
	if !m.body.Get("full").Bool() && m.to.Conn != mirror {
		w.report("%v: the client asked for full lists, and receives changes", m)
	}
	list := w.lists[listOf{m.to.Conn, thread}]
	if list == nil || !list.known && !m.body.Get("full").Bool() {
		return
	}
	if problem := list.apply(m.body); problem != "" {
		w.report("%v: the notification does not match the list: %s", m, problem)
	}
	r := w.rounds[thread]
	usage := m.body.Get("usage").Raw
	if r == nil || r.sent[m.to.Conn] || r.usage != usage {
		r = &round{map[uint64]bool{}, usage,
			&contextList{revision: list.revision, ids: slices.Clone(list.ids), items: cloned(list.items)}}
		w.rounds[thread] = r
	}
	r.sent[m.to.Conn] = true
	if !list.equal(r.first) {
		w.report("%v: clients have different lists", m)
	}
}

func cloned(items map[string]string) map[string]string {
	all := map[string]string{}
	for id, item := range items {
		all[id] = item
	}
	return all
}

// checkContextResult records the list of the client, and checks that an edit is durable.
func (w *checker) checkContextResult(m message) {
	thread := w.requests[m.to].thread
	if id := m.body.Get("thread.id").Str; id != "" {
		thread = id
	}
	key := listOf{m.to.Conn, thread}
	list := w.lists[key]
	switch {
	case m.method == "thread/start":
		w.lists[key] = &contextList{known: true, items: map[string]string{}}
	case m.method == "thread/resume" && list == nil:
		w.lists[key] = &contextList{items: map[string]string{}}
	case m.method == "thread/unsubscribe":
		delete(w.lists, key)
	case m.method == "context/getItems" && list != nil && w.listAtRequest[m.to] == list:
		*list = contextList{known: true, items: map[string]string{}}
		if problem := list.apply(m.body); problem != "" {
			w.report("%v: the list is wrong: %s", m, problem)
		}
	case isEdit(m.method):
		w.promise(m, thread, revisionIn(m.body))
	}
}

// promise records a fact that a message reported, and checks that it is durable.
func (w *checker) promise(m message, thread, fact string) {
	if fact == "" || w.memory[thread] {
		return
	}
	if !factsOf(worstCrash(w.mem), thread)[fact] {
		w.report("%v: a crash at this time loses the %s", m, fact)
	}
	w.promises[thread] = append(w.promises[thread], fact)
}

// revisionIn returns the fact that the context has the revision of a message, or "".
func revisionIn(body gjson.Result) string {
	if revision := body.Get("revision").Int(); revision > 0 {
		return revisionFact(revision)
	}
	return ""
}

func revisionFact(revision int64) string { return fmt.Sprintf("revision %d of the context", revision) }
