package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// tableRights are the rights of a server on each table. A server changes schema_version in migrations only.
const tableRights = "SELECT, INSERT, UPDATE, DELETE"

// rightsQuery returns the role, the first schema of its search_path, the rights that the role lacks on
// tables, and whether its transactions are read-only.
const rightsQuery = `SELECT current_user, current_schema(), current_setting('transaction_read_only')::bool,
	coalesce((SELECT array_agg(r || ' on table ' || t ORDER BY t, r)
		FROM unnest(ARRAY['node', 'thread', 'line', 'head', 'title', 'message', 'indexed']) AS t,
			unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS r
		WHERE NOT has_table_privilege(t, r)), '{}')`

// checkRights returns an *OpenError if the role cannot read and write all tables.
func (o Options) checkRights(ctx context.Context, c *pgx.Conn) error {
	var role, schema string
	var readOnly bool
	var missing []string
	if err := c.QueryRow(ctx, rightsQuery).Scan(&role, &schema, &readOnly, &missing); err != nil {
		return o.explainRead(c, err)
	}
	switch {
	case len(missing) > 0:
		cause := fmt.Sprintf("role %q lacks the right %s", role, missing[0])
		if more := len(missing) - 1; more > 0 {
			cause += fmt.Sprintf(", and %d more", more)
		}
		return o.urlError(cause, grantAction(role, schema))
	case readOnly:
		return o.urlError(fmt.Sprintf("the transactions of role %q are read-only", role),
			fmt.Sprintf("run ALTER ROLE %s RESET default_transaction_read_only, or use another role in the URL", quote(role)))
	}
	return nil
}

// grantAction returns the action that gives a role all rights on the tables.
func grantAction(role, schema string) string {
	return fmt.Sprintf("use the role that owns the tables in the URL, or run as that role: "+
		"GRANT %s ON ALL TABLES IN SCHEMA %s TO %s", tableRights, quote(schema), quote(role))
}

// quote returns a name of SQL, in double quotes only if it needs them.
func quote(name string) string {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") == "" && name != "" {
		return name
	}
	return pgx.Identifier{name}.Sanitize()
}

// explainRead converts an error of a query of the tables, before the server listens.
func (o Options) explainRead(c *pgx.Conn, err error) error {
	switch codeOf(err) {
	case codeMissingRights:
		return o.urlError(fmt.Sprintf("role %q lacks a right (%s)", c.Config().User, messageOf(err)),
			grantAction(c.Config().User, "public"))
	case codeNoSchema:
		return o.urlError(fmt.Sprintf("role %q can use no schema of its search_path", c.Config().User),
			fmt.Sprintf("run GRANT USAGE, CREATE ON SCHEMA public TO %s", quote(c.Config().User)))
	}
	return fmt.Errorf("%s: the database cannot be read: %w", keyURL, err)
}
