package postgres

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"appserver/rollout/fleet"
	"appserver/rollout/listing"
)

// messageText is the text of a message in the form in which texts are compared. It is the
// expression of an index.
const messageText = "coalesce(folded, lower(text))"

// searchSQL returns a statement that selects the threads that match the pattern $1, with their
// relevance and the first matching message. page selects the threads of the page.
func searchSQL(page, order string) string {
	return `WITH found AS MATERIALIZED (
		SELECT thread, count(*) AS rank FROM message WHERE ` + messageText + ` LIKE $1 GROUP BY thread
		UNION ALL SELECT DISTINCT thread, ` + strconv.Itoa(fleet.NamedRank) + ` FROM title WHERE folded LIKE $1
	), hit AS MATERIALIZED (
		SELECT thread, sum(rank)::bigint AS rank FROM found GROUP BY thread
	), page AS MATERIALIZED (` + page + `)
	SELECT ` + listColumns + `, h.rank, coalesce((SELECT text FROM message AS m
		WHERE m.thread = h.id AND ` + messageText + ` LIKE $1 ORDER BY m.ordinal LIMIT 1), '')
	FROM page AS h ORDER BY ` + order
}

// Search implements fleet.Driver.
func (db *DB) Search(ctx context.Context, q listing.Query) (fleet.Hits, error) {
	from, err := start(q)
	if err != nil {
		return fleet.Hits{}, err
	}
	sql, args := searchQuery(q, from)
	rows, err := db.reads.Query(ctx, sql, args...)
	if err != nil {
		return fleet.Hits{}, db.explainAcquire(err)
	}
	term := strings.ToLower(q.Search)
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (rankedHit, error) { return scanHit(row, term) })
	return hitsOf(found, q), err
}

func searchQuery(q listing.Query, from listing.Position) (string, []any) {
	c := filters(q, contains(q.Search))
	column := sortColumn(q.Key())
	if q.Key() == fleet.SortRelevance {
		column = "h.rank"
	}
	inner := "SELECT * FROM (SELECT head.*, hit.rank FROM hit JOIN head ON head.id = hit.thread) AS h"
	c.startAt(q, from, column)
	page := c.sql(inner, q)
	return searchSQL(page, c.order), c.args
}

type rankedHit struct {
	fleet.Hit
	rank int64
}

func scanHit(row pgx.CollectableRow, term string) (rankedHit, error) {
	var s headScan
	var rank int64
	var text string
	if err := row.Scan(s.targets(&rank, &text)...); err != nil {
		return rankedHit{}, err
	}
	head, err := s.decode()
	if text == "" || strings.Contains(strings.ToLower(head.Preview), term) {
		text = head.Preview
	}
	return rankedHit{fleet.Hit{Head: head, Snippet: listing.Snippet(text, term)}, rank}, err
}

func hitsOf(found []rankedHit, q listing.Query) (hits fleet.Hits) {
	if q.Limit > 0 && len(found) > q.Limit {
		found = found[:q.Limit]
		last := found[q.Limit-1]
		hits.NextCursor = last.Position(q.Key(), last.rank).Cursor()
	}
	if len(found) > 0 {
		hits.BackCursor = found[0].Position(q.Key(), found[0].rank).BackCursor()
	}
	for _, h := range found {
		hits.Hits = append(hits.Hits, h.Hit)
	}
	return hits
}
