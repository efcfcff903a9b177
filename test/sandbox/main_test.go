//go:build linux

package sandbox

import (
	"testing"

	"appserver/test/apptest"
)

func TestMain(m *testing.M) { apptest.Main(m) }
