package bench

import (
	"testing"

	"appserver/rollout/postgres/pgtest"
	"appserver/test/apptest"
)

func TestMain(m *testing.M) { apptest.Main(tests{m}) }

// tests are the tests of the package with their database server.
type tests struct{ *testing.M }

// Run runs the tests, and stops the database server.
func (t tests) Run() int { return pgtest.Main(t.M) }
