package conform

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Direction is the direction of a message.
type Direction int

// The directions. A server that reads must take all that the reference takes. A
// server that writes must write what the reference may write, and all of it.
const (
	Read Direction = iota
	Written
)

// Deviation is a place where two schemas disagree.
type Deviation struct {
	// Place is a member as "Type.member", a word as "Type.member=word", or a
	// variant as "Type{tag}" or "Type.member{tag}".
	Place string
	Kind  DeviationKind
	// Detail describes both sides, for people.
	Detail string
}

// DeviationKind is a kind of Deviation.
type DeviationKind string

// The kinds of deviations.
const (
	// Missing is in the reference only.
	Missing DeviationKind = "missing"
	// Extra is in ours only.
	Extra DeviationKind = "extra"
	// Mismatch is a type of value that one side does not expect.
	Mismatch DeviationKind = "mismatch"
	// Requirement is a member that we require of clients and the reference does
	// not, or that the reference always writes and we do not.
	Requirement DeviationKind = "requirement"
	// Untyped is a value without a type in our schema, and with a type in the reference's.
	Untyped DeviationKind = "untyped"
)

// String returns a text for people.
func (d Deviation) String() string { return fmt.Sprintf("%s: %s: %s", d.Place, d.Kind, d.Detail) }

// Compare returns the deviations of a message in ours from the message of the same name in the
// reference, in the order of their places.
func Compare(ours, reference *Schemas, message string, direction Direction) ([]Deviation, error) {
	for side, s := range map[string]*Schemas{"ours": ours, "the reference": reference} {
		if !s.Has(message) {
			return nil, fmt.Errorf("compare: %s has no file %s.json", side, message)
		}
	}
	c := &comparison{
		direction: direction, found: map[Deviation]bool{}, seen: map[pair]bool{},
		ours: ours.documents[message], theirs: reference.documents[message],
	}
	c.nodes(message, c.ours, c.theirs)
	return slices.SortedFunc(maps.Keys(c.found), func(a, b Deviation) int {
		return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Detail, b.Detail))
	}), nil
}

// pair are two nodes that were compared. It ends the way through types that hold
// themselves.
type pair struct{ ours, theirs *node }

type comparison struct {
	direction    Direction
	ours, theirs *node
	found        map[Deviation]bool
	seen         map[pair]bool
}

func (c *comparison) report(place string, kind DeviationKind, format string, args ...any) {
	c.found[Deviation{place, kind, fmt.Sprintf(format, args...)}] = true
}

func (c *comparison) nodes(place string, ours, theirs *node) {
	if c.seen[pair{ours, theirs}] {
		return
	}
	c.seen[pair{ours, theirs}] = true
	our, their := merged(ours.forms(c.ours)), merged(theirs.forms(c.theirs))
	if isAny(their) {
		return
	}
	if isAny(our) {
		c.report(place, Untyped, "the reference has a type for it")
		return
	}
	name := cmp.Or(ours.typeName(), place)
	for key, form := range our {
		if partner, ok := partnerOf(form, key, our, their); ok {
			c.forms(name, form, partner)
		} else {
			c.unmatched(place, name, form, Extra)
		}
	}
	for key, form := range their {
		if _, ok := partnerOf(form, key, their, our); !ok {
			c.unmatched(place, name, form, Missing)
		}
	}
}

func isAny(forms map[string]form) bool {
	_, ok := forms[kindAny]
	return ok
}

// partnerOf finds the form of the other side that takes the values of f. Objects
// without a tag of the same name match where each side has only one.
func partnerOf(f form, key string, own, other map[string]form) (form, bool) {
	if partner, ok := other[key]; ok {
		return partner, true
	}
	switch f.kind {
	case kindWord:
		partner, ok := other[kindString]
		return partner, ok
	case kindObject:
		mine, others := objects(own), objects(other)
		if len(mine) == 1 && len(others) == 1 {
			return others[0], true
		}
	}
	return form{}, false
}

func objects(forms map[string]form) []form {
	return slices.DeleteFunc(slices.Collect(maps.Values(forms)), func(f form) bool { return f.kind != kindObject })
}

// unmatched reports a form of one side only. Words and variants are always worth
// a line. Other kinds of values are where the side that has to take them does not:
// the client what we write, we what it sends.
func (c *comparison) unmatched(place, name string, f form, kind DeviationKind) {
	switch {
	case f.kind == kindWord, f.kind == kindObject && f.tag() != "":
		c.report(name+f.key(), kind, "only one side has it")
	case c.direction == Written && kind == Extra, c.direction == Read && kind == Missing:
		c.report(place, Mismatch, "%s: %s", kind, f.key())
	}
}

func (c *comparison) forms(place string, ours, theirs form) {
	switch {
	case ours.kind == kindArray && ours.items != nil && theirs.items != nil:
		c.nodes(place, ours.items, theirs.items)
	case ours.values != nil && theirs.values != nil:
		c.nodes(place, ours.values, theirs.values)
	case ours.values == nil && ours.kind == kindObject:
		c.members(owner(place, ours), ours, theirs)
	}
}

// owner returns the type whose members are compared.
func owner(place string, f form) string { return cmp.Or(f.name, place) }

func (c *comparison) members(owner string, ours, theirs form) {
	for name, value := range ours.members {
		if their, ok := theirs.members[name]; ok {
			c.nodes(owner+"."+name, value, their)
		} else {
			c.report(owner+"."+name, Extra, "not a member of the reference")
		}
	}
	for name := range theirs.members {
		place := owner + "." + name
		if _, ok := ours.members[name]; !ok {
			c.report(place, Missing, "a member of the reference")
			continue
		}
		if c.direction == Written && theirs.required[name] && !ours.required[name] {
			c.report(place, Requirement, "the reference always writes it")
		}
		if c.direction == Read && ours.required[name] && !theirs.required[name] {
			c.report(place, Requirement, "the reference does not require it")
		}
	}
}
