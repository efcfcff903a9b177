package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"

	"appserver/cmd/appserver/internal/app"
	"appserver/protocol"
)

// buildFacts describes the build of this binary.
type buildFacts struct {
	Version  string `json:"version"`
	Protocol string `json:"protocol"`
	// Commit and Time are null if the build has no version control data, for example in a worktree.
	Commit *string `json:"commit"`
	Time   *string `json:"time"`
	// Dirty is true if files differed from the commit, and null without a commit.
	Dirty *bool  `json:"dirty"`
	Go    string `json:"go"`
	OS    string `json:"os"`
	Arch  string `json:"arch"`
}

func buildOf(info *debug.BuildInfo) buildFacts {
	b := buildFacts{Version: app.Version, Protocol: protocol.Level, Go: runtime.Version(), OS: runtime.GOOS,
		Arch: runtime.GOARCH}
	if info == nil {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = new(s.Value)
		case "vcs.time":
			b.Time = new(s.Value)
		case "vcs.modified":
			b.Dirty = new(s.Value == "true")
		}
	}
	return b
}

func printVersion(args []string, s app.Streams, o *app.Options) error {
	flags := flag.NewFlagSet("version", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print a JSON object with version, protocol, commit, time, dirty, go, os and arch")
	if err := app.ParseFlags(flags, args, s, "version [--json]"); err != nil {
		return err
	}
	if *asJSON {
		info, _ := debug.ReadBuildInfo()
		return json.NewEncoder(s.Out).Encode(buildOf(info))
	}
	// Clients of the reference implementation search for its name and version. If the program is
	// named codex, some clients accept no other text.
	if o.Codex {
		_, err := fmt.Fprintf(s.Out, "codex-cli %s\n", protocol.Level)
		return err
	}
	_, err := fmt.Fprintf(s.Out, "codex-cli %s (appserver %s)\n", protocol.Level, app.Version)
	return err
}
