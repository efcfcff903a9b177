package listing

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"slices"

	"appserver/platform/disk"
	"appserver/rollout/home"
	"appserver/rollout/line"
)

// Dependent returns a thread whose history begins in a file of the given thread, or "".
func (l *Lister) Dependent(id string) (by string, err error) {
	own, others, err := l.splitFiles(id)
	reader := headReader{lister: l}
	for _, path := range others {
		if err != nil {
			break
		}
		var depends bool
		if depends, err = reader.dependsOn(path, own); depends {
			return home.ThreadID(path), nil
		}
	}
	return "", err
}

// splitFiles returns the file ids of a thread, and the paths of all other threads. Folders
// that are permanently unreadable are skipped.
func (l *Lister) splitFiles(id string) (own, others []string, unread error) {
	for _, root := range home.Roots() {
		for path, err := range l.home.Walk(home.Walk{Root: root}) {
			switch {
			case err != nil:
				unread = cmp.Or(unread, disk.TransientOnly(err))
			case home.ThreadID(path) == id:
				own = append(own, home.FileID(path))
			default:
				others = append(others, l.home.AbsPath(root, path))
			}
		}
	}
	return own, others, unread
}

// Dependents maps each thread that others depend on to one of those others. If ctx ends, the
// map is incomplete.
func (l *Lister) Dependents(ctx context.Context) (map[string]string, error) {
	threads, origins := map[string]string{}, map[string]string{}
	reader := headReader{lister: l}
	for _, root := range home.Roots() {
		for path, err := range l.home.Walk(home.Walk{Root: root}) {
			if ctx.Err() != nil {
				break
			}
			var id string
			if err == nil {
				threads[home.FileID(path)] = home.ThreadID(path)
				id, err = reader.originOf(l.home.AbsPath(root, path))
			}
			if err = disk.TransientOnly(err); err != nil {
				return nil, err
			}
			if id != "" {
				origins[home.FileID(path)] = id
			}
		}
	}
	users := map[string]string{}
	for file, origin := range origins {
		if used, by := threads[origin], threads[file]; used != by {
			users[used] = by
		}
	}
	return users, nil
}

// originOf returns the id of the file in which a rollout's history begins, or "" for the
// rollout itself.
func (r *headReader) originOf(path string) (string, error) {
	first, whole, err := r.firstLine(path)
	if err != nil ||
		whole && !bytes.Contains(first, []byte("history_base")) &&
			!bytes.Contains(first, []byte("forked_from_ordinal_exclusive")) {
		return "", err
	}
	found, err := r.readOwn(path)
	return found.origin.ID, err
}

// dependsOn reports whether a rollout's history begins in one of the files. A permanently
// unreadable file depends on nothing.
func (r *headReader) dependsOn(path string, ids []string) (bool, error) {
	first, whole, err := r.firstLine(path)
	names := func(id string) bool { return bytes.Contains(first, []byte(id)) }
	if err != nil || whole && !slices.ContainsFunc(ids, names) {
		return false, disk.TransientOnly(err)
	}
	found, err := r.readOwn(path)
	return err == nil && slices.Contains(ids, found.origin.ID), disk.TransientOnly(err)
}

// firstLine returns the first line of a file as far as it is in the head. whole reports
// whether that is the entire line.
func (r *headReader) firstLine(path string) (first []byte, whole bool, err error) {
	file, info, err := disk.Open(r.lister.disk, path, os.O_RDONLY)
	if err != nil {
		return nil, false, err
	}
	data, err := r.fill(file, min(lengthBound(file, info), headSize))
	if err = cmp.Or(err, file.Close()); err != nil {
		return nil, false, disk.Wrap("read", path, err)
	}
	first, _, whole = bytes.Cut(data, []byte("\n"))
	return first, whole, nil
}

// Segment is the inherited part of a file, from its start.
type Segment struct {
	Path string
	// End is the end of the segment, in bytes.
	End int64
}

// History returns the segments that precede a rollout's own lines, oldest first. It stops at a
// file that cannot be found or whose end is unknown. The error explains why.
func (l *Lister) History(path string) (segments []Segment, err error) {
	reader := headReader{lister: l}
	for range line.MaxOrigins {
		var found headScan
		if found, err = reader.readOwn(path); err != nil || found.origin.EndOffset == 0 {
			break
		}
		if path, err = l.home.FindFile(found.origin.ID); err != nil {
			break
		}
		segments = append(segments, Segment{path, found.origin.EndOffset})
	}
	slices.Reverse(segments)
	return segments, err
}
