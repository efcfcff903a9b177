package snapshot

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"maps"
	"slices"
	"sort"
)

// IDs maps each id to one position, the one that was set last. An id from a snapshot is looked up by its hash in the
// bytes of the snapshot. The zero IDs is empty.
type IDs struct {
	recent map[string]int32
	// stored has the hash and the position of ids, sorted by hash.
	stored []byte
}

// The lengths in stored, in bytes.
const (
	hashSize = 8
	idSize   = hashSize + 4 // of a hash and a position
)

var errIDs = errors.New("the ids of the snapshot are cut off")

// Set sets the position of an id.
func (s *IDs) Set(id string, position int32) {
	if s.recent == nil {
		s.recent = map[string]int32{}
	}
	s.recent[id] = position
}

// Delete removes an id that was set. An id from a snapshot is not removed: the has of Find must report false for its
// position from now on.
func (s *IDs) Delete(id string) { delete(s.recent, id) }

// Find returns the position of an id. has reports whether the element at a position has the id. Find calls it for ids
// from a snapshot only: two of them can have the same hash, and the element at a position can have changed.
func (s *IDs) Find(id string, has func(position int32) bool) (position int32, found bool) {
	if position, found = s.recent[id]; found || len(s.stored) == 0 {
		return position, found
	}
	hash, count := hashOf(id), len(s.stored)/idSize
	for i := sort.Search(count, func(i int) bool { return s.hashAt(i) >= hash }); i < count && s.hashAt(i) == hash; i++ {
		if position = s.positionAt(i); has(position) {
			return position, true
		}
	}
	return 0, false
}

func hashOf(id string) uint64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(id)) // a hash never fails
	return hash.Sum64()
}

func (s *IDs) hashAt(i int) uint64 { return binary.BigEndian.Uint64(s.stored[i*idSize:]) }

func (s *IDs) positionAt(i int) int32 {
	return int32(binary.BigEndian.Uint32(s.stored[i*idSize+hashSize:]))
}

// Clone returns a copy.
func (s *IDs) Clone() IDs { return IDs{maps.Clone(s.recent), s.stored} }

// Write writes the ids.
func (s *IDs) Write(w *Writer) {
	type entry struct {
		hash     uint64
		position int32
	}
	var entries []entry
	for id, position := range s.recent {
		entries = append(entries, entry{hashOf(id), position})
	}
	for i := range len(s.stored) / idSize {
		entries = append(entries, entry{s.hashAt(i), s.positionAt(i)})
	}
	// Stable, because a recent position of an id counts before a stored one.
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.hash, b.hash) })
	content := make([]byte, 0, len(entries)*idSize)
	for _, e := range entries {
		content = binary.BigEndian.AppendUint64(content, e.hash)
		content = binary.BigEndian.AppendUint32(content, uint32(e.position))
	}
	w.Section(content)
}

// Read reads ids that [IDs.Write] wrote.
func (s *IDs) Read(r *Reader) {
	*s = IDs{stored: r.Section()}
	if len(s.stored)%idSize != 0 {
		r.Fail(errIDs)
	}
}
