//go:build linux

package sandbox

import (
	"os"
	"testing"

	"appserver/test/apptest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == withoutLandlock {
		runWithoutLandlock(os.Args[2:])
	}
	apptest.Main(m)
}
