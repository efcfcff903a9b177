package line

import "appserver/protocol"

// Ordinals assigns ordinals to the lines of a log, in order. The zero value is the start of a
// log. Fields are exported so that the state can be stored.
type Ordinals struct {
	// Next is the ordinal of the next line without one.
	Next int64
	// Above is greater than every ordinal so far.
	Above int64
	// Marked is set after the first context_backup line. From there on, ordinals only grow.
	Marked bool
}

// Assign returns the ordinal of the next line.
func (o *Ordinals) Assign(p *Parsed) int64 {
	o.Marked = o.Marked || p.Type == protocol.LineContextBackup
	ordinal := o.Next + int64(p.DamagedBefore)
	if p.Stated >= 0 && (!o.Marked || p.Stated > ordinal) {
		ordinal = p.Stated
	}
	o.Next = ordinal + 1
	o.Above = max(o.Above, o.Next)
	return ordinal
}

// Skip counts damaged lines.
func (o *Ordinals) Skip(damaged int) { o.Next += int64(damaged) }

// End returns the ordinal of the next line to append. A torn tail counts as a line.
func (o *Ordinals) End(torn bool) int64 {
	if torn {
		o.Next++
	}
	o.Next = max(o.Next, o.Above)
	return o.Next
}
