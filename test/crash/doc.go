// Package crash kills the server at many moments, and requires that everything it acknowledged is
// kept.
package crash
