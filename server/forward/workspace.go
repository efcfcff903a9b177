package forward

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"

	"appserver/protocol"
)

// methodWorkspaces is the method of the first notification on a link for notifications. It is for the edge
// itself.
const methodWorkspaces = "node/workspaces"

type workspacesNotification struct {
	Workspaces []string `json:"workspaces"`
}

// Covers reports whether a directory is in one of the workspaces. No workspaces are all directories.
func Covers(workspaces []string, dir string) bool {
	return len(workspaces) == 0 || slices.ContainsFunc(workspaces, func(root string) bool {
		rel, err := filepath.Rel(root, dir)
		return err == nil && filepath.IsLocal(rel)
	})
}

// announcement returns the first message on a link for notifications.
func announcement(workspaces []string) ([]byte, error) {
	text, err := protocol.Marshal(map[string]any{
		"method": methodWorkspaces, "params": workspacesNotification{workspaces}})
	return append(text, '\n'), err
}

// noteWorkspaces notes where another node runs turns.
func (f *Forwarder) noteWorkspaces(n Node, params json.RawMessage) {
	var w workspacesNotification
	if err := protocol.Unmarshal(params, &w); err != nil {
		f.reportNode("its workspaces cannot be read", n, err)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.audience[n.Address] = &listened{n, w.Workspaces, true}
}

// nodeFor returns another node that runs turns in a directory in which this one does not, or the zero
// value. Nodes with a list of workspaces come first. Nodes that refused are left out.
func (f *Forwarder) nodeFor(dir string, refused []Node) Node {
	if dir == "" || Covers(f.Workspaces, dir) {
		return Node{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []*listened
	for _, n := range f.audience {
		if n.known && Covers(n.workspaces, dir) && !slices.Contains(refused, n.node) {
			found = append(found, n)
		}
	}
	if len(found) == 0 {
		return Node{}
	}
	return slices.MinFunc(found, func(a, b *listened) int {
		return cmp.Or(-cmp.Compare(min(1, len(a.workspaces)), min(1, len(b.workspaces))), cmp.Compare(a.node.ID, b.node.ID))
	}).node
}

// routeStart takes a request for a new thread whose directory is on another node.
func (f *Forwarder) routeStart(to protocol.Caller, method protocol.Method, params json.RawMessage) bool {
	dir := startDir(params)
	if f.nodeFor(dir, nil) == (Node{}) {
		return false
	}
	s := f.session(to.Conn)
	r := s.requestOf(to, "", method, params)
	r.dir = dir
	s.begin(r)
	return true
}

// startDir returns the directory of a new thread, or "" if its params have none. A relative one is below the
// directory of this node, so it is none.
func startDir(params json.RawMessage) string {
	var p struct {
		Cwd          string                            `json:"cwd"`
		Environments *[]protocol.TurnEnvironmentParams `json:"environments"`
	}
	if protocol.Unmarshal(params, &p) != nil {
		return "" // the handler rejects them
	}
	if p.Environments != nil {
		if len(*p.Environments) != 1 {
			return "" // as above
		}
		p.Cwd = (*p.Environments)[0].Cwd
	}
	if !filepath.IsAbs(p.Cwd) {
		return ""
	}
	return filepath.Clean(p.Cwd)
}

// begin sends a request for a new thread to a node that has its directory, and has not refused it. If there is
// none, this node serves it.
func (s *session) begin(r *request) {
	s.work.Go(func() {
		for n := s.nodeFor(r.dir, r.refused); n != (Node{}); n = s.nodeFor(r.dir, r.refused) {
			r.refused = append(r.refused, n)
			if s.forward(n, r) {
				return
			}
		}
		s.serve(r)
	})
}
