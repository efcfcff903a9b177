package rollout

// InChunks sets the chunk size, the maximum line length, and the minimum size for a snapshot
// cache, in bytes.
func (s *Store) InChunks(size, limit, cache int64) *Store {
	return &Store{disk: s.disk, home: s.home, chunkReader: chunkReader{size, limit}, snapshotCacheMin: cache}
}
