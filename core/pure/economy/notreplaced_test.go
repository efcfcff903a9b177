package economy_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// call adds a call of any tool and its output, and returns the id of the output.
func (s *session) call(tool string, arguments map[string]any, output protocol.ToolOutput) string {
	s.calls++
	id := fmt.Sprintf("call_%d", s.calls)
	raw, _ := json.Marshal(arguments)
	s.add(&protocol.FunctionCall{Name: tool, CallID: id, Arguments: string(raw)})
	return s.add(&protocol.FunctionCallOutput{CallID: id, Output: output})
}

// in adds a shell call in a directory.
func (s *session) in(dir, script, output string) string {
	return s.call("exec_command", map[string]any{"cmd": script, "workdir": dir},
		protocol.ToolOutput{Text: "Exit code: 0\n" + output})
}

func image(url string) protocol.ToolOutput {
	return protocol.ToolOutput{Parts: []protocol.ContentItem{{Type: protocol.ContentInputImage, ImageURL: url}}}
}

// Each case adds an output and a later item that looks as if it replaced the output. The output is named because
// nothing uses it, which is a risk, not because a later item has its content.
func TestFindTakesNoOutputForReplacedByAnItemWithoutItsContent(t *testing.T) {
	patch := "*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** End Patch"
	for name, add := range map[string]func(s *session) string{
		"the same path in another directory": func(s *session) string {
			id := s.in("/repo/core", "cat README.md", long("core"))
			s.in("/repo/docs", "cat README.md", long("docs"))
			return id
		},
		"the same command in another directory": func(s *session) string {
			id := s.in("core", "ls -l", long("core"))
			s.in("", "ls -l", long("all"))
			return id
		},
		"the next output of a terminal": func(s *session) string {
			poll := map[string]any{"session_id": 1, "chars": ""}
			id := s.call("write_stdin", poll, protocol.ToolOutput{Text: long("first")})
			s.call("write_stdin", poll, protocol.ToolOutput{Text: long("second")})
			return id
		},
		"the next page of a tool": func(s *session) string {
			id := s.call("mcp__docs__next", nil, protocol.ToolOutput{Text: long("page 1")})
			s.call("mcp__docs__next", nil, protocol.ToolOutput{Text: long("page 2")})
			return id
		},
		"a later read that was cut": func(s *session) string {
			id := s.run("sed -n 1,60p a.go", long("a.go"))
			s.run("cat a.go", "Exit code: 0\nOutput:\nx\n[... 960000 bytes cut ...]\ny")
			return id
		},
		"a later run that has not ended": func(s *session) string {
			id := s.run("make test", "Exit code: 0\n"+long("test"))
			s.run("make test", "Wall time: 0.2500 seconds\nProcess running with session ID 3\nOutput:\ntest 1")
			return id
		},
		"a later read that has not ended": func(s *session) string {
			id := s.run("sed -n 1,60p a.go", long("a.go"))
			s.run("cat a.go", "Wall time: 0.2500 seconds\nProcess running with session ID 3\nOutput:\nfirst line")
			return id
		},
		"a later read that the user shortened": func(s *session) string {
			id := s.run("sed -n 1,60p a.go", long("a.go"))
			s.edit(&protocol.Replace{ID: new(s.run("cat a.go", long("a.go, newer"))), Text: "short"})
			return id
		},
		"a later run that failed": func(s *session) string {
			id := s.run("curl example.org", long("page"))
			s.run("curl example.org", "Exit code: 7\nno route")
			return id
		},
		"a later run that the user declined": func(s *session) string {
			id := s.run("cat a.go", long("a.go"))
			s.run("cat a.go", "The user declined this command. It was not run.")
			return id
		},
		"a patch that was not applied": func(s *session) string {
			id := s.run("cat a.go", long("a.go"))
			s.call("apply_patch", map[string]any{"input": patch}, protocol.ToolOutput{Text: "The patch was not applied. No such line."})
			return id
		},
		"a patch that the user declined": func(s *session) string {
			id := s.run("cat a.go", long("a.go"))
			s.run("apply_patch <<'EOF'\n"+patch+"\nEOF", "The user declined this patch. No file was changed.")
			return id
		},
		"a patch of a file in another directory": func(s *session) string {
			id := s.run("cat a.go", long("a.go"))
			s.run("cd core && apply_patch <<'EOF'\n"+patch+"\nEOF", "Success.")
			return id
		},
		"a change that the user declined": func(s *session) string {
			id := s.run("cat a.go", long("a.go"))
			s.run("rm a.go", "The user declined this command. It was not run.")
			return id
		},
	} {
		s := &session{t: t}
		s.user("look")
		id := add(s)
		s.fill()
		require.Equal(t, protocol.SuggestUncitedOutput, s.find()[id], name)
	}
}

func TestFindTakesNoImageForAnother(t *testing.T) {
	s := &session{t: t}
	s.user("look")
	first := s.call("view_image", map[string]any{"path": "a.png"}, image("data:image/png;base64,aaaa"))
	s.call("view_image", map[string]any{"path": "b.png"}, image("data:image/png;base64,bbbb"))
	s.fill()
	require.Equal(t, protocol.SuggestDescribedImage, s.find()[first])
}

func TestFindFollowsTheDirectoryOfACall(t *testing.T) {
	s := &session{t: t}
	s.user("look")
	read := s.in("/repo/core", "cat a.go", long("a.go"))
	repeated := s.in("/repo/", "git status", long("modified"))
	patched := s.run("cat core/b.go", long("b.go"))
	s.run("cat core/a.go", long("a.go, newer"))
	s.run("git status", "Exit code: 0\n"+long("clean"))
	s.in("core", "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: b.go\n@@\n-x\n+y\n*** End Patch\nEOF", "Success.")
	s.fill()
	require.Equal(t, protocol.SuggestSupersededRead, s.find()[read])
	require.Equal(t, protocol.SuggestRepeatedCommand, s.find()[repeated])
	require.Equal(t, protocol.SuggestStaleRead, s.find()[patched])
}

func TestFindLeavesWhatLaterMessagesQuoteInCode(t *testing.T) {
	s := &session{t: t}
	s.user("look")
	fenced := s.run("cat a.go", long("a.go")+"\n\treturn wrap(err, value)\n")
	asked := s.run("go vet ./...", long("vet")+"\nb.go:7: unreachable code\n")
	s.answer("The last line:\n```go\nreturn wrap(err, value)\n```\n")
	s.user("What does `b.go:7: unreachable code` mean?")
	s.fill()
	require.NotContains(t, s.find(), fenced)
	require.NotContains(t, s.find(), asked)
}
