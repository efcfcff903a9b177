// Command gen writes the extension for Visual Studio Code as a .vsix file.
//
//	go run ./editors/vscode/gen bin/appserver.vsix
//
// The extension has the built page of package web, so that must be up to date.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "editors/vscode/gen:", err)
		os.Exit(1)
	}
}

// run expects the root of the repository as working directory.
func run(file string) error {
	content, err := pack(".")
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}
