// Package workbench tests the page in Chromium, with the real server behind it.
package workbench

import (
	"testing"

	"appserver/test/apptest"
)

func TestMain(m *testing.M) { apptest.Main(tests{m}) }

// tests ends the browser after the last test.
type tests struct{ *testing.M }

func (t tests) Run() int {
	code := t.M.Run()
	stopBrowser()
	return code
}
