package core

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"appserver/core/pure/digest"
	"appserver/core/pure/history"
	"appserver/protocol"
)

const (
	// minBullet is the least room for a bullet, in characters.
	minBullet = 40
	// maxKey bounds a repository's key in a reminder, in characters.
	maxKey = 80
)

// reminderText returns the reminder for a question, within the rules, or "" if no match helps.
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
		if len(sentences) == 0 || t.isInContext(m) ||
			!slices.ContainsFunc(sentences, func(one string) bool { return !strings.Contains(held, one) }) {
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

// reminderHeading returns the repository by the end of its key, and the time of the newest entry.
func reminderHeading(repo string, newest time.Time) string {
	if n := utf8.RuneCountInString(repo); n > maxKey {
		runes := []rune(repo)
		repo = "…" + string(runes[n-maxKey+1:])
	}
	return fmt.Sprintf("%s repo=%s | ts=%s]", protocol.ReminderHead, strings.Join(strings.Fields(repo), " "),
		newest.UTC().Format(time.RFC3339))
}

const bulletMark = "\n- "

// bulletOf returns sentences of an entry after its title, if there is room for the title.
func bulletOf(m Memory, sentences []string, room int) string {
	text := strings.Join(sentences, " ")
	title := strings.Join(strings.Fields(m.Title), " ")
	if title != "" && !strings.Contains(text, title) && utf8.RuneCountInString(bulletMark+title+": "+text) <= room {
		text = title + ": " + text
	}
	return bulletMark + text
}

// isInContext reports whether all items of an entry are in the context again.
func (t *Thread) isInContext(m Memory) bool {
	if m.Session != t.state.ID || len(m.Items) == 0 {
		return false
	}
	for _, id := range m.Items {
		if place, found := t.context.Find(id); !found || !t.context.InPrompt(place) {
			return false
		}
	}
	return true
}

// contextText returns the text of the context's messages and reminders, or "" if nothing was found.
func (t *Thread) contextText(found []Memory) string {
	if len(found) == 0 {
		return ""
	}
	var b strings.Builder
	for _, i := range slices.Sorted(t.context.Shown()) {
		if c := t.context.Item(i); c.IsMessage() && (!c.IsNotice() || c.IsReminder()) && t.context.InPrompt(i) {
			b.WriteString(strings.Join(strings.Fields(history.TextOf(c.Decode())), " "))
			b.WriteByte('\n')
		}
	}
	return b.String()
}
