// Package sse reads server-sent events (WHATWG HTML, section 9.2) as model
// providers write them, which is more loosely than the standard.
//
// # Contract
//
// [Reader.Next] gives the data of one event at a time, in order, as one line: the
// data lines of an event are joined by spaces, which changes nothing in JSON.
// Comments and the fields event, id and retry are dropped, and so are events
// without data. LF, CRLF and CR end a line; a byte order mark may come first.
//
// Beyond the standard: the last event counts without its blank line, and without
// its line end; and where the first data line of an event is a whole JSON value,
// the next data line begins an event of its own, because some servers leave the
// blank lines out.
package sse
