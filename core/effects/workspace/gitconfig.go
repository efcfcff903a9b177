package workspace

import "strings"

// originURL returns the first url of the section [remote "origin"] of a git config file, or "".
func originURL(text string) string {
	inOrigin := false
	for line := range strings.Lines(joinLines(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section, rest := cutSection(line)
			inOrigin = section == `remote "origin"`
			line = strings.TrimSpace(rest)
		}
		key, value, ok := strings.Cut(line, "=")
		if inOrigin && ok && strings.EqualFold(strings.TrimSpace(key), "url") {
			return configValue(value)
		}
	}
	return ""
}

// joinLines joins each line that ends in a backslash with the next one.
func joinLines(text string) string {
	return strings.NewReplacer("\\\r\n", "", "\\\n", "").Replace(text)
}

// cutSection splits a line [name "subsection"] rest. The name's case does not
// count, the subsection's does.
func cutSection(line string) (section, rest string) {
	quoted := false
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == '\\' && quoted:
			i++
		case line[i] == '"':
			quoted = !quoted
		case line[i] == ']' && !quoted:
			name, sub, _ := strings.Cut(line[1:i], " ")
			return strings.ToLower(name) + " " + strings.TrimSpace(sub), line[i+1:]
		}
	}
	return "", ""
}

// configValue returns the value behind a =: quotes go, escapes are resolved, a # or ;
// outside quotes begins a comment.
func configValue(raw string) string {
	var b strings.Builder
	quoted, kept := false, 0
	raw = strings.TrimSpace(raw)
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case c == '"':
			quoted = !quoted
			kept = b.Len()
			continue
		case (c == '#' || c == ';') && !quoted:
			return b.String()[:kept]
		case c == '\\' && i+1 < len(raw):
			i++
			c = unescape(raw[i])
		}
		b.WriteByte(c)
		if quoted || c != ' ' && c != '\t' {
			kept = b.Len()
		}
	}
	return b.String()[:kept]
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	}
	return c
}
