// Package fleet tests servers that keep their threads in PostgreSQL.
package fleet
