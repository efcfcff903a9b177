//go:build linux

package sandbox

import (
	"flag"
	"testing"

	"appserver/test/apptest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *swapped != "" {
		swapForever()
	}
	apptest.Main(m)
}
