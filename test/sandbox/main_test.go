//go:build linux

package sandbox

import (
	"flag"
	"os"
	"testing"

	"appserver/test/apptest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == withoutLandlock {
		runWithoutLandlock(os.Args[2:])
	}
	flag.Parse()
	if *swapped != "" {
		swapForever()
	}
	apptest.Main(m)
}
