package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Keys of the configuration that errors name.
const (
	keyURL     = "store.url_env"
	keyStandby = "store.require_sync_standby"
	keyMigrate = "store.auto_migrate"
)

// OpenError reports that a database cannot be used. It never has the password.
type OpenError struct {
	// Key is the key of config.toml that leads to the cause.
	Key string
	// Cause is a clause, and Next the next action of the operator.
	Cause, Next string
	// Err is the error of the library, or nil.
	Err error
}

// Error returns a message with the key, the cause and the next action.
func (e *OpenError) Error() string { return e.Key + ": " + e.Cause + ": " + e.Next }

// Unwrap returns the error of the library, or nil.
func (e *OpenError) Unwrap() error { return e.Err }

func (o Options) urlError(cause, next string) error {
	if o.Variable != "" {
		next += " (the environment variable " + o.Variable + " has the URL)"
	}
	return &OpenError{Key: keyURL, Cause: cause, Next: next}
}

// SQLSTATE codes.
const (
	codeInvalidPassword      = "28P01"
	codeInvalidAuthorization = "28000"
	codeMissingDatabase      = "3D000"
	codeMissingRights        = "42501"
	codeTooManyConnections   = "53300"
	codeUniqueViolation      = "23505"
	codeNoSchema             = "3F000"
	codeNoExtension          = "0A000"
	codeNoExtensionFile      = "58P01"
	codeUnknownSetting       = "42704"
)

// explainConnect converts an error of a connection attempt.
func (o Options) explainConnect(c *pgx.ConnConfig, err error) error {
	var known *OpenError
	if errors.As(err, &known) {
		return known
	}
	cause, next := connectCause(c, err)
	explained := o.urlError(cause, next)
	if errors.As(explained, &known) {
		known.Err = err
	}
	return explained
}

func connectCause(c *pgx.ConnConfig, err error) (cause, next string) {
	address := addressOf(c)
	switch codeOf(err) {
	case codeInvalidPassword:
		return fmt.Sprintf("the server at %s does not accept user %q with this password", address, c.User),
			"correct the user and the password in the URL, or pg_hba.conf on the server"
	case codeInvalidAuthorization:
		return fmt.Sprintf("the server at %s does not accept user %q (%s)", address, c.User, messageOf(err)),
			"correct the user and sslmode in the URL, or the roles and pg_hba.conf on the server"
	case codeMissingDatabase:
		return fmt.Sprintf("the server at %s has no database %q", address, c.Database),
			"create it, or correct the name in the URL"
	case codeUnknownSetting:
		if strings.Contains(messageOf(err), checkInterval) { // PostgreSQL 14 has introduced it
			return "the server is PostgreSQL 13 or older", useNewer
		}
		return fmt.Sprintf("the server at %s refuses a setting in the URL (%s)", address, messageOf(err)), "remove it"
	case codeTooManyConnections:
		return fmt.Sprintf("the server at %s has no free connections", address),
			fmt.Sprintf("increase max_connections; each node uses up to %d", maxConns)
	case codeMissingRights:
		return fmt.Sprintf("user %q may not connect to database %q", c.User, c.Database),
			"grant the right CONNECT to the user"
	case "":
	default:
		return fmt.Sprintf("the server at %s refuses the connection (%s)", address, messageOf(err)),
			"correct the cause on the server"
	}
	if cause, next = tlsCause(address, err); cause != "" {
		return cause, next
	}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return fmt.Sprintf("the host name %q cannot be resolved", dns.Name), "correct the host in the URL"
	case errors.Is(err, context.Canceled):
		return fmt.Sprintf("the connection to %s was cancelled", address), "start again"
	}
	return fmt.Sprintf("the server at %s cannot be reached (%s)", address, rootOf(err)),
		"start the server, or correct the host and the port in the URL"
}

// addressOf returns the hosts of a configuration.
func addressOf(c *pgx.ConnConfig) string {
	all := []string{net.JoinHostPort(c.Host, fmt.Sprint(c.Port))}
	for _, f := range c.Fallbacks {
		if a := net.JoinHostPort(f.Host, fmt.Sprint(f.Port)); a != all[len(all)-1] {
			all = append(all, a)
		}
	}
	return strings.Join(all, ", ")
}

// rootOf returns the text of the innermost error.
func rootOf(err error) string {
	for {
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			if e.Unwrap() == nil {
				return err.Error()
			}
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			if len(e.Unwrap()) == 0 {
				return err.Error()
			}
			err = e.Unwrap()[0]
		default:
			return err.Error()
		}
	}
}

// codeOf returns the SQLSTATE of an error of the server, or "".
func codeOf(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func messageOf(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}
