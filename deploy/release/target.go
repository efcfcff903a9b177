package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// target is a system and a processor, with the names that Go gives them.
type target struct{ system, processor string }

func (t target) String() string { return t.system + "/" + t.processor }

// id returns the part of file names for the target.
func (t target) id() string { return t.system + "_" + t.processor }

func (t target) executable() string {
	if t.system == "windows" {
		return "appserver.exe"
	}
	return "appserver"
}

// parseTargets returns the targets of a list that another list does not have.
func parseTargets(list, excluded string) ([]target, error) {
	var targets []target
	out := strings.Fields(excluded)
	for _, name := range strings.Fields(list) {
		system, processor, found := strings.Cut(name, "/")
		t := target{system, processor}
		if !found || t.nodeSystem() == "" || t.nodeProcessor() == "" {
			return nil, fmt.Errorf("target %q is not linux, darwin or windows with /amd64 or /arm64", name)
		}
		if !slices.Contains(out, name) {
			targets = append(targets, t)
		}
	}
	if len(targets) == 0 {
		return nil, fmt.Errorf("no targets are left of %q without %q", list, excluded)
	}
	return targets, nil
}

// build builds the program for a target. GOFLAGS and the level of the processor do not depend on the
// environment, because they change the program.
func (r *release) build(ctx context.Context, t target, path string) error {
	variable := "appserver/cmd/appserver/internal/app.Version"
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=auto", "-mod=readonly",
		"-ldflags", "-s -w -X "+variable+"="+r.version, "-o", path, "./cmd/appserver")
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.system, "GOARCH="+t.processor, "GOFLAGS=", "GOWORK=off",
		"GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s does not build: %w\n%s", t, err, out)
	}
	return nil
}

// readCommit reads the time of the commit, and the version from its tag unless it is given. A commit
// without a tag gives a version before all others.
func (r *release) readCommit(ctx context.Context) error {
	seconds, err := r.git(ctx, "log", "-1", "--format=%ct")
	if given := os.Getenv("SOURCE_DATE_EPOCH"); given != "" {
		seconds, err = given, nil
	}
	if err != nil {
		return fmt.Errorf("the time of the commit is unknown; set SOURCE_DATE_EPOCH: %w", err)
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("the time of the commit: %w", err)
	}
	r.time = time.Unix(unix, 0).UTC()
	if r.version != "" {
		r.version = strings.TrimPrefix(r.version, "v")
		return nil
	}
	changed, err := r.git(ctx, "status", "--porcelain")
	if err != nil {
		return fmt.Errorf("the version is unknown; set VERSION: %w", err)
	}
	tag, err := r.git(ctx, "describe", "--tags", "--exact-match", "--match", "v[0-9]*")
	switch {
	case err == nil && changed != "":
		return fmt.Errorf("files differ from %s; commit them or set VERSION:\n%s", tag, changed)
	case err == nil:
		r.version = strings.TrimPrefix(tag, "v")
		return nil
	}
	commit, err := r.git(ctx, "rev-parse", "--short=12", "HEAD")
	r.version = "0.0.0-dev.g" + commit
	if changed != "" {
		r.version += ".changed"
	}
	return err
}

func (r *release) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// command runs a command in the repository and returns its output.
func (r *release) command(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stderr = r.root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", filepath.Base(name), args[0], err)
	}
	return out, nil
}
