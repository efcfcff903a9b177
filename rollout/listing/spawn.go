package listing

import (
	"errors"
	"io/fs"

	"appserver/protocol"
	"appserver/rollout/home"
)

// SpawnedBy returns the parent thread in the source of a session_meta, or "" if no agent
// spawned the thread.
func SpawnedBy(source []byte) string {
	if parent := protocol.SpawnOf(source).ParentThreadID; parent != nil {
		return *parent
	}
	return ""
}

// related returns the filter of a query by parent and ancestor.
func (l *Lister) related(q Query) (func(Head) bool, error) {
	spawned, err := l.spawned(q.Ancestor)
	return func(h Head) bool {
		return (q.Parent == "" || SpawnedBy(h.Meta.Source) == q.Parent) && (q.Ancestor == "" || spawned[h.ID])
	}, err
}

// spawned returns the descendants of a thread, including archived ones. It reads the heads of
// all rollouts.
func (l *Lister) spawned(ancestor string) (map[string]bool, error) {
	if ancestor == "" {
		return nil, nil
	}
	parents := map[string]string{}
	reader := headReader{lister: l}
	for _, root := range home.Roots() {
		for path, err := range l.home.Walk(home.Walk{Root: root}) {
			if err != nil && !errors.Is(err, fs.ErrPermission) {
				return nil, err
			}
			if found, err := reader.readOwn(l.home.AbsPath(root, path)); err == nil {
				parents[home.ThreadID(path)] = SpawnedBy(found.head.Meta.Source)
			}
		}
	}
	found := map[string]bool{}
	for id := range parents {
		found[id] = leadsTo(parents, id, ancestor)
	}
	return found, nil
}

// leadsTo reports whether ancestor is among the ancestors of a thread. A cycle ends the
// search.
func leadsTo(parents map[string]string, id, ancestor string) bool {
	at := parents[id]
	for steps := 0; at != "" && steps <= len(parents) && id != ancestor; steps++ {
		if at == ancestor {
			return true
		}
		at = parents[at]
	}
	return false
}
