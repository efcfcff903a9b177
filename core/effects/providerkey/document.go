package providerkey

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"appserver/platform/vault"
	"appserver/protocol"
)

// The members of the document and of an entry.
const (
	memberKeys   = "keys"
	memberKey    = "key"
	memberOrigin = "origin"
)

// maxKeys bounds the stored keys.
const maxKeys = 256

// errForm is the reason if a document does not have the form. It has no part of the document.
var errForm = errors.New("it is not a JSON object with keys of providers")

// members are the members of an object, as they were read.
type members map[string]json.RawMessage

// document has the keys of providers. Nothing changes one.
type document struct {
	members members
	entries map[string]entry
	place   vault.Place
}

// entry is the key of a provider. A key or an origin in another form is empty.
type entry struct {
	raw         json.RawMessage
	key, origin string
}

func parse(text []byte) (*document, error) {
	d := &document{entries: map[string]entry{}}
	var keys members
	if protocol.Unmarshal(text, &d.members) != nil || d.members == nil {
		return nil, errForm
	}
	if raw := d.members[memberKeys]; raw != nil && protocol.Unmarshal(raw, &keys) != nil {
		return nil, errForm
	}
	for name, raw := range keys {
		e, m := entry{raw: raw}, membersOf(raw)
		_ = protocol.Unmarshal(m[memberKey], &e.key)
		_ = protocol.Unmarshal(m[memberOrigin], &e.origin)
		d.entries[name] = e
	}
	return d, nil
}

// membersOf returns the members of an entry, or none if it is no object.
func membersOf(raw json.RawMessage) members {
	m := members{}
	if protocol.Unmarshal(raw, &m) != nil || m == nil {
		return members{}
	}
	return m
}

func (d *document) encode() ([]byte, error) {
	keys := members{}
	for name, e := range d.entries {
		keys[name] = e.raw
	}
	out := maps.Clone(d.members)
	if out == nil {
		out = members{}
	}
	var err error
	if out[memberKeys], err = protocol.Marshal(keys); err != nil {
		return nil, err
	}
	text, err := protocol.Marshal(out)
	if err != nil {
		return nil, err
	}
	var pretty bytes.Buffer
	err = json.Indent(&pretty, text, "", "  ")
	return pretty.Bytes(), err
}

// with returns a copy of a document, or of none, with another key of a provider.
func (d *document) with(provider string, origin Origin, key string) (*document, error) {
	next := d.copied()
	m := membersOf(next.entries[provider].raw)
	for name, value := range map[string]string{memberKey: key, memberOrigin: string(origin)} {
		text, err := protocol.Marshal(value)
		if err != nil {
			return nil, err
		}
		m[name] = text
	}
	raw, err := protocol.Marshal(m)
	if err != nil {
		return nil, err
	}
	next.entries[provider] = entry{raw, key, string(origin)}
	if len(next.entries) > maxKeys {
		return nil, fmt.Errorf("there are keys of %d providers already: delete one first", maxKeys)
	}
	return next, nil
}

// without returns a copy of a document without the key of a provider.
func (d *document) without(provider string) *document {
	next := d.copied()
	delete(next.entries, provider)
	return next
}

func (d *document) copied() *document {
	if d == nil {
		return &document{entries: map[string]entry{}}
	}
	next := *d
	next.entries = maps.Clone(d.entries)
	return &next
}
