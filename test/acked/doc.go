// Package acked records the responses and notifications of servers that may be killed, and requires that
// later servers still have everything that these acknowledged.
package acked
