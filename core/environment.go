package core

import (
	"encoding/xml"
	"strings"

	"appserver/core/pure/command"
	"appserver/core/pure/history"
	"appserver/protocol"
)

// appendNotices adds the notices that the model does not know yet.
func (s *step) appendNotices(env TurnEnv) {
	for _, m := range s.newNotices(env) {
		s.item(m)
	}
}

// newNotices returns the mode, the skills, the facts about other agents, the environment and the instructions, if they
// differ from the last ones in the context.
func (t *Thread) newNotices(env TurnEnv) (messages []*protocol.Message) {
	if text := t.newMode(); text != "" {
		messages = append(messages, history.DeveloperMessage(text))
	}
	if text := t.newSkills(env.Capabilities.Skills); text != "" {
		messages = append(messages, history.DeveloperMessage(text))
	}
	for _, text := range []string{t.newTeam(), t.newAgentMode()} {
		if text != "" {
			messages = append(messages, history.DeveloperMessage(text))
		}
	}
	if text := t.environmentText(env); text != "" && text != t.context.Environment() {
		messages = append(messages, history.UserMessage(text))
	}
	if text := t.newInstructions(env.Instructions); text != "" {
		messages = append(messages, history.UserMessage(text))
	}
	return messages
}

const (
	// instructionsReplace begins instructions that differ from earlier ones in the context.
	instructionsReplace = "These instructions replace all earlier ones from AGENTS.md files.\n\n"
	// instructionsGone ends the earlier instructions if the working directory has none.
	instructionsGone = history.InstructionsTag +
		"\nThe earlier instructions from AGENTS.md files no longer apply.\n</user_instructions>"
	// foreignGone is the body by which the reference implementation ends instructions.
	foreignGone = "The previously provided AGENTS.md instructions no longer apply."
	// foreignReplace begins the body of its instructions that differ from earlier ones.
	foreignReplace = "These AGENTS.md instructions replace all previously provided AGENTS.md instructions."
)

// newInstructions returns the message that makes the files the instructions in force, or "" if
// they are in force.
func (t *Thread) newInstructions(files []InstructionFile) string {
	text := instructionsText(files, "")
	none := t.context.Instructions() == "" || t.context.Instructions() == instructionsGone ||
		strings.Contains(t.context.Instructions(), foreignGone)
	switch replacing := instructionsText(files, instructionsReplace); {
	case none:
		return text
	case text == "":
		return instructionsGone
	case t.context.Instructions() == text, t.context.Instructions() == replacing,
		isForeignFor(t.context.Instructions(), t.state.Settings.Cwd, files):
		return ""
	default:
		return replacing
	}
}

// allNotices returns the environment and the instructions.
func (t *Thread) allNotices(env TurnEnv) []*protocol.Message {
	var messages []*protocol.Message
	if text := t.environmentText(env); text != "" {
		messages = append(messages, history.UserMessage(text))
	}
	if text := instructionsText(env.Instructions, ""); text != "" {
		messages = append(messages, history.UserMessage(text))
	}
	return messages
}

// isForeignFor reports whether a message of the reference implementation has the files, and no others,
// for the working directory.
func isForeignFor(text, cwd string, files []InstructionFile) bool {
	head, body, found := strings.Cut(text, "<INSTRUCTIONS>")
	if !found || !strings.HasPrefix(head, history.InstructionsHead) {
		return false
	}
	if _, dir, named := strings.Cut(head, " for "); named && strings.TrimSpace(dir) != cwd {
		return false
	}
	for _, f := range files {
		before, after, held := strings.Cut(body, strings.TrimSpace(f.Text))
		if !held {
			return false
		}
		body = before + after
	}
	for _, own := range []string{foreignReplace, "--- project-doc ---", "</INSTRUCTIONS>"} {
		body = strings.ReplaceAll(body, own, "")
	}
	return strings.TrimSpace(body) == ""
}

// environmentText describes the environment. It is empty if the model gets no description. A date that is not known is
// left out.
func (t *Thread) environmentText(env TurnEnv) string {
	if env.NoEnvironment {
		return ""
	}
	network := "restricted"
	switch p := t.state.Settings.Sandbox.SandboxPolicyVariant.(type) {
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
		{"cwd", t.state.Settings.Cwd}, {"shell", command.ShellName(env.Shell)},
		{"current_date", env.Date}, {"timezone", env.Timezone},
		{"approval_policy", t.state.Settings.ApprovalPolicy.Mode}, {"sandbox_mode", t.state.Settings.Sandbox.Stored().Type},
		{"network_access", network},
	} {
		if member[1] == "" && (member[0] == "current_date" || member[0] == "timezone") && env.Date == "" {
			continue
		}
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

// instructionsText returns the message with the files, or "" without files.
func instructionsText(files []InstructionFile, opening string) string {
	if len(files) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(history.InstructionsTag + "\n" + opening)
	for _, f := range files {
		b.WriteString("# " + f.Path + "\n\n" + strings.TrimSpace(f.Text) + "\n\n")
	}
	b.WriteString("</user_instructions>")
	return b.String()
}
