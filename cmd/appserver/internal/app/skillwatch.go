package app

import (
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"time"

	"appserver/core/effects/skill"
)

const (
	// skillsInterval is the time between two checks of the skill files.
	skillsInterval = 10 * time.Second
	// maxWatched is the maximum number of watched working directories. A new one replaces the oldest.
	maxWatched = 16
)

// watchedFolder is a working directory for which a client or a turn requested skills.
type watchedFolder struct {
	cwd  string
	hash uint64
}

// watch calls changed after the skills of a watched directory change. Its goroutine ends with stop.
func (s *skills) watch(changed func()) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-quit:
				return
			case <-time.After(skillsInterval):
			}
			if s.haveChanged() {
				changed()
			}
		}
	}()
	return func() {
		close(quit)
		<-ended
	}
}

// watchFolder adds a directory to the watched ones.
func (s *skills) watchFolder(cwd string, found []skill.Skill) {
	hash := hashOf(found)
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.watched, func(w watchedFolder) bool { return w.cwd == cwd }) {
		return
	}
	if len(s.watched) == maxWatched {
		s.watched = slices.Delete(s.watched, 0, 1)
	}
	s.watched = append(s.watched, watchedFolder{cwd, hash})
}

// haveChanged reports whether skill files changed since the last check, and records their new state.
func (s *skills) haveChanged() (changed bool) {
	s.mu.Lock()
	watched := slices.Clone(s.watched)
	s.mu.Unlock()
	for i, w := range watched {
		found, _ := skill.Find(w.cwd, s.places())
		watched[i].hash = hashOf(found)
		changed = changed || watched[i].hash != w.hash
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, w := range s.watched {
		if at := slices.IndexFunc(watched, func(now watchedFolder) bool { return now.cwd == w.cwd }); at >= 0 {
			s.watched[i].hash = watched[at].hash
		}
	}
	return changed
}

// hashOf returns a hash that changes if a skill is added or removed, or if its file is written.
func hashOf(found []skill.Skill) uint64 {
	h := fnv.New64a()
	for _, f := range found {
		var size, written int64
		if info, err := os.Stat(f.Path); err == nil {
			size, written = info.Size(), info.ModTime().UnixNano()
		}
		fmt.Fprintln(h, f.Path, f.Name, size, written) // never fails
	}
	return h.Sum64()
}
