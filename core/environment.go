package core

import (
	"encoding/xml"
	"path"
	"strings"

	"appserver/protocol"
)

// describeWorld puts what is news to the model into the history.
func (s *step) describeWorld(w World) {
	for _, m := range s.news(w) {
		s.item(m)
	}
}

// news are the environment and the user's instructions, where they are not what the model
// was last told.
func (t *Thread) news(w World) (messages []*protocol.Message) {
	if text := t.environmentText(w); text != t.environment {
		messages = append(messages, userText(text))
	}
	if text := instructionsText(w.Instructions); text != "" && text != t.instructions && !tellsAll(t.instructions, w.Instructions) {
		messages = append(messages, userText(text))
	}
	return messages
}

// surroundings are the environment and the user's instructions, whatever the model was told.
func (t *Thread) surroundings(w World) []*protocol.Message {
	messages := []*protocol.Message{userText(t.environmentText(w))}
	if text := instructionsText(w.Instructions); text != "" {
		messages = append(messages, userText(text))
	}
	return messages
}

// tellsAll tells whether a message of the reference implementation holds the files.
func tellsAll(text string, files []InstructionFile) bool {
	if !strings.HasPrefix(text, instructionsHead) {
		return false
	}
	for _, f := range files {
		if !strings.Contains(text, strings.TrimSpace(f.Text)) {
			return false
		}
	}
	return true
}

func (t *Thread) environmentText(w World) string {
	network := "restricted"
	switch p := t.settings.Sandbox.SandboxPolicyVariant.(type) {
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
		{"cwd", t.settings.Cwd}, {"shell", path.Base(w.Shell)}, {"current_date", w.Date}, {"timezone", w.Timezone},
		{"approval_policy", t.settings.ApprovalPolicy.Mode}, {"sandbox_mode", t.settings.Sandbox.Stored().Type}, {"network_access", network},
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
