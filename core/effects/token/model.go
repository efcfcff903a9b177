package token

import "strings"

// family is a set of models with one encoding.
type family uint8

const (
	unknownFamily family = iota
	o200kFamily
	cl100kFamily
)

// familyOf returns the family of a model by its name, which is the same with any provider. It ignores
// a vendor ("openai/gpt-5"), the mark of a fine-tuned model ("ft:gpt-4o:acme") and any suffix. gpt-oss
// uses o200k_harmony, which differs from o200k_base in its special tokens only.
func familyOf(model string) family {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	name = strings.TrimPrefix(name, "ft:")
	for _, stem := range [...]string{
		"gpt-4o", "chatgpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-6", "gpt-oss", "o1", "o3", "o4", "codex",
	} {
		if belongs(name, stem) {
			return o200kFamily
		}
	}
	for _, stem := range [...]string{"gpt-4", "gpt-3.5", "gpt-35"} {
		if belongs(name, stem) && !strings.HasPrefix(name, stem+".") {
			return cl100kFamily
		}
	}
	return unknownFamily
}

// belongs reports whether a name is the stem, or continues with a sign: "o1-mini" belongs to "o1", and
// "o10" does not.
func belongs(name, stem string) bool {
	rest, ok := strings.CutPrefix(name, stem)
	return ok && (rest == "" || strings.IndexByte("-.:@_", rest[0]) >= 0)
}
