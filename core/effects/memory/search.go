package memory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"appserver/core/pure/words"
	"appserver/platform/database"
	"appserver/protocol"
)

const (
	// defaultLimit and maxLimit are of hits.
	defaultLimit, maxLimit = 10, 200
	// depth is the minimum number of rows that each way of searching proposes.
	depth = 50
	// fusion makes the first ranks similar, so that a row that both ways propose precedes the first
	// row of one of them. The retrieval benchmark has chosen it.
	fusion = 5
	// titleWeight is the weight of a word in a title relative to a word in a text.
	titleWeight = 2.0
)

// Query selects rows by text.
type Query struct {
	// RepoKey is the repository to search, or "" for all.
	RepoKey string
	Text    string
	// Kinds are the kinds of rows to search. An empty list means all.
	Kinds []string
	// Limit is the maximum number of hits. 0 means 10.
	Limit int
	// Exclude rejects hits before they count. Nil rejects none.
	Exclude func(Hit) bool
}

// Hit is a row that matches.
type Hit struct {
	ID string
	Row
	// Score orders the hits. It has no other meaning.
	Score float64
	// Match is the share of the question's words that the row has, from 0 to 1. Rare words count
	// more.
	Match float64
	// Similarity is the cosine of the vectors of query and row, or 0 if one is missing.
	Similarity float64
}

// Search returns the best matches first: by words and, if the embedder responds in time, by vectors.
// Without vectors, words alone decide.
func (s *Store) Search(ctx context.Context, q Query) ([]Hit, error) {
	if strings.TrimSpace(q.Text) == "" {
		return nil, nil
	}
	hits, db, err := s.attempt(ctx, q)
	if s.spoiled(db, err) {
		hits, db, err = s.attempt(ctx, q)
		s.spoiled(db, err)
	}
	if err != nil {
		return nil, fmt.Errorf("memory: search: %w", err)
	}
	return hits, nil
}

func (s *Store) attempt(ctx context.Context, q Query) ([]Hit, *database.DB, error) {
	db, err := s.ready(ctx, false)
	if err != nil || db == nil {
		return nil, nil, err
	}
	s.embeds.kick()
	hits, err := s.find(ctx, db, q)
	return hits, db, err
}

func (s *Store) find(ctx context.Context, db *database.DB, q Query) ([]Hit, error) {
	limit := min(max(q.Limit, 0), maxLimit)
	if limit == 0 {
		limit = defaultLimit
	}
	near := s.embeds.ask(ctx, q.Text)
	repo, known, err := findRepo(ctx, db.Read, q.RepoKey)
	if err != nil || !known {
		return nil, err
	}
	asked, err := s.lookUp(ctx, db, words.Terms(q.Text))
	if err != nil {
		return nil, err
	}
	proposals := max(depth, limit*2)
	rows := map[int64]*Hit{}
	terms, similar := asked.proposed()
	for _, list := range [][]string{terms, similar} {
		if err := propose(ctx, db.Read, rows, matching(repo, q.Kinds, list), proposals); err != nil {
			return nil, err
		}
	}
	close, err := s.embeds.nearest(ctx, db, repo, q.Kinds, near(), proposals)
	if err != nil {
		return nil, err
	}
	if err := add(ctx, db.Read, rows, close); err != nil {
		return nil, err
	}
	return pick(q, limit, fuse(ranked(rows, asked, s.options.minSimilar), close), rows), nil
}

// findRepo returns the key of a repository, or 0 for all.
func findRepo(ctx context.Context, db *sql.DB, name string) (key int64, known bool, err error) {
	if name == "" {
		return 0, true, nil
	}
	err = db.QueryRowContext(ctx, "SELECT key FROM repos WHERE name = ?", name).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return key, true, err
}

const proposeSQL = "SELECT " + rowColumns + `, rows.key FROM
	(SELECT rowid AS found FROM words WHERE words MATCH ? ORDER BY bm25(words, 0, %g, 1), rowid DESC LIMIT ?)
	JOIN rows ON rows.key = found JOIN repos ON repos.key = rows.repo`

// propose reads the best rows of an FTS5 query, or none for an empty query.
func propose(ctx context.Context, db *sql.DB, into map[int64]*Hit, match string, limit int) error {
	if match == "" {
		return nil
	}
	rows, err := db.QueryContext(ctx, fmt.Sprintf(proposeSQL, titleWeight), match, limit)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		hit, key := &Hit{}, int64(0)
		if err := scanRow(rows, hit, &key); err != nil {
			return err
		}
		into[key] = hit
	}
	return rows.Err()
}

// add reads the listed rows that are not read yet. It leaves out rows that were deleted since.
func add(ctx context.Context, db *sql.DB, into map[int64]*Hit, list []near) error {
	if len(list) == 0 {
		return nil
	}
	read, err := db.PrepareContext(ctx, "SELECT "+rowColumns+
		" FROM rows JOIN repos ON repos.key = rows.repo WHERE rows.key = ?")
	if err != nil {
		return err
	}
	defer func() { _ = read.Close() }()
	for _, n := range list {
		if into[n.key] != nil {
			continue
		}
		hit := &Hit{}
		err := scanRow(read.QueryRowContext(ctx, n.key), hit)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return err
		}
		into[n.key] = hit
	}
	return nil
}

// matching returns the FTS5 query, or "" for none. Words have no characters with a meaning in FTS5.
func matching(repo int64, kinds, words []string) string {
	if len(words) == 0 {
		return ""
	}
	match := "{title text} : (" + either(words) + ")"
	var scopes []string
	for _, kind := range kinds {
		scopes = append(scopes, scope(repo, kind))
	}
	if len(kinds) == 0 && repo != 0 {
		scopes = []string{scope(repo, "")}
	}
	if len(scopes) > 0 {
		match = "{scope} : (" + either(scopes) + ") AND " + match
	}
	return match
}

func either(words []string) string { return `"` + strings.Join(words, `" OR "`) + `"` }

// candidate is a row that one of the ways of searching proposes.
type candidate struct {
	key               int64
	score, similarity float64
}

// fuse adds the values of the ranks of each row (reciprocal rank fusion), weighted by its quality
// relative to the first row of each list.
func fuse(found, close []near) []candidate {
	byKey := map[int64]*candidate{}
	at := func(list []near, rank int) *candidate {
		n := list[rank]
		if byKey[n.key] == nil {
			byKey[n.key] = &candidate{key: n.key}
		}
		if n.similarity > 0 {
			byKey[n.key].score += n.similarity / list[0].similarity / float64(fusion+rank+1)
		}
		return byKey[n.key]
	}
	for rank := range found {
		at(found, rank)
	}
	for rank, n := range close {
		at(close, rank).similarity = n.similarity
	}
	list := make([]candidate, 0, len(byKey))
	for _, c := range byKey {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b candidate) int {
		switch {
		case a.score != b.score && a.score > b.score:
			return -1
		case a.score != b.score:
			return 1
		}
		return int(b.key - a.key)
	})
	return list
}

// pick returns the first candidates that the query allows.
func pick(q Query, limit int, list []candidate, rows map[int64]*Hit) (hits []Hit) {
	for _, c := range list {
		if len(hits) == limit {
			break
		}
		hit := rows[c.key]
		if hit == nil || len(q.Kinds) > 0 && !slices.Contains(q.Kinds, hit.Kind) {
			continue
		}
		hit.Score, hit.Similarity = c.score, c.similarity
		if q.Exclude == nil || !q.Exclude(*hit) {
			hits = append(hits, *hit)
		}
	}
	return hits
}

const rowColumns = "rows.id, repos.name, rows.session, rows.ts, rows.kind, rows.title, rows.text, rows.msg_ids"

// scanner is one row of a result.
type scanner interface{ Scan(into ...any) error }

func scanRow(row scanner, hit *Hit, more ...any) error {
	var ids string
	into := append([]any{&hit.ID, &hit.RepoKey, &hit.SessionID, &hit.TS, &hit.Kind, &hit.Title, &hit.Text, &ids}, more...)
	if err := row.Scan(into...); err != nil {
		return err
	}
	return protocol.Unmarshal([]byte(ids), &hit.MsgIDs)
}
