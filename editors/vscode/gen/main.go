// Command gen writes the extension for Visual Studio Code as a .vsix file.
//
//	go run ./editors/vscode/gen bin/appserver.vsix
//	go run ./editors/vscode/gen -target linux/amd64 bin/appserver-linux-amd64.vsix
//
// The extension has the built page of package web, so that must be up to date. With -target it also has the program for
// this system, and the editor installs it there only.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "editors/vscode/gen:", err)
		os.Exit(1)
	}
}

// run expects the root of the repository as working directory.
func run(args []string) error {
	flags := flag.NewFlagSet("gen", flag.ContinueOnError)
	name := flags.String("target", "", "add the program for this system and processor, as `GOOS/GOARCH`")
	bin := flags.String("bin", "", "take the program, and files that accompany it, from `FOLDER` instead of building it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("usage: gen [-target GOOS/GOARCH [-bin FOLDER]] FILE")
	}
	var b bundle
	if *name != "" {
		var err error
		if b, err = readBundle(*name, *bin); err != nil {
			return err
		}
	}
	content, err := pack(".", b)
	if err != nil {
		return err
	}
	return os.WriteFile(flags.Arg(0), content, 0o644)
}

// bundle has the program of a package for one system. The zero value is for all systems.
type bundle struct {
	// platform is the name of the system and the processor in the editor.
	platform string
	// files are the program and what accompanies it, by name.
	files map[string][]byte
}

// platforms are the names of systems and processors in the editor.
var platforms = map[string]string{
	"linux/amd64": "linux-x64", "linux/arm64": "linux-arm64", "darwin/amd64": "darwin-x64", "darwin/arm64": "darwin-arm64",
	"windows/amd64": "win32-x64", "windows/arm64": "win32-arm64",
}

// readBundle reads the program for a target from a folder, or builds it if the folder is "".
func readBundle(target, folder string) (bundle, error) {
	b := bundle{platforms[target], map[string][]byte{}}
	if b.platform == "" {
		return b, fmt.Errorf("target %q is not linux, darwin or windows with /amd64 or /arm64", target)
	}
	program := "appserver"
	if strings.HasPrefix(target, "windows/") {
		program += ".exe"
	}
	if folder == "" {
		temp, err := os.MkdirTemp("", "appserver-vsix-")
		if err != nil {
			return b, err
		}
		defer os.RemoveAll(temp)
		folder = temp
		if err := buildProgram(target, filepath.Join(folder, program)); err != nil {
			return b, err
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return b, err
	}
	for _, e := range entries {
		if b.files[e.Name()], err = os.ReadFile(filepath.Join(folder, e.Name())); err != nil {
			return b, err
		}
	}
	if b.files[program] == nil {
		return b, fmt.Errorf("the folder %s has no %s", folder, program)
	}
	return b, nil
}

// buildProgram builds the program for a target.
func buildProgram(target, path string) error {
	system, processor, _ := strings.Cut(target, "/")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "./cmd/appserver")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s does not build: %w\n%s", target, err, out)
	}
	return nil
}
