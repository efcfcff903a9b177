package rollout

// InChunks is the store with files read in chunks of another size, and lines of at most
// another, in bytes.
func (s *Store) InChunks(size, most int64) *Store {
	return &Store{disk: s.disk, home: s.home, chunking: chunking{size, most}}
}
