package digest

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	earlierTitle = "Previous requests:"
	// requestLimit is the longest line of a request, in bytes.
	requestLimit = 500
	// minLine is the length of the shortest useful line, in bytes.
	minLine = len("\n- ") + len(ellipsis) + utf8.UTFMax
)

// Earlier lists earlier messages of the user in at most limit bytes, one line each, the oldest first.
// If they do not all fit, the newest and the very first stay, and a line has the number of missing
// ones. It returns "" if there are no messages, or if limit has no room for any.
func Earlier(messages []string, limit int) string {
	var lines []string
	for _, text := range messages {
		if line := headLine(text, requestLimit); line != "" && ownWords(text) {
			lines = append(lines, "\n- "+line)
		}
	}
	room := limit - len(earlierTitle)
	if len(lines) == 0 || room < minLine {
		return ""
	}
	return earlierTitle + strings.Join(chosen(lines, room), "")
}

// chosen returns the lines that fit into room, with a mark for the others: the newest, shortened if
// necessary, the first, and then the next newest.
func chosen(lines []string, room int) []string {
	total := 0
	for _, line := range lines {
		total += len(line)
	}
	end := len(lines) - 1
	mark := len(missingRequests(end))
	switch {
	case total <= room:
		return lines
	case end == 0 || room < mark+minLine:
		return []string{firstBytes(lines[end], room)}
	}
	room -= mark
	last := firstBytes(lines[end], room-min(len(lines[0]), room/3))
	room -= len(last)
	var list []string
	if len(lines[0]) <= room || room >= scrapLimit {
		list = append(list, firstBytes(lines[0], room))
		room -= len(list[0])
	}
	from := end
	for from > len(list) && len(lines[from-1]) <= room {
		from--
		room -= len(lines[from])
	}
	list = append(list, missingRequests(from-len(list)))
	return append(append(list, lines[from:end]...), last)
}

func missingRequests(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("\n[… %d left out …]", n)
}
