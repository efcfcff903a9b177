// Package crash kills the binary at many moments, and requires everything that its clients were told.
package crash
