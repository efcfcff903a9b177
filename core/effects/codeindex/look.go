package codeindex

import (
	"context"
	"fmt"
	"maps"
	"time"

	"appserver/core/effects/find"
)

const (
	// A batch is put when it has so many files, or bytes.
	batchFiles = 128
	batchBytes = 1 << 20
	// stepFiles is after how many files that have not changed the pace is looked at.
	stepFiles = 64
)

// look is one passage through a repository.
type look struct {
	*job
	ctx  context.Context
	tree *tree
	// kept has the files of the sink that were not seen yet.
	kept        map[string]string
	files, dirs []string
	batch       []File
	size        int
	count       Status
}

// look updates the sink. It reports whether another look is needed soon.
func (j *job) look(ctx context.Context) (more bool, err error) {
	j.pacer.begin()
	l := &look{job: j, ctx: ctx,
		count: Status{Repo: j.repo, Phase: Walking, Skipped: map[Reason]int{}, Watched: j.watch.complete}}
	if l.tree, err = openTree(j.root); err != nil {
		return false, err
	}
	defer l.tree.close()
	l.show()
	if l.kept, err = j.options.Sink.CodeFiles(ctx, j.repo); err != nil {
		return false, fmt.Errorf("ask what is kept: %w", err)
	}
	if err := j.options.Finder.WalkOwn(ctx, j.root, l.found); err != nil {
		return false, fmt.Errorf("look through %s: %w", j.root, err)
	}
	more = j.watch.follow(append([]string{"."}, l.dirs...))
	l.count.Phase, l.count.Watched = Reading, j.watch.complete
	if err := l.all(); err != nil {
		return false, err
	}
	if err := l.drop(); err != nil {
		return false, err
	}
	j.complete = true
	l.count.Phase = Idle
	l.note(l.tellAll)
	return more, nil
}

// show copies the counts to the status. A look that finds nothing new keeps the counts of the last one
// until its end. Otherwise all files would seem to disappear at each look.
func (l *look) show() {
	if !l.complete || l.count.Read >= batchFiles {
		l.note(l.tellAll)
	}
}

func (l *look) tellAll(s *Status) {
	*s = l.count
	s.Skipped = maps.Clone(l.count.Skipped)
}

// found takes what a walk gives.
func (l *look) found(paths []find.Path) {
	for _, p := range paths {
		reason := judgeName(p.Name)
		switch {
		case p.Directory:
			if !isForeign(p.Name) {
				l.dirs = append(l.dirs, p.Name)
			}
		case p.Other:
			l.skip(NoFile)
		case reason != "":
			l.skip(reason)
		case len(l.files) >= l.options.MaxFiles:
			l.skip(TooMany)
		default:
			l.files = append(l.files, p.Name)
		}
	}
	l.count.FilesTotal = len(l.files)
	l.show()
	l.pacer.step(l.ctx)
	l.rest(l.ctx, 0)
}

func (l *look) skip(r Reason) { l.count.Skipped[r]++ }

// all examines the files, and stores the new and changed ones.
func (l *look) all() error {
	l.watch.files = make(map[string]bool, len(l.files))
	for i, name := range l.files {
		if l.rest(l.ctx, 0); l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		l.watch.files[name] = true
		read := l.file(name)
		if l.tree.short != nil {
			return fmt.Errorf("read %s in %s: %w", name, l.root, l.tree.short)
		}
		l.count.FilesDone++
		if len(l.batch) >= batchFiles || l.size >= batchBytes {
			if err := l.put(); err != nil {
				return err
			}
		}
		if read || i%stepFiles == 0 {
			l.show()
			l.pacer.step(l.ctx)
		}
	}
	return l.put()
}

// file examines a file, and reports whether it had to be read.
func (l *look) file(name string) (read bool) {
	seen, reason := l.tree.stamp(name)
	if reason == "" && seen.size > l.options.MaxFile {
		reason = Large
	}
	if reason != "" {
		l.skip(reason)
		return false
	}
	known := parseMark(l.kept[name])
	if v, ok := l.verified[name]; ok && v.content == known.content {
		known = v
	}
	if seen.proves(known) {
		l.keepFile(name, known)
		return false
	}
	l.count.Read++
	l.reread(name, known)
	return true
}

// keepFile counts a file that the sink has.
func (l *look) keepFile(name string, m mark) {
	delete(l.kept, name)
	if reason := m.skipped(); reason != "" {
		l.skip(reason)
		return
	}
	l.count.Chunks += m.chunks
	l.count.Bytes += m.size
}

// reread reads a file, and has it put if it is another.
func (l *look) reread(name string, known mark) {
	at := time.Now()
	content, seen, reason := l.tree.read(name, l.options.MaxFile)
	if reason != "" {
		l.skip(reason)
		return
	}
	sum := hashOf(content)
	if reason = judgeContent(content); reason != "" {
		sum = "!" + string(reason)
	}
	if sum == known.content {
		known = seen.mark(sum, known.chunks, at)
		l.verified[name] = known
		l.keepFile(name, known)
		return
	}
	delete(l.verified, name)
	f := File{Path: name}
	if reason == "" {
		f.Chunks = Cut(name, content)
	}
	m := seen.mark(sum, len(f.Chunks), at)
	f.Hash = m.String()
	l.batch, l.size = append(l.batch, f), l.size+len(content)
	l.keepFile(name, m)
}

// put gives the batch to the sink.
func (l *look) put() error {
	if len(l.batch) == 0 {
		return l.ctx.Err()
	}
	if err := l.options.Sink.PutCode(l.ctx, l.repo, l.batch); err != nil {
		return fmt.Errorf("keep %s and others: %w", l.batch[0].Path, err)
	}
	l.batch, l.size = nil, 0
	return l.ctx.Err()
}

// drop forgets what the sink has and the repository has not.
func (l *look) drop() error {
	gone := make([]string, 0, batchFiles)
	flush := func() error {
		if len(gone) == 0 {
			return l.ctx.Err()
		}
		if err := l.options.Sink.DropCode(l.ctx, l.repo, gone); err != nil {
			return fmt.Errorf("forget %s and others: %w", gone[0], err)
		}
		gone = gone[:0]
		l.pacer.step(l.ctx)
		return l.ctx.Err()
	}
	for name := range l.kept {
		delete(l.verified, name)
		if gone = append(gone, name); len(gone) == batchFiles {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
