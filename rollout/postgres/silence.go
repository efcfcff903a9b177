package postgres

import (
	"net"
	"time"

	"github.com/jackc/pgx/v5"
)

// Limits for a server that does not respond at all, for example because its machine has vanished. A server
// that is slow acknowledges packets.
const (
	// connectTimeout bounds the attempt to connect to one of the hosts of a URL without connect_timeout.
	connectTimeout = 3 * time.Second
	// ackTimeout is the time after which a connection fails without an acknowledgement.
	ackTimeout = 5 * time.Second
	// probePause is the time between two probes of a connection without traffic.
	probePause = 2 * time.Second
)

// limitSilence applies the limits to a configuration.
func limitSilence(c *pgx.ConnConfig) {
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = connectTimeout
	}
	c.DialFunc = (&net.Dialer{Control: setAckTimeout, KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: ackTimeout, Interval: probePause, Count: int(ackTimeout / probePause)}}).DialContext
}
