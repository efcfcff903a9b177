package snapshot

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"iter"
	"math"
	"slices"
	"sort"
)

// Positions finds all positions of an id, which can repeat. It has eight bytes for each position: a hash of the id, and
// the position. A search goes through all positions that were added since the snapshot, so it is for many ids that are
// rarely looked up. The zero Positions is empty.
type Positions struct {
	// recent has the positions that were added, in order.
	recent []uint64
	// stored has the positions of the snapshot, sorted by hash and position. Those from end on were cut.
	stored []byte
	end    uint32
}

const hashBits, positionSize = 32, 8

var errPositions = errors.New("the positions of ids in the snapshot are cut off")

// Add adds a position of an id. It must be greater than all positions so far.
func (s *Positions) Add(id string, position int) {
	s.recent = append(s.recent, shortHash(id)<<hashBits|uint64(uint32(position)))
}

// Cut removes the positions from one on.
func (s *Positions) Cut(from int) {
	s.end = min(s.end, uint32(from))
	n := sort.Search(len(s.recent), func(i int) bool { return uint32(s.recent[i]) >= uint32(from) })
	s.recent = slices.Clip(s.recent[:n])
}

// Backward returns the positions that an id may have, the last one first. The ids at some of them may be others with
// the same hash.
func (s *Positions) Backward(id string) iter.Seq[int] {
	return func(yield func(int) bool) {
		hash := shortHash(id)
		for _, entry := range slices.Backward(s.recent) {
			if entry>>hashBits == hash && !yield(int(uint32(entry))) {
				return
			}
		}
		behind := sort.Search(len(s.stored)/positionSize, func(i int) bool { return s.at(i)>>hashBits > hash })
		for i := behind - 1; i >= 0 && s.at(i)>>hashBits == hash; i-- {
			if position := uint32(s.at(i)); position < s.end && !yield(int(position)) {
				return
			}
		}
	}
}

func shortHash(id string) uint64 {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(id)) // a hash never fails
	return uint64(hash.Sum32())
}

func (s *Positions) at(i int) uint64 { return binary.BigEndian.Uint64(s.stored[i*positionSize:]) }

// Write writes the positions.
func (s *Positions) Write(w *Writer) {
	entries := make([]uint64, 0, len(s.recent)+len(s.stored)/positionSize)
	for i := range len(s.stored) / positionSize {
		if entry := s.at(i); uint32(entry) < s.end {
			entries = append(entries, entry)
		}
	}
	entries = append(entries, s.recent...)
	slices.Sort(entries)
	content := make([]byte, 0, len(entries)*positionSize)
	for _, entry := range entries {
		content = binary.BigEndian.AppendUint64(content, entry)
	}
	w.Section(content)
}

// Read reads positions that [Positions.Write] wrote.
func (s *Positions) Read(r *Reader) {
	*s = Positions{stored: r.Section(), end: math.MaxUint32}
	if len(s.stored)%positionSize != 0 {
		r.Fail(errPositions)
	}
}
