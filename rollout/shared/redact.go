package shared

import (
	"bytes"
	"context"

	"appserver/rollout"
	"appserver/rollout/fleet"
	"appserver/rollout/line"
	"appserver/rollout/listing"
)

// Redacted is the number of texts with secrets in a thread: lines, and 0 or 1 names.
type Redacted struct{ Lines, Names int }

// wholeTime is the time limit of a write of a whole thread, in multiples of Options.Timeout.
const wholeTime = 20

// Redact removes secrets from the lines of a thread, its name, and the search. It increments the
// generation, so that all nodes replace their copies. With write the thread must not be open. Without
// write it changes nothing and counts.
func (t *Threads) Redact(id string, by rollout.Redactor, write bool) (done Redacted, err error) {
	ctx, cancel := context.WithTimeout(t.base, wholeTime*t.Timeout)
	defer cancel()
	place, err := t.Driver.Find(ctx, id)
	if err != nil {
		return done, threadError(id, err)
	}
	r := &redaction{by: by}
	if !write {
		_, err = t.Driver.Read(ctx, id, 0, func(_ int64, raw []byte) bool { return r.count(raw) })
		return r.result(place), threadError(id, err)
	}
	err = t.ownedFor(ctx, id, func(ctx context.Context, own fleet.Own) error { return t.redact(ctx, own, place, r) })
	return r.result(place), err
}

// redact removes the secrets of a thread, and then the copy.
func (t *Threads) redact(ctx context.Context, own fleet.Own, place fleet.Place, r *redaction) error {
	// The first pass collects the head without secrets.
	before := rollout.Head{ID: own.ID, CreatedAt: place.CreatedAt, UpdatedAt: place.UpdatedAt}
	r.head = listing.NewCollector(before, false, false)
	_, err := t.Driver.Read(ctx, own.ID, 0, func(_ int64, raw []byte) bool { return r.count(raw) })
	if err != nil {
		return err
	}
	if name := r.by.Text(place.Name); name != place.Name {
		if err := t.Driver.Rename(ctx, own.ID, name); err != nil {
			return err
		}
	}
	if r.lines > 0 {
		head := fleet.Head{Running: place.Running}
		head.Head, head.Listed = r.head.Head()
		own, err = t.Driver.Rewrite(ctx, own, &head, func(_ int64, raw []byte) []byte { return r.clean(raw) })
		if err != nil {
			return err
		}
		t.removeCopy(edition{id: own.ID, generation: own.Generation})
		t.filler.add(own, newLines{from: own.Next, end: own.Next})
		t.filler.flush(ctx, own.ID)
		t.filler.drop(own.ID)
	}
	return t.Driver.Release(ctx, own)
}

// redaction removes secrets from lines.
type redaction struct {
	by    rollout.Redactor
	lines int
	// head collects the head of the lines without secrets, or is nil.
	head *listing.Collector
}

func (r *redaction) result(place fleet.Place) (done Redacted) {
	done.Lines = r.lines
	if r.by.Text(place.Name) != place.Name {
		done.Names = 1
	}
	return done
}

// count counts a line that has a secret. It returns true, so that the next line follows.
func (r *redaction) count(raw []byte) bool {
	clean := r.clean(raw)
	if clean != nil {
		r.lines++
		raw = clean
	}
	if p, reason := line.Parse(raw); r.head != nil && reason == "" {
		p.Payload = bytes.Clone(p.Payload)
		r.head.Add(p.RolloutLine)
	}
	return true
}

// clean returns the line without secrets, or nil if it has none.
func (r *redaction) clean(raw []byte) []byte {
	p, reason := line.Parse(raw)
	if reason != "" {
		if text := r.by.Text(string(raw)); text != string(raw) {
			return []byte(text)
		}
		return nil
	}
	redacted := r.by.Line(p.RolloutLine)
	if bytes.Equal(redacted.Payload, p.Payload) {
		return nil
	}
	clean, err := line.Rewrite(raw, redacted)
	if err != nil { // the redactor has made no JSON
		return []byte(r.by.Text(string(raw)))
	}
	return clean
}
