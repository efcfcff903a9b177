package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cmdline"
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

func (c commands) version() cmdline.Command {
	return cmdline.Command{Name: "version", Doc: "print the version; with --json, the commit and the Go version as well",
		Group: groupHelp, Define: func(flags *flag.FlagSet) cmdline.Run {
			asJSON := flags.Bool("json", false,
				"print a JSON object with version, protocol, commit, time, dirty, go, os and arch")
			return func([]string) error { return c.printVersion(*asJSON) }
		}}
}

func (c commands) printVersion(asJSON bool) (err error) {
	switch {
	case asJSON:
		info, _ := debug.ReadBuildInfo()
		return json.NewEncoder(c.Out).Encode(buildOf(info))
	case c.options.Codex:
		// Clients of the reference implementation search for its name and version. If the program is
		// named codex, some clients accept no other text.
		_, err = fmt.Fprintf(c.Out, "codex-cli %s\n", protocol.Level)
	default:
		_, err = fmt.Fprintf(c.Out, "codex-cli %s (appserver %s)\n", protocol.Level, app.Version)
	}
	return err
}
