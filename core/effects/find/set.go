package find

import "strings"

// set is a set of bytes.
type set [4]uint64

func (s set) has(b byte) bool { return s[b/64]&(1<<(b%64)) != 0 }

// with adds a range. A descending range is empty.
func (s set) with(low, high byte) set {
	for b := int(low); b <= int(high); b++ {
		s[b/64] |= 1 << (b % 64)
	}
	return s
}

func (s set) without(b byte) set {
	s[b/64] &^= 1 << (b % 64)
	return s
}

// but returns the complement of the set, without the slash.
func (s set) but() set {
	for i := range s {
		s[i] = ^s[i]
	}
	return s.without('/')
}

// parseSet returns the set in the brackets at the begin of a text, and their length, or 0 if they are
// not closed or name an unknown class.
func parseSet(text string) (s set, n int) {
	at := 1
	not := strings.HasPrefix(text[at:], "!") || strings.HasPrefix(text[at:], "^")
	if not {
		at++
	}
	for low := byte(0); ; {
		members, n, next := parseMember(text[at:], low)
		if n == 0 {
			return s, 0
		}
		for i := range s {
			s[i] |= members[i]
		}
		low = next
		if at += n; strings.HasPrefix(text[at:], "]") {
			break
		}
	}
	if not {
		s = s.but()
	}
	return s, at + 1
}

// parseMember returns the next member of brackets and its length, or 0 for an error. low is the byte
// before it, which may begin a range, or 0. next is the low of the following member.
func parseMember(text string, low byte) (members set, n int, next byte) {
	if low > 0 && len(text) > 1 && text[0] == '-' && text[1] != ']' {
		high, n := parseByte(text[1:])
		return set{}.with(low, high), n + min(n, 1), 0
	}
	if strings.HasPrefix(text, "[:") {
		name, _, closed := strings.Cut(text[2:], "]")
		if !closed {
			return set{}, 0, 0
		}
		if class, is := strings.CutSuffix(name, ":"); is {
			ranges := classRanges(class)
			for ; n < len(ranges); n += 2 {
				members = members.with(ranges[n], ranges[n+1])
			}
			return members, min(n, 1) * (len(name) + 3), 0
		}
	}
	b, n := parseByte(text)
	return set{}.with(b, b), n, b
}

// parseByte returns a byte that may be escaped, and its length, or 0.
func parseByte(text string) (byte, int) {
	switch {
	case text == "" || text == `\`:
		return 0, 0
	case text[0] == '\\':
		return text[1], 2
	}
	return text[0], 1
}

// classRanges returns the ends of the ranges of a POSIX class, or "".
func classRanges(name string) string {
	return map[string]string{
		"alnum": "azAZ09", "alpha": "azAZ", "blank": "\t\t  ", "cntrl": "\x00\x1f\x7f\x7f", "digit": "09", "graph": "!~",
		"lower": "az", "print": " ~", "punct": "!/:@[`{~", "space": "\t\n\r\r  ", "upper": "AZ", "xdigit": "09afAF",
	}[name]
}
