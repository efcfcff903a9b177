package mcp

import "time"

const (
	// maxDelay bounds the delay between two attempts. A connection that held for heldTime resets
	// the delay.
	maxDelay = 5 * time.Minute
	heldTime = 30 * time.Second
	// wireVersion is the version of the Model Context Protocol that is offered to servers. Servers in
	// use support it.
	wireVersion = "2025-06-18"
	// maxLine bounds the size of a message, in bytes.
	maxLine = 16 << 20
	// maxCarried bounds a message that was cleaned, in bytes: JSON that is carried as a text can become twice as long.
	maxCarried = 2*maxLine + 1<<10
	// endTime is the time to notify a service of the end of a session.
	endTime = time.Second
)
