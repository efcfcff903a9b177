package core

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"appserver/core/digest"
	"appserver/core/history"
	"appserver/protocol"
)

const (
	// leastBullet is how many characters a bullet has at least room for.
	minBullet = 40
	// longestKey is how many characters of a repository's key the model is shown.
	maxKey = 80
)

// reminderText is what the model is reminded of by what was found about a question, within
// the rules; "" where that is nothing.
func (t *Thread) reminderText(in Recalled, question string) string {
	held := t.contextText(in.Found)
	var bullets []string
	var newest time.Time
	head := reminderHeading(in.Repo, newest) // as long as any other
	room := t.memory.Chars - utf8.RuneCountInString(head)
	for _, m := range in.Found {
		left := t.memory.Items - len(bullets)
		if left == 0 || room < minBullet {
			break
		}
		sentences := digest.About(m.Text, question, room/left-len(bulletMark))
		if len(sentences) == 0 || t.isInContext(m) || !slices.ContainsFunc(sentences, func(one string) bool { return !strings.Contains(held, one) }) {
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
	if n := utf8.RuneCountInString(repo); n > maxKey {
		runes := []rune(repo)
		repo = "…" + string(runes[n-maxKey+1:])
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

// isInContext tells whether all that a memory was made of is in the context again.
func (t *Thread) isInContext(m Memory) bool {
	if m.Session != t.id || len(m.Items) == 0 {
		return false
	}
	for _, id := range m.Items {
		if place, found := t.context.Find(id); !found || !t.context.InPrompt(place) {
			return false
		}
	}
	return true
}

// contextText is what the messages of the context say but for the reminder, where anything was
// found that could be in it.
func (t *Thread) contextText(found []Memory) string {
	if len(found) == 0 {
		return ""
	}
	var b strings.Builder
	for i := range t.context.Len() {
		if c := t.context.Item(i); c.IsMessage() && !c.IsNotice() && t.context.InPrompt(i) {
			b.WriteString(strings.Join(strings.Fields(history.TextOf(c.Decode())), " "))
			b.WriteByte('\n')
		}
	}
	return b.String()
}
