package refusal

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"appserver/platform/pattern"
)

// refusing are words of a refusal. They count only near the name of a member.
var refusing = pattern.AnyOf(
	`unrecogni[sz]ed`, `unknown`, `unsupported`, `not supported`, `(does|do) ?n[o']t support`,
	`not (yet )?(permitted|allowed|accepted|available|implemented|valid|expected|recogni[sz]ed|enabled)`,
	`unexpected`, `extra (inputs?|fields?|arguments?)`,
	`invalid (parameter|argument|field|key|property|option|request)`, `no longer`,
	`not a (valid|known)`, `forbidden`, `can ?not be (used|set|specified)`, `additional propert`,
	`unavailable`, `deprecated`, `不支持`, `非法`)

// asMember matches the words directly before the name of a member. A name that is an English word, such as text, needs
// them.
const asMember = `(?:parameters?|arguments?|fields?|propert(?:y|ies)|keys?|members?|options?|inputs?)\s*(?:supplied|name)?\s*:?\s*`

// nearby is how far the words of a refusal are from the name of the member, in bytes.
const nearby = 80

// names reports whether the refusal names a member of the request. A param of the provider decides alone.
func (r *Refusal) names(member string) bool {
	if r.TooLong {
		return false
	}
	if param := strings.TrimPrefix(r.Param, "body."); param != "" && param != "body" {
		return within(param, member)
	}
	for _, at := range spellings(member).FindAllStringIndex(r.Text, 10) {
		if refusing().MatchString(r.Text[max(0, at[0]-nearby):min(len(r.Text), at[1]+nearby)]) {
			return true
		}
	}
	return false
}

// within reports whether a path is that of a member or of a part of it.
func within(path, member string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(path), member)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// spellings matches the ways in which providers spell a member: as it is, in camel case, with spaces or dashes. A
// member that is an English word must be in quotes, or called a parameter.
func spellings(member string) *regexp.Regexp {
	words := strings.FieldsFunc(member, func(r rune) bool { return r == '_' || r == '.' })
	form := "(?i)"
	if len(words) == 1 {
		form += "['\"`]" + member + "['\"`]|" + asMember + member + `\b`
	} else {
		form += `\b` + strings.Join(words, `[-_. ]?`) + `\b`
	}
	return regexp.MustCompile(form)
}

// learnMembers leaves out the members that a refusal names. It looks at the inner ones first.
func learnMembers(r *Refusal, q *Request, d *Demands) string {
	if !r.rejects() {
		return ""
	}
	for _, member := range q.Members {
		if d.Omitted[member] || !r.names(member) {
			continue
		}
		if d.Omitted == nil {
			d.Omitted = map[string]bool{}
		}
		d.Omitted[member] = true
		return fmt.Sprintf("The provider does not take %s. Requests to the model are sent without it.", member)
	}
	return ""
}

// Filter removes the omitted members from a request. It returns the optional members that are left.
func (d *Demands) Filter(members map[string]json.RawMessage, optional []string) (sent []string) {
	for _, name := range optional {
		if d.Omitted[name] {
			delete(members, name)
		} else if members[name] != nil {
			sent = append(sent, name)
		}
	}
	return sent
}
