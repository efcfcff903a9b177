package core

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"appserver/core/digest"
	"appserver/protocol"
)

const (
	// leastBullet is how many characters a bullet has at least room for.
	leastBullet = 40
	// longestKey is how many characters of a repository's key the model is shown.
	longestKey = 80
)

// reminderText is what the model is reminded of by what was found about a question, within
// the rules; "" where that is nothing.
func (t *Thread) reminderText(in Recalled, question string) string {
	held := t.heldText(in.Found)
	var bullets []string
	var newest time.Time
	head := reminderHeading(in.Repo, newest) // as long as any other
	room := t.memory.Chars - utf8.RuneCountInString(head)
	for _, m := range in.Found {
		left := t.memory.Items - len(bullets)
		if left == 0 || room < leastBullet {
			break
		}
		sentences := digest.About(m.Text, question, room/left-len(bulletMark))
		if len(sentences) == 0 || t.holds(m) || !slices.ContainsFunc(sentences, func(one string) bool { return !strings.Contains(held, one) }) {
			continue
		}
		bullet := bulletOf(m, sentences, room/left)
		if slices.Contains(bullets, bullet) {
			continue
		}
		bullets = append(bullets, bullet)
		room -= utf8.RuneCountInString(bullet)
		if m.At.After(newest) {
			newest = m.At
		}
	}
	if len(bullets) == 0 {
		return ""
	}
	return reminderHeading(in.Repo, newest) + strings.Join(bullets, "")
}

// reminderHeading names the repository by the end of its key, and when the newest of what
// follows was remembered.
func reminderHeading(repo string, newest time.Time) string {
	if n := utf8.RuneCountInString(repo); n > longestKey {
		runes := []rune(repo)
		repo = "…" + string(runes[n-longestKey+1:])
	}
	return fmt.Sprintf("%s repo=%s | ts=%s]", protocol.ReminderHead, strings.Join(strings.Fields(repo), " "), newest.UTC().Format(time.RFC3339))
}

const bulletMark = "\n- "

// bulletOf is sentences of a memory behind its title, where there is room for that.
func bulletOf(m Memory, sentences []string, room int) string {
	text := strings.Join(sentences, " ")
	title := strings.Join(strings.Fields(m.Title), " ")
	if title != "" && !strings.Contains(text, title) && utf8.RuneCountInString(bulletMark+title+": "+text) <= room {
		text = title + ": " + text
	}
	return bulletMark + text
}

// holds tells whether all that a memory was made of is in the context again.
func (t *Thread) holds(m Memory) bool {
	if m.Session != t.id || len(m.Items) == 0 {
		return false
	}
	for _, id := range m.Items {
		if place, found := t.find(id); !found || !t.inPrompt(place) {
			return false
		}
	}
	return true
}

// heldText is what the messages of the context say but for the reminder, where anything was
// found that could be in it.
func (t *Thread) heldText(found []Memory) string {
	if len(found) == 0 {
		return ""
	}
	var b strings.Builder
	for i := range t.items {
		if c := &t.items[i]; c.message && c.tells == nothing && t.inPrompt(i) {
			b.WriteString(strings.Join(strings.Fields(textOf(c.decoded())), " "))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// remind makes the item that joined last the one reminder. The model is never reminded of more
// than the rules allow.
func (h *history) remind() {
	h.remindOf(int32(len(h.items) - 1))
	before := h.reordered
	h.placeReminder()
	h.reordered = before // a new item has no place yet
}

// placeReminder moves the reminder directly before the conversation: before the first item kept
// that tells nothing of the surroundings, or to the end without one. The place depends on the kept
// items alone, so that undo and a reload give the same order.
func (h *history) placeReminder() {
	if h.reminded == 0 {
		return
	}
	first := int32(none)
	for i := range h.inOrder() {
		if c := &h.items[i]; c.kept() && c.tells == nothing {
			first = int32(i)
			break
		}
	}
	h.conversing = first != none
	if h.move(h.reminded-1, first) {
		h.reordered = true
	}
}

// remindOf puts one reminder in the place of the one that counts.
func (h *history) remindOf(place int32) {
	if h.reminded > 0 {
		h.items[h.reminded-1].outdated = true
	}
	h.reminded = place + 1
	h.items[place].outdated = false
}

// remindAgain has the last reminder count that is not hidden: where a revert took out the
// turn that another one came with, the one before is back.
func (h *history) remindAgain() {
	for i := len(h.items) - 1; i >= 0; i-- {
		if c := &h.items[i]; c.tells == theReminder && !c.fate.hidden {
			h.remindOf(int32(i))
			return
		}
	}
}
