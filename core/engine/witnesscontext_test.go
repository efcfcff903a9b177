package engine_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// keeper is the client that keeps the list of context items itself, and is told the
// changes alone.
const keeper = 3

// listOf is the list of context items that a client has of a thread.
type listOf struct {
	conn   uint64
	thread string
}

// contextList is such a list, made of what the client was told. It is nil for a client
// that is told nothing.
type contextList struct {
	// known is set once the client has had all of the list.
	known    bool
	revision int64
	ids      []string
	items    map[string]string // by id, as they are told but for their places
}

// round is what the subscribers of a thread are told of one change, in a row.
type round struct {
	told  map[uint64]bool
	first *contextList
}

// take changes the list as a client does that is told so. What is wrong with it is
// told in words.
func (l *contextList) take(n gjson.Result) (wrong string) {
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
			return fmt.Sprintf("%s is told to be at %d, and is at %d", id, index, slices.Index(l.ids, id))
		}
		l.items[id] = placeless(item)
	}
	if total := int(n.Get("total").Int()); total != len(l.ids) {
		return fmt.Sprintf("%d of %d items are known", len(l.ids), total)
	}
	if l.revision > n.Get("revision").Int() {
		return fmt.Sprintf("revision %d was told before", l.revision)
	}
	l.revision = n.Get("revision").Int()
	return ""
}

// placeless is an item without its index, which comes first.
func placeless(item gjson.Result) string {
	_, rest, _ := strings.Cut(item.Raw, ",")
	return rest
}

// is tells whether two clients have the same list.
func (l *contextList) is(other *contextList) bool {
	return slices.Equal(l.ids, other.ids) &&
		!slices.ContainsFunc(l.ids, func(id string) bool { return l.items[id] != other.items[id] })
}

// seeItems checks that what a client is told of the context is on the disk, that it
// fits what the client was told before, and that all are told the same.
func (w *witness) seeItems(m message, thread string) {
	w.promise(m, thread, revisionIn(m.body))
	if !m.body.Get("full").Bool() && m.to.Conn != keeper {
		w.report("%v: the client does not keep the list, and is told changes", m)
	}
	list := w.lists[listOf{m.to.Conn, thread}]
	if list == nil || !list.known && !m.body.Get("full").Bool() {
		return
	}
	if wrong := list.take(m.body); wrong != "" {
		w.report("%v: the list does not fit: %s", m, wrong)
	}
	r := w.rounds[thread]
	if r == nil || r.told[m.to.Conn] {
		r = &round{map[uint64]bool{},
			&contextList{revision: list.revision, ids: slices.Clone(list.ids), items: cloned(list.items)}}
		w.rounds[thread] = r
	}
	r.told[m.to.Conn] = true
	if !list.is(r.first) {
		w.report("%v: clients are told of different lists", m)
	}
}

func cloned(items map[string]string) map[string]string {
	all := map[string]string{}
	for id, item := range items {
		all[id] = item
	}
	return all
}

// seeContextReply notes who has which list, and what the answer to an edit promises.
func (w *witness) seeContextReply(m message) {
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
	case m.method == "context/getItems" && list != nil && w.listAtAsking[m.to] == list:
		*list = contextList{known: true, items: map[string]string{}}
		if wrong := list.take(m.body); wrong != "" {
			w.report("%v: the list is wrong: %s", m, wrong)
		}
	case isEdit(m.method):
		w.promise(m, thread, revisionIn(m.body))
	}
}

// promise notes that a fact is to be kept, and checks that it is already.
func (w *witness) promise(m message, thread, fact string) {
	if fact == "" || w.memory[thread] {
		return
	}
	if !factsOf(worstCrash(w.mem), thread)[fact] {
		w.report("%v: a crash now loses the %s", m, fact)
	}
	w.promises[thread] = append(w.promises[thread], fact)
}

// revisionIn is the fact that the context has the revision that a message tells.
func revisionIn(body gjson.Result) string {
	if revision := body.Get("revision").Int(); revision > 0 {
		return revisionFact(revision)
	}
	return ""
}

func revisionFact(revision int64) string { return fmt.Sprintf("revision %d of the context", revision) }
