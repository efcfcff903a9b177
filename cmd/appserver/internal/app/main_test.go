package app

import (
	"os"
	"testing"

	"appserver/test/apptest"
)

func TestMain(m *testing.M) { os.Exit(apptest.Run(m)) }
