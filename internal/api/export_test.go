package api

import "time"

// Hurry makes a client's back-off short, for tests with many cuts.
func (c *Client) Hurry() *Client {
	c.wait = backoff{200 * time.Microsecond, 5 * time.Millisecond}
	return c
}
