package core

import (
	"strings"

	"appserver/core/pure/history"
	"appserver/platform/excerpt"
)

// Skill is a skill in the list for the model.
type Skill struct{ Name, Description, Path string }

// SkillText is a skill that the user's input names. Text is its file, or the reason why it cannot
// be read.
type SkillText struct{ Name, Path, Text string }

const (
	// maxSkillsText bounds the list of all skills, and maxSkillLine one entry, in bytes.
	maxSkillsText, maxSkillLine = 16 << 10, 600
	// SkillTag begins a message with a skill.
	SkillTag = history.SkillTag
)

// SkillsText returns the list of skills for the model, or "".
func SkillsText(skills []Skill) string {
	if len(skills) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Skills\nA skill is a file of instructions for one kind of task. If the task is of that kind, " +
		"read the whole file first and follow it. Paths in it are relative to its folder. " +
		"Do not read other skills. A skill that the user names is part of the message.\n")
	for _, s := range skills {
		line := "- " + excerpt.Head(s.Name+": "+s.Description, maxSkillLine) + " (" + s.Path + ")\n"
		if b.Len()+len(line) > maxSkillsText {
			b.WriteString("- More skills exist and are not listed.\n")
			break
		}
		b.WriteString(line)
	}
	return strings.TrimRight(b.String(), "\n")
}
