package rollout

import (
	"appserver/platform/disk"
	"appserver/rollout/home"
	"appserver/rollout/line"
	"appserver/rollout/listing"
	"appserver/rollout/zst"
)

// Store gives access to the rollouts of one home (CODEX_HOME). Its Home finds and locks them,
// its Lister lists them, and its own methods load, write and move them.
type Store struct {
	*home.Home
	*listing.Lister
	// SnapshotVersion identifies the program and format of snapshots. Snapshots of another
	// version are ignored. Set it before the first use.
	SnapshotVersion string
	// Volatile is set for rollouts that can be made again from another store. Their logs sync only on request,
	// and may be suspended without. Set it before the first use.
	Volatile bool
	// disk has compressed rollouts under their plain names.
	disk   *zst.FS
	chunks line.ChunkReader
	// snapshotCacheMin is the amount of data that is worth a cache, in bytes.
	snapshotCacheMin int64
	idle             *idleLogs
}

// NewStore returns a store. It does not access the disk, and dir need not exist.
func NewStore(fs disk.FS, dir string) *Store {
	return newStore(fs, dir, line.NewChunkReader(), snapshotCacheMin)
}

func newStore(fs disk.FS, dir string, chunks line.ChunkReader, snapshotCacheMin int64) *Store {
	idle := &idleLogs{}
	h := home.New(fs, dir, idle.suspend)
	return &Store{
		Home:             h,
		Lister:           listing.New(h, chunks),
		disk:             h.Disk(),
		chunks:           chunks,
		snapshotCacheMin: snapshotCacheMin,
		idle:             idle,
	}
}
