package shared

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/fleet"
)

// bootFile has a random id of the present run of the kernel.
const bootFile = "/proc/sys/kernel/random/boot_id"

// presence is the file by which the next process of this home finds out that this process was killed.
// While the process runs, it holds a lock, which only means something to processes of the same kernel.
type presence struct {
	files *rollout.Store
	boot  string
	lock  interface{ Release() error }
}

// mark is the content of a presence file.
type mark struct {
	Node, Incarnation, Boot string
}

// newPresence returns the presence of a process. It is nil if the kernel cannot be identified.
func newPresence(files *rollout.Store) *presence {
	if boot := bootID(); boot != "" {
		return &presence{files: files, boot: boot}
	}
	return nil
}

// bootID returns the id of the present run of the kernel, or "" if it has none.
func bootID() string {
	id, err := os.ReadFile(bootFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

func (p *presence) path(node string) string { return p.files.Path("nodes", node) }

// enter marks this process, or replaces its mark.
func (p *presence) enter(n fleet.Node) (err error) {
	if p == nil {
		return nil
	}
	if p.lock == nil {
		if p.lock, err = p.files.Lock(n.ID); err != nil {
			return err
		}
	}
	text, err := protocol.Marshal(mark{n.ID, n.Incarnation, p.boot})
	if err != nil {
		return err
	}
	path := p.path(n.ID)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// leave removes the mark of this process.
func (p *presence) leave(node string) error {
	if p == nil || p.lock == nil {
		return nil
	}
	err := os.Remove(p.path(node))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, p.lock.Release())
}

// endKilled ends the leases of processes of this home that were killed, so that this process can take
// their threads at once.
func (p *presence) endKilled(ctx context.Context, d fleet.Driver) (failed error) {
	if p == nil {
		return nil
	}
	paths, err := filepath.Glob(p.path("*"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		failed = errors.Join(failed, p.endOne(ctx, d, path))
	}
	return failed
}

func (p *presence) endOne(ctx context.Context, d fleet.Driver, path string) error {
	lock, err := p.files.Lock(filepath.Base(path))
	var locked *rollout.LockedError
	if errors.As(err, &locked) {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	var m mark
	if err == nil && protocol.Unmarshal(text, &m) == nil && m.Boot == p.boot {
		err = d.Leave(ctx, fleet.Node{ID: m.Node, Incarnation: m.Incarnation})
	}
	if err == nil || errors.Is(err, os.ErrNotExist) {
		_ = os.Remove(path)
		err = nil
	}
	return errors.Join(err, lock.Release())
}
