package memory

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"time"

	"appserver/platform/database"
)

const (
	// shelfBytes bounds the vectors in memory. The least recently used are evicted first.
	shelfBytes = 256 << 20
	// matrixRows is the maximum number of rows of one place that are searched by vectors: the
	// newest ones.
	matrixRows = 200_000
)

// place identifies a matrix: the rows of one kind, of one repository or, with 0, of all.
type place struct {
	repo int64
	kind string
}

// shelf has the vectors of places in memory, as of the last search in each.
type shelf struct {
	mu    sync.Mutex
	db    *database.DB
	held  map[place]*holding
	turns int
}

// holding is a matrix, with the keys of the last row and the last vector that it has.
type holding struct {
	matrix
	rows    map[int64]bool
	key     int64
	number  int64
	lastUse int
}

func (e *embedding) dropMatrices() {
	if e == nil {
		return
	}
	e.shelf.mu.Lock()
	defer e.shelf.mu.Unlock()
	e.shelf.held = nil
}

// nearest returns the rows nearest to the vector of a query, the best first, or nil for a nil vector.
// If the vectors of a place are not in memory, it waits for them until the timeout of the query. The
// load continues for later searches.
func (e *embedding) nearest(ctx context.Context, db *database.DB, repo int64, kinds []string, v []float32,
	limit int) ([]near, error) {
	if e == nil || v == nil || !e.start() {
		return nil, nil
	}
	type answer struct {
		list []near
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		defer e.work.Done()
		list, err := e.compare(e.ctx, db, repo, kinds, v, limit)
		done <- answer{list, err}
	}()
	late := time.NewTimer(e.store.options.QueryTimeout)
	defer late.Stop()
	select {
	case a := <-done:
		if a.err != nil && !database.IsDamaged(a.err) {
			return nil, nil // words are enough
		}
		return a.list, a.err
	case <-late.C:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (e *embedding) compare(ctx context.Context, db *database.DB, repo int64, kinds []string, v []float32,
	limit int) ([]near, error) {
	if len(kinds) == 0 {
		kinds = []string{Summary, Code}
	}
	best := ranking{limit: limit}
	for _, kind := range kinds {
		list, err := e.shelf.nearest(ctx, db, place{repo, kind}, e.embedder.Model(), v, limit)
		if err != nil {
			return nil, err
		}
		best.list = append(best.list, list...)
	}
	return best.sorted(), nil
}

func (s *shelf) nearest(ctx context.Context, db *database.DB, at place, model string, v []float32, limit int) ([]near,
	error) {
	s.mu.Lock()
	h, err := s.load(ctx, db, at, model, len(v))
	var list []near
	if err == nil {
		list = h.nearest(v, 2*limit)
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return exact(ctx, db, model, list, v, limit)
}

// load adds the new vectors of a place.
func (s *shelf) load(ctx context.Context, db *database.DB, at place, model string, dimension int) (*holding, error) {
	if s.held == nil || s.db != db {
		s.held, s.db = map[place]*holding{}, db
	}
	h := s.held[at]
	if h == nil || h.dimension != dimension {
		h = &holding{matrix: matrix{dimension: dimension}, rows: map[int64]bool{}}
		s.held[at] = h
	}
	s.turns++
	h.lastUse = s.turns
	defer s.evict(h)
	return h, h.read(ctx, db, at, model)
}

// evict evicts the least recently used matrices while they exceed the limit.
func (s *shelf) evict(but *holding) {
	for {
		total := 0
		var oldest place
		var found *holding
		for at, h := range s.held {
			total += h.bytes()
			if h != but && (found == nil || h.lastUse < found.lastUse) {
				oldest, found = at, h
			}
		}
		if total <= shelfBytes || found == nil {
			return
		}
		delete(s.held, oldest)
	}
}

const vectorsSQL = "SELECT rows.key, vectors.vector FROM rows JOIN vectors ON vectors.model = ?1 AND vectors.hash = rows.hash WHERE rows.kind = ?2 AND (?3 = 0 OR rows.repo = ?3) "

// read adds new rows, and rows that have a new vector.
func (h *holding) read(ctx context.Context, db *database.DB, at place, model string) error {
	var key, number int64
	err := db.Read.QueryRowContext(ctx,
		"SELECT coalesce((SELECT max(key) FROM rows), 0), coalesce((SELECT max(number) FROM vectors), 0)").Scan(&key, &number)
	if err != nil || key == h.key && number == h.number {
		return err
	}
	if h.key == 0 {
		err = h.take(ctx, db, vectorsSQL+"ORDER BY rows.key DESC LIMIT ?4", model, at.kind, at.repo, matrixRows)
	} else {
		err = errors.Join(
			h.take(ctx, db, vectorsSQL+"AND rows.key > ?4", model, at.kind, at.repo, h.key),
			h.take(ctx, db, vectorsSQL+"AND vectors.number > ?4", model, at.kind, at.repo, h.number))
	}
	if err == nil {
		h.key, h.number = key, number
	}
	return err
}

func (h *holding) take(ctx context.Context, db *database.DB, query string, args ...any) error {
	rows, err := db.Read.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var v []float32
	for rows.Next() {
		var key int64
		var raw sql.RawBytes
		if err := rows.Scan(&key, &raw); err != nil {
			return err
		}
		if len(raw) == 4*h.dimension && !h.rows[key] {
			v = unpacked(raw, v)
			h.rows[key] = true
			h.add(key, v)
		}
	}
	return rows.Err()
}

// exact compares the candidates by whole vectors. It drops deleted rows.
func exact(ctx context.Context, db *database.DB, model string, list []near, v []float32, limit int) ([]near, error) {
	read, err := db.Read.PrepareContext(ctx,
		"SELECT vector FROM vectors WHERE model = ? AND hash = (SELECT hash FROM rows WHERE key = ?)")
	if err != nil {
		return nil, err
	}
	defer func() { _ = read.Close() }()
	best := ranking{limit: limit}
	var row []float32
	for _, n := range list {
		var raw []byte
		err := read.QueryRowContext(ctx, model, n.key).Scan(&raw)
		if errors.Is(err, sql.ErrNoRows) || err == nil && len(raw) != 4*len(v) {
			continue
		}
		if err != nil {
			return nil, err
		}
		row = unpacked(raw, row)
		sum := float32(0)
		for i, x := range row {
			sum += x * v[i]
		}
		best.offer(n.key, sum)
	}
	return slices.Clip(best.sorted()), nil
}
