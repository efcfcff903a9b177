package rollout

import (
	"cmp"
	"os"

	"appserver/platform/disk"
	"appserver/rollout/home"
	"appserver/rollout/line"
)

// findOrigin returns the path of an origin at the given depth of the chain.
func (s *Store) findOrigin(id string, depth int) (string, error) {
	if depth >= line.MaxOrigins {
		return "", &home.NotFoundError{ID: id}
	}
	return s.FindFile(id)
}

// afterOrigin returns a handler that inserts the inherited lines after the first line. The
// first line replaces the first line of the origin. An unreadable origin is reported as
// damage. With a shortage of file descriptors, the whole load fails instead.
func (l *loading) afterOrigin(
	handle func(*line.Parsed, linePosition),
	depth int,
) func(*line.Parsed, linePosition) {
	begun := false
	return func(entry *line.Parsed, at linePosition) {
		o := line.Origin{}
		if !begun {
			o, begun = line.OriginOf(&entry.RolloutLine), true
		}
		if o.ID == "" {
			handle(entry, at)
			return
		}
		l.dependent = true
		entry.Ordinal = new(int64(0))
		handle(entry, at)
		err := l.loadOrigin(o, handle, depth)
		switch {
		case disk.IsShortage(err):
			l.shortage = err
		case err != nil:
			l.Damage = append(l.Damage, line.Damage{Line: 1, Reason: "the history before it cannot be read: " + err.Error()})
		}
	}
}

func (l *loading) loadOrigin(o line.Origin, handle func(*line.Parsed, linePosition), depth int) error {
	path, err := l.store.findOrigin(o.ID, depth)
	if err != nil {
		return err
	}
	file, _, err := disk.Open(l.store.disk, path, os.O_RDONLY)
	if err != nil {
		return err
	}
	before, err := l.store.loadingOf(path, l.lines, l.lines.addFile(file, path, true))
	if err != nil {
		return err
	}
	before.handle = before.afterOrigin(func(entry *line.Parsed, at linePosition) {
		if o.IncludesLine(&entry.RolloutLine) {
			handle(entry, at)
		}
	}, depth+1)
	return cmp.Or(before.run(), before.shortage, disk.Problem(file))
}
