package rollout

import "appserver/rollout/line"

// InChunks sets the chunk size, the maximum line length, and the minimum size for a snapshot
// cache, in bytes.
func (s *Store) InChunks(size, limit, cache int64) *Store {
	return newStore(s.disk.FS, s.Path(), line.ChunkReader{Size: size, MaxLine: limit}, cache)
}
