// Package export makes documents of conversations, for people to read elsewhere: Markdown
// and HTML. Both show the same passages in the same order. What people and the agent wrote
// is taken for Markdown in the former, and shown as it is in the latter; nothing in it can
// end a code block or become a part of the page.
package export
