package core

import (
	"encoding/xml"
	"path"
	"strings"

	"appserver/protocol"
)

// describeWorld puts the environment and the user's instructions into the history
// where they are not what the model was last told.
func (s *step) describeWorld(w World) {
	if text := s.environmentText(w); text != s.environment {
		s.item(userText(text))
	}
	if text := instructionsText(w.Instructions); text != "" && text != s.instructions {
		s.item(userText(text))
	}
}

func (s *step) environmentText(w World) string {
	network := "restricted"
	switch p := s.settings.Sandbox.SandboxPolicyVariant.(type) {
	case *protocol.DangerFullAccess:
		network = "enabled"
	case *protocol.ReadOnly:
		network = access(p.NetworkAccess)
	case *protocol.WorkspaceWrite:
		network = access(p.NetworkAccess)
	}
	var b strings.Builder
	b.WriteString("<environment_context>\n")
	for _, member := range [][2]string{
		{"cwd", s.settings.Cwd}, {"shell", path.Base(w.Shell)}, {"current_date", w.Date}, {"timezone", w.Timezone},
		{"approval_policy", s.settings.ApprovalPolicy.Mode}, {"sandbox_mode", s.settings.Sandbox.Stored().Type}, {"network_access", network},
	} {
		b.WriteString("  <" + member[0] + ">")
		_ = xml.EscapeText(&b, []byte(member[1])) // a strings.Builder takes everything
		b.WriteString("</" + member[0] + ">\n")
	}
	b.WriteString("</environment_context>")
	return b.String()
}

func access(allowed bool) string {
	if allowed {
		return "enabled"
	}
	return "restricted"
}

// instructionsText is "" without instructions.
func instructionsText(files []InstructionFile) string {
	if len(files) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<user_instructions>\n")
	for _, f := range files {
		b.WriteString("# " + f.Path + "\n\n" + strings.TrimSpace(f.Text) + "\n\n")
	}
	b.WriteString("</user_instructions>")
	return b.String()
}
