package memory

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"appserver/platform/database"
	"appserver/platform/excerpt"
)

const (
	// queryTimeout is the default time that a search waits for the vector of its text.
	queryTimeout = 800 * time.Millisecond
	// batchTimeout is the time limit of a batch.
	batchTimeout = time.Minute
	// restTime is the pause after a failure of the embedder.
	restTime = 30 * time.Second
	// embedBatch is the maximum number of texts that are embedded at once.
	embedBatch = 64
	// bareRows is the number of rows without a vector that one query returns. The query reads all
	// of them.
	bareRows = 2048
	// embedLimit is the size of the part of a text that is embedded, in bytes. Common models accept
	// a quarter of it in tokens.
	embedLimit = 8000
	// probe is a text that every working embedder accepts.
	probe = "test"
	// maxQueries is the number of cached vectors of questions.
	maxQueries = 64
)

// Embedder makes vectors of texts. It may be asked for several things at once.
type Embedder interface {
	// Embed returns a vector for each text, in order. If the error has a method Refused that returns
	// true, the embedder rejects the texts themselves. If the embedder has a method Batch, it returns how many
	// texts to embed at once, so that the vectors are stored about every second.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Model identifies the vectors that can be compared with each other.
	Model() string
}

// embedding computes the vectors of a store's rows in the background, and those of queries. A nil
// embedding computes none.
type embedding struct {
	store    *Store
	embedder Embedder
	ctx      context.Context
	cancel   context.CancelFunc
	work     sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	running bool
	// wanted is set while some row may have no vector.
	wanted  bool
	failed  time.Time
	last    error
	queries map[string][]float32

	shelf shelf
}

func newEmbedding(s *Store, by Embedder) *embedding {
	e := &embedding{store: s, embedder: by, wanted: true, queries: map[string][]float32{}}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// start counts work for which close waits. It returns false if close has begun.
func (e *embedding) start() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.work.Add(1)
	return true
}

func (e *embedding) close() {
	if e == nil {
		return
	}
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.cancel()
	e.work.Wait()
}

// resting reports whether the embedder failed a moment ago.
func (e *embedding) resting() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last != nil && e.store.options.Now().Sub(e.failed) < restTime
}

// recordResult records the result of the last request. It warns about the first failure.
func (e *embedding) recordResult(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	e.mu.Lock()
	e.last, e.failed = err, e.store.options.Now()
	e.mu.Unlock()
	if err != nil {
		e.store.warnOnce("embedder", "memory is searched by words alone: "+err.Error())
	}
}

func (e *embedding) tell(st *Status) {
	if e == nil {
		return
	}
	st.Model = e.embedder.Model()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last != nil {
		st.Error = e.last.Error()
	}
}

// want requests vectors for new rows.
func (e *embedding) want() {
	if e == nil {
		return
	}
	e.mu.Lock()
	e.wanted = true
	e.mu.Unlock()
	e.kick()
}

// kick starts the computation of missing vectors, unless it runs already.
func (e *embedding) kick() {
	if e == nil || e.resting() || !e.start() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running || !e.wanted {
		e.work.Done()
		return
	}
	e.running = true
	go e.run()
}

// run embeds until every row has a vector, or the embedder fails.
func (e *embedding) run() {
	defer e.work.Done()
	for e.next() {
		for more := true; more; {
			var err error
			if more, err = e.some(); err != nil {
				e.fail(err)
				return
			}
		}
	}
}

// next reports whether vectors are missing.
func (e *embedding) next() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running, e.wanted = e.wanted, false
	return e.running
}

// fail postpones the remaining work.
func (e *embedding) fail(err error) {
	if e.ctx.Err() == nil {
		e.recordResult(err)
	}
	e.mu.Lock()
	e.running, e.wanted = false, true
	e.mu.Unlock()
}

// some embeds texts without a vector. more is false if there were none.
func (e *embedding) some() (more bool, err error) {
	db, err := e.store.ready(e.ctx, false)
	if err != nil || db == nil {
		return false, err
	}
	hashes, texts, err := e.bare(db)
	for begin, end := 0, 0; begin < len(texts) && err == nil; begin = end {
		end = min(begin+e.batch(), len(texts))
		err = e.step(db, hashes[begin:end], texts[begin:end])
	}
	return len(texts) > 0, err
}

// batch returns the number of texts that are embedded at once.
func (e *embedding) batch() int {
	if sizer, ok := e.embedder.(interface{ Batch() int }); ok {
		return min(max(sizer.Batch(), 1), embedBatch)
	}
	return embedBatch
}

// step embeds a batch.
func (e *embedding) step(db *database.DB, hashes [][]byte, texts []string) error {
	vectors, err := e.embed(texts)
	if err != nil {
		return err
	}
	e.recordResult(nil)
	return database.InTransaction(db.Write, func(tx *sql.Tx) error { return e.keep(tx, hashes, vectors) })
}

// bare returns texts without a vector: summaries before code, the newest first.
func (e *embedding) bare(db *database.DB) (hashes [][]byte, texts []string, err error) {
	rows, err := db.Read.QueryContext(e.ctx, `SELECT hash, title, text FROM rows WHERE NOT EXISTS
		(SELECT 1 FROM vectors WHERE model = ? AND vectors.hash = rows.hash) ORDER BY file IS NOT NULL, key DESC LIMIT ?`,
		e.embedder.Model(), bareRows)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = rows.Close() }()
	seen := map[string]bool{}
	for rows.Next() {
		var hash []byte
		var r Row
		if err := rows.Scan(&hash, &r.Title, &r.Text); err != nil {
			return nil, nil, err
		}
		if !seen[string(hash)] {
			seen[string(hash)] = true
			hashes, texts = append(hashes, hash), append(texts, excerpt.Prefix(r.embedded(), embedLimit))
		}
	}
	return hashes, texts, rows.Err()
}

// embed requests the vectors of texts. The vector of a rejected text is nil, unless all are
// rejected.
func (e *embedding) embed(texts []string) ([][]float32, error) {
	vectors, err := e.request(texts)
	if err == nil || !refused(err) {
		return vectors, err
	}
	if _, err := e.request([]string{probe}); err != nil {
		return nil, err
	}
	each := make([][]float32, len(texts))
	for i, text := range texts {
		one, err := e.request([]string{text})
		if err != nil && !refused(err) {
			return nil, err
		}
		if err == nil {
			each[i] = one[0]
		}
	}
	return each, nil
}

func (e *embedding) request(texts []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(e.ctx, batchTimeout)
	defer cancel()
	vectors, err := e.embedder.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	return vectors, check(vectors, len(texts))
}

func refused(err error) bool {
	var refuser interface{ Refused() bool }
	return errors.As(err, &refuser) && refuser.Refused()
}

// check validates the vectors of an embedder: as many as texts, of one length, all numbers finite.
func check(vectors [][]float32, texts int) error {
	if len(vectors) != texts {
		return fmt.Errorf("the embedder gave %d vectors for %d texts", len(vectors), texts)
	}
	for _, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return fmt.Errorf("the embedder gave vectors of %d and of %d numbers", len(vectors[0]), len(v))
		}
		if slices.ContainsFunc(v, func(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) }) {
			return errors.New("the embedder gave a vector with a number that is none")
		}
	}
	return nil
}

// keep stores vectors. If their length differs from that of the model's other vectors, the model has
// changed, and the others are deleted.
func (e *embedding) keep(tx *sql.Tx, hashes [][]byte, vectors [][]float32) error {
	model := e.embedder.Model()
	for i, hash := range hashes {
		if n := len(vectors[i]); n > 0 {
			if _, err := tx.Exec("DELETE FROM vectors WHERE model = ? AND length(vector) NOT IN (0, ?) AND NOT EXISTS (SELECT 1 FROM vectors WHERE model = ? AND length(vector) = ?)",
				model, 4*n, model, 4*n); err != nil {
				return err
			}
		}
		if _, err := tx.Exec("INSERT OR REPLACE INTO vectors (model, hash, vector) VALUES (?, ?, ?)", model, hash,
			packed(unit(vectors[i]))); err != nil {
			return err
		}
	}
	return nil
}

// ask starts to embed a query. The returned function waits for the vector until the timeout, and
// returns nil without one.
func (e *embedding) ask(ctx context.Context, text string) func() []float32 {
	none := func() []float32 { return nil }
	if e == nil {
		return none
	}
	text = excerpt.Prefix(text, embedLimit)
	e.mu.Lock()
	known, ok := e.queries[text]
	e.mu.Unlock()
	if ok {
		return func() []float32 { return known }
	}
	if e.resting() || !e.start() {
		return none
	}
	ctx, cancel := context.WithTimeout(ctx, e.store.options.QueryTimeout)
	stop := context.AfterFunc(e.ctx, cancel)
	done := make(chan []float32, 1)
	go func() {
		defer e.work.Done()
		defer stop()
		done <- e.question(ctx, text)
	}()
	return func() []float32 {
		defer cancel()
		select {
		case v := <-done:
			return v
		case <-ctx.Done():
			return nil
		}
	}
}

func (e *embedding) question(ctx context.Context, text string) []float32 {
	vectors, err := e.embedder.Embed(ctx, []string{text})
	if err == nil {
		err = check(vectors, 1)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no vector of a question came within %v", e.store.options.QueryTimeout)
	}
	e.recordResult(err)
	if err != nil {
		return nil
	}
	v := unit(vectors[0])
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.queries) >= maxQueries {
		clear(e.queries)
	}
	e.queries[text] = v
	return v
}

// unit returns a vector of length 1 in the same direction.
func unit(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return v
	}
	scale := float32(1 / math.Sqrt(sum))
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = x * scale
	}
	return out
}

// packed returns a vector in the form of the database: 32-bit floats, little-endian.
func packed(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

func unpacked(raw []byte, into []float32) []float32 {
	into = into[:0]
	for ; len(raw) >= 4; raw = raw[4:] {
		into = append(into, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	}
	return into
}
