// Command gen builds the page of the workbench into web/dist.
package main

import (
	"fmt"
	"os"

	"appserver/web/gen/build"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "web/gen:", err)
		os.Exit(1)
	}
}

// run replaces the content of web/dist. It expects the root of the repository as working directory.
func run() error {
	files, err := build.Files("web")
	if err != nil {
		return err
	}
	return build.Write("web/dist", files)
}
