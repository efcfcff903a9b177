package skill

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"appserver/protocol"
)

// Named returns the skills that an input names, in its order and each once. An input names a skill
// by an item of type skill, or in a text as [$NAME](PATH) or $NAME. $NAME counts only if one
// enabled skill has the name. A link with another target names no skill. Missing are the items of
// type skill that match no skill.
func Named(skills []Skill, input []protocol.UserInput) (named []Skill, missing []protocol.SkillInput) {
	add := func(s *Skill) {
		if !slices.ContainsFunc(named, func(n Skill) bool { return n.Path == s.Path }) {
			named = append(named, *s)
		}
	}
	mention := regexp.MustCompile(`\[\$[A-Za-z0-9_:-]+\]\([ \t]*([^()]*?)[ \t]*\)|\$([A-Za-z0-9_:-]+)`)
	for _, in := range input {
		switch v := in.UserInputVariant.(type) {
		case *protocol.SkillInput:
			if s := at(skills, v.Path); s != nil {
				add(s)
			} else {
				missing = append(missing, *v)
			}
		case *protocol.TextInput:
			for _, m := range mention.FindAllStringSubmatch(v.Text, -1) {
				s := only(skills, m[2])
				if m[2] == "" {
					s = at(skills, strings.TrimPrefix(m[1], "skill://"))
				}
				if s != nil {
					add(s)
				}
			}
		}
	}
	return named, missing
}

// at returns the enabled skill of a file, or nil. The path may contain links.
func at(skills []Skill, path string) *Skill {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	path = filepath.Clean(path)
	if i := slices.IndexFunc(skills, func(s Skill) bool { return s.Enabled && s.Path == path }); i >= 0 {
		return &skills[i]
	}
	return nil
}

// only returns the enabled skill of a name, or nil if there is none or more than one.
func only(skills []Skill, name string) (found *Skill) {
	for i := range skills {
		if s := &skills[i]; s.Enabled && s.Name == name {
			if found != nil {
				return nil
			}
			found = s
		}
	}
	return found
}

// Names reports whether an input may name a skill. If not, the caller need not read the disk.
func Names(input []protocol.UserInput) bool {
	return slices.ContainsFunc(input, func(in protocol.UserInput) bool {
		switch v := in.UserInputVariant.(type) {
		case *protocol.SkillInput:
			return true
		case *protocol.TextInput:
			return strings.Contains(v.Text, "$")
		}
		return false
	})
}
