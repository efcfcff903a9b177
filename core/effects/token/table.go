package token

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// table has the tokens of a vocabulary. The rank of a token is its number: byte-pair encoding merges the
// two neighbours whose token has the lowest rank.
type table struct {
	text  string   // all tokens, by rank
	ends  []uint32 // where each token ends in text
	seed  maphash.Seed
	slots []uint32 // a hash table with open addressing: 1 + the rank of a token, or 0
}

// newTable reads a file of tokens: their number in 4 bytes (little endian), the length of each in one byte,
// and their text, by rank.
func newTable(file string) *table {
	n := int(binary.LittleEndian.Uint32([]byte(file[:4])))
	lengths := file[4 : 4+n]
	t := &table{
		text:  file[4+n:],
		ends:  make([]uint32, n),
		seed:  maphash.MakeSeed(),
		slots: make([]uint32, 1<<bits.Len(uint(2*n))),
	}
	end := uint32(0)
	for rank := range n {
		end += uint32(lengths[rank])
		t.ends[rank] = end
		i := t.slot(t.token(rank))
		t.slots[i] = uint32(rank) + 1
	}
	return t
}

func (t *table) token(rank int) string {
	start := uint32(0)
	if rank > 0 {
		start = t.ends[rank-1]
	}
	return t.text[start:t.ends[rank]]
}

// slot returns the slot of a token, or the empty slot where it belongs.
func (t *table) slot(token string) uint64 {
	mask := uint64(len(t.slots) - 1)
	i := maphash.String(t.seed, token) & mask
	for t.slots[i] != 0 && t.token(int(t.slots[i]-1)) != token {
		i = (i + 1) & mask
	}
	return i
}

func (t *table) rank(token string) (rank uint32, found bool) {
	entry := t.slots[t.slot(token)]
	return entry - 1, entry != 0
}
