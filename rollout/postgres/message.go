package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"appserver/rollout/fleet"
)

// insertMessagesSQL stores messages ($2 to $7) of thread $1.
const insertMessagesSQL = `INSERT INTO message (thread, ordinal, role, kind, tool_name, text, folded)
	SELECT $1, m.* FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[]) AS m
	ON CONFLICT (thread, ordinal) DO NOTHING`

// indexSQL advances the ordinal up to which a thread is indexed from $2 to $3, unless it is before $2, and
// returns it.
const indexSQL = `UPDATE indexed SET next = CASE WHEN next < $2 THEN next ELSE greatest(next, $3) END
	WHERE thread = $1 RETURNING next`

// AddMessages implements fleet.Driver.
func (db *DB) AddMessages(ctx context.Context, o fleet.Own, from, upTo int64, messages []fleet.Message) error {
	key, ok := parseID(o.ID)
	if !ok {
		return fleet.ErrNotFound
	}
	_, err := repeat(ctx, func(bool) (none, error) {
		return write(ctx, db.short(), func(ctx context.Context, c *pgx.Conn) (none, error) {
			return none{}, pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
				return addMessages(ctx, tx, key, o, from, upTo, messages)
			})
		})
	})
	return err
}

// addMessages locks the row of indexed before it checks the owner. So a Rewrite, which increments
// the epoch, sees all messages of earlier calls and rejects later ones. The commit does not wait
// for the disk: messages are added again if they are lost.
func addMessages(
	ctx context.Context, tx pgx.Tx, key pgtype.UUID, o fleet.Own, from, upTo int64,
	messages []fleet.Message,
) error {
	if _, err := tx.Exec(ctx, "SET LOCAL synchronous_commit = off"); err != nil {
		return err
	}
	var indexed int64
	err := tx.QueryRow(ctx, indexSQL, key, from, upTo).Scan(&indexed)
	if errors.Is(err, pgx.ErrNoRows) {
		return fleet.ErrNotFound
	}
	if err != nil {
		return err
	}
	var isOwned bool
	err = tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM thread WHERE "+isOwner+")", fence(key, o)...).Scan(&isOwned)
	switch {
	case err != nil:
		return err
	case !isOwned:
		return fleet.ErrFenced
	case indexed < from:
		return &fleet.OrderError{Next: indexed}
	case len(messages) == 0:
		return nil
	}
	_, err = tx.Exec(ctx, insertMessagesSQL, append([]any{key}, messageArgs(messages)...)...)
	return err
}

func messageArgs(messages []fleet.Message) []any {
	var ordinals []int64
	var roles, kinds, tools, texts []string
	var folded []*string
	for _, m := range messages {
		ordinals = append(ordinals, m.Ordinal)
		roles = append(roles, clean(m.Role))
		kinds = append(kinds, clean(m.Kind))
		tools = append(tools, clean(m.ToolName))
		texts = append(texts, clean(m.Text))
		folded = append(folded, foldedUnlessASCII(m.Text))
	}
	return []any{ordinals, roles, kinds, tools, texts, folded}
}

// foldedUnlessASCII returns the text in lower case, or nil if the database folds it alike. The
// database folds ASCII letters, because the collation of the column is C.
func foldedUnlessASCII(text string) *string {
	folded := fold(text)
	ascii := strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, clean(text))
	if folded == ascii {
		return nil
	}
	return &folded
}

// Indexed implements fleet.Driver.
func (db *DB) Indexed(ctx context.Context, id string) (upTo int64, err error) {
	key, ok := parseID(id)
	if !ok {
		return 0, fleet.ErrNotFound
	}
	err = db.reads.QueryRow(ctx, "SELECT next FROM indexed WHERE thread = $1", key).Scan(&upTo)
	if errors.Is(err, pgx.ErrNoRows) {
		err = fleet.ErrNotFound
	}
	return upTo, db.explainAcquire(err)
}
