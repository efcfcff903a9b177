package rollout

import (
	"errors"
	"io/fs"

	"appserver/protocol"
)

// SpawnedBy is the thread whose agent has begun another one, by the source of that in
// session_meta; "" where no agent has.
func SpawnedBy(source []byte) string {
	if parent := protocol.SpawnOf(source).ParentThreadID; parent != nil {
		return *parent
	}
	return ""
}

// related is the part of a query that asks for threads which others have spawned.
func (s *Store) related(q Query) (func(Head) bool, error) {
	spawned, err := s.spawned(q.Ancestor)
	return func(h Head) bool {
		return (q.Parent == "" || SpawnedBy(h.Meta.Source) == q.Parent) && (q.Ancestor == "" || spawned[h.ID])
	}, err
}

// spawned are the threads to which a row of spawns leads from another, archived ones too. It
// reads the heads of all.
func (s *Store) spawned(ancestor string) (map[string]bool, error) {
	if ancestor == "" {
		return nil, nil
	}
	parents := map[string]string{}
	reader := headReader{store: s}
	for _, root := range Roots() {
		for path, err := range s.walk(walk{root: root}) {
			if err != nil && !errors.Is(err, fs.ErrPermission) {
				return nil, err
			}
			if found, err := reader.readOwn(s.absPath(root, path)); err == nil {
				parents[threadID(path)] = SpawnedBy(found.head.Meta.Source)
			}
		}
	}
	found := map[string]bool{}
	for id := range parents {
		found[id] = leadsTo(parents, id, ancestor)
	}
	return found, nil
}

// leadsTo tells whether a thread has another one among its ancestors. A row that leads back to
// its begin has an end, too.
func leadsTo(parents map[string]string, id, ancestor string) bool {
	for at, steps := parents[id], 0; at != "" && steps <= len(parents) && id != ancestor; at, steps = parents[at], steps+1 {
		if at == ancestor {
			return true
		}
	}
	return false
}
