package rollout

// InChunks is the store with files read in chunks of another size, lines of at most
// another, and bookmarks worth while from a third on, in bytes.
func (s *Store) InChunks(size, most, bookmark int64) *Store {
	return &Store{disk: s.disk, home: s.home, chunkReader: chunkReader{size, most}, snapshotCacheMin: bookmark}
}
