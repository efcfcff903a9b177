// Package vscode tests the extension of editors/vscode in code-server, which is Visual Studio Code in a browser, with
// Chromium. The variable CODE_SERVER names the program of code-server; without it, the tests are skipped.
package vscode

import (
	"testing"

	"appserver/test/apptest"
)

func TestMain(m *testing.M) { apptest.Main(m) }
