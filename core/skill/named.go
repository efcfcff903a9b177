package skill

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"appserver/protocol"
)

// Named are the skills that an input names, in its order and each once: as inputs of type
// skill, and in texts as [$NAME](PATH), or as $NAME where one skill alone that is enabled has
// the name. A link that leads elsewhere names no skill. Missing are the inputs of type skill
// that name none.
func Named(skills []Skill, input []protocol.UserInput) (named []Skill, missing []protocol.SkillInput) {
	take := func(s *Skill) {
		if !slices.ContainsFunc(named, func(n Skill) bool { return n.Path == s.Path }) {
			named = append(named, *s)
		}
	}
	mention := regexp.MustCompile(`\[\$[A-Za-z0-9_:-]+\]\([ \t]*([^()]*?)[ \t]*\)|\$([A-Za-z0-9_:-]+)`)
	for _, in := range input {
		switch v := in.UserInputVariant.(type) {
		case *protocol.SkillInput:
			if s := at(skills, v.Path); s != nil {
				take(s)
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
					take(s)
				}
			}
		}
	}
	return named, missing
}

// at is the enabled skill of that file, nil where there is none. Links may lead to it.
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

// only is the enabled skill of that name; nil where there is none, or more than one.
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

// Names tells whether an input may name a skill, so that others need no look at the disk.
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
