package skill

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"appserver/platform/excerpt"
	"appserver/platform/osfile"
	"appserver/protocol"
)

const (
	// maxFile bounds the size of a file, in bytes.
	maxFile = 256 << 10
	// maxYAML bounds the YAML in it, in bytes, because the parser is slow with many keys.
	maxYAML = 16 << 10
	// maxName, maxDescription and maxShort bound the texts of a skill, in characters.
	maxName, maxDescription, maxShort = 64, 1024, 1024
)

var (
	errNoHead = errors.New("missing YAML frontmatter delimited by ---")
)

// head is the YAML at the start of SKILL.md.
type head struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Metadata    struct {
		ShortDescription string `yaml:"short-description"`
	} `yaml:"metadata"`
}

// read reads the file of a skill, and agents/openai.yaml beside it. The files are in one of the folders within, or
// anywhere without those.
func read(path string, within []string) (Skill, error) {
	text, err := textOf(path, within)
	if err != nil {
		return Skill{}, err
	}
	h, _, err := FrontMatter[head](text)
	if err != nil {
		return Skill{}, err
	}
	s := Skill{
		SkillMetadata: protocol.SkillMetadata{
			Name: excerpt.Line(h.Name), Description: excerpt.Line(h.Description), Path: path,
		},
		within: within,
	}
	if s.Name == "" {
		s.Name = excerpt.Line(strings.ToValidUTF8(filepath.Base(filepath.Dir(path)), "\ufffd"))
	}
	if short := excerpt.Line(h.Metadata.ShortDescription); short != "" {
		s.ShortDescription = &short
	}
	if err := check(s.SkillMetadata); err != nil {
		return Skill{}, err
	}
	s.extend(filepath.Dir(path))
	return s, nil
}

func check(s protocol.SkillMetadata) error {
	switch {
	case s.Description == "":
		return errors.New("missing field `description`")
	case utf8.RuneCountInString(s.Name) > maxName:
		return fmt.Errorf("invalid name: exceeds maximum length of %d characters", maxName)
	case utf8.RuneCountInString(s.Description) > maxDescription:
		return fmt.Errorf("invalid description: exceeds maximum length of %d characters", maxDescription)
	case s.ShortDescription != nil && utf8.RuneCountInString(*s.ShortDescription) > maxShort:
		return fmt.Errorf("invalid metadata.short-description: exceeds maximum length of %d characters", maxShort)
	}
	return nil
}

// FrontMatter decodes the YAML between lines of three dashes at the start of a text, and returns the rest of the text.
func FrontMatter[T any](text string) (head T, body string, err error) {
	lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
	if strings.TrimSpace(lines[0]) != "---" {
		return head, "", errNoHead
	}
	for i, line := range lines[1:] {
		if strings.TrimSpace(line) == "---" {
			return head, strings.Join(lines[i+2:], "\n"), decodeHead(strings.Join(lines[1:i+1], "\n"), &head)
		}
	}
	return head, "", errNoHead
}

// decodeHead decodes the head. It also accepts a common error in files written by hand: a text with
// a colon and without quotes, which is not YAML.
func decodeHead[T any](text string, h *T) error {
	err := decode([]byte(text), h)
	if err == nil {
		return nil
	}
	bare := regexp.MustCompile("(?m)^([ \t]*[A-Za-z_-]+:[ \t]+)([^\"'\\[{|>&*!%@` \t\r\n][^\r\n]*: [^\r\n]*?)[ \t]*\r?$")
	quoted := bare.ReplaceAllStringFunc(text, func(line string) string {
		m := bare.FindStringSubmatch(line)
		return m[1] + "'" + strings.ReplaceAll(m[2], "'", "''") + "'"
	})
	var again T
	if decode([]byte(quoted), &again) != nil {
		return err
	}
	*h = again
	return nil
}

func decode(text []byte, to any) error {
	if len(text) > maxYAML {
		return fmt.Errorf("the YAML is larger than %d bytes", maxYAML)
	}
	var root yaml.Node
	err := yaml.Unmarshal(text, &root)
	if err == nil {
		err = distinct(&root)
	}
	if err == nil {
		err = root.Decode(to)
	}
	if err != nil {
		return errors.New("invalid YAML: " + excerpt.Line(strings.TrimPrefix(err.Error(), "yaml: ")))
	}
	return nil
}

// distinct fails at the first key that a mapping has twice. The decoder would report each pair of
// them, which takes hours.
func distinct(n *yaml.Node) error {
	seen := map[string]bool{}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && child.Kind == yaml.ScalarNode {
			if seen[child.Value] {
				return fmt.Errorf("line %d: mapping key %q already defined", child.Line, excerpt.Head(child.Value, maxName))
			}
			seen[child.Value] = true
		}
		if err := distinct(child); err != nil {
			return err
		}
	}
	return nil
}

// extras is the content of agents/openai.yaml.
type extras struct {
	Interface struct {
		DisplayName      string `yaml:"display_name"`
		ShortDescription string `yaml:"short_description"`
		IconSmall        string `yaml:"icon_small"`
		IconLarge        string `yaml:"icon_large"`
		BrandColor       string `yaml:"brand_color"`
		DefaultPrompt    string `yaml:"default_prompt"`
	} `yaml:"interface"`
	Dependencies struct {
		Tools []struct {
			Type        string `yaml:"type"`
			Value       string `yaml:"value"`
			Description string `yaml:"description"`
			Transport   string `yaml:"transport"`
			Command     string `yaml:"command"`
			URL         string `yaml:"url"`
		} `yaml:"tools"`
	} `yaml:"dependencies"`
	Policy struct {
		AllowImplicit *bool `yaml:"allow_implicit_invocation"`
	} `yaml:"policy"`
}

// lineOrNil returns a text as one line, or nil if it is blank.
func lineOrNil(text string) *string {
	return protocol.OrNil(excerpt.Line(text))
}

// within returns the path of a file of the skill, or nil for a file elsewhere.
func within(dir, name string) *string {
	if name == "" || !filepath.IsLocal(filepath.Clean(name)) {
		return nil
	}
	path := filepath.Join(dir, name)
	return &path
}

func textOf(path string, within []string) (string, error) {
	text, err := osfile.ReadRegular(path, osfile.Bounds{Max: maxFile + 1, Within: within})
	switch {
	case err != nil:
		return "", err
	case len(text) > maxFile:
		return "", fmt.Errorf("larger than %d bytes", maxFile)
	}
	return string(bytes.ToValidUTF8(text, []byte("\ufffd"))), nil
}
