package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"appserver/docs/demo/prepared"
)

// workbench prepares a conversation and serves its page until the user presses Ctrl+C.
func workbench(binary string) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "appserver-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Println("Preparing a conversation with the offline provider…")
	home, err := prepared.Make(binary, dir)
	if err != nil {
		return err
	}
	fmt.Println("Press Ctrl+C to end the server and to remove the conversation.")
	fmt.Printf("To open it again, run in another terminal: CODEX_HOME=%s %s web --ticket\n", home.Path, binary)
	signal.Ignore(os.Interrupt) // the server ends by it, and this program then cleans up
	cmd := exec.Command(binary, "web")
	cmd.Dir = home.Project
	cmd.Env = append(os.Environ(), "CODEX_HOME="+home.Path, "SHELL=/bin/sh")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
